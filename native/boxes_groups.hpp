// Sorts the rows of one page into groups of equal label, the only rows that are ever compared.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boxes_tables.hpp"

namespace calque {

// Maps the labels in use to 0 .. size() - 1.
class LabelNumbers {
public:
    LabelNumbers(const Side& truth, const Side& found);

    std::size_t size() const { return size_; }
    std::size_t operator()(std::int32_t label) const;

private:
    std::int64_t lowest_ = 0;
    std::size_t size_ = 0;
    std::vector<std::int32_t> sorted_;  // only when the labels are too far apart for a table
};

// The rows of one label on one page, in row order.
struct Group {
    std::span<const std::int32_t> truth, found;
};

// Reused from page to page, so that a page costs no allocation.
class PageGroups {
public:
    explicit PageGroups(const LabelNumbers& numbers) : numbers_(numbers), slot_of_(numbers.size(), -1) {}

    // The groups of a page, in no particular order: truths that are not left out, and found rows that count.
    const std::vector<Group>& of(const Side& truth, const Side& found, std::size_t page);

private:
    // One side's rows of the page, dealt out by label.
    struct Dealt {
        std::vector<std::int32_t> slots;   // of each row of the page, or -1
        std::vector<std::int32_t> counts;  // of each slot, then its end
        std::vector<std::int32_t> rows;
    };
    void count(const Side& side, std::size_t page, bool truth, Dealt& dealt);
    void deal(const Side& side, std::size_t page, Dealt& dealt) const;
    std::int32_t slot(std::int32_t label);

    const LabelNumbers& numbers_;
    std::vector<std::int32_t> slot_of_;  // of each label number on this page, or -1
    std::vector<std::size_t> used_;      // the label number of each slot
    Dealt truth_, found_;
    std::vector<Group> groups_;
};

// Pages in about equal shares of rows: cuts[i] .. cuts[i + 1] are the pages of share i.
std::vector<std::size_t> page_shares(const Side& truth, const Side& found);

}  // namespace calque
