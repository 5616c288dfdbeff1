// Sorts the rows of one page into groups of equal label with one counting sort a side.
#include "boxes_groups.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace calque {

namespace {

bool takes_part(const Side& side, std::size_t row, bool truth) {
    return truth ? side.roles[row] != Role::left_out : side.roles[row] == Role::counts;
}

template <class Visit>
void each_label(const Side& truth, const Side& found, Visit visit) {
    for (std::size_t row = 0; row < truth.rows(); ++row)
        if (takes_part(truth, row, true)) visit(truth.labels[row]);
    for (std::size_t row = 0; row < found.rows(); ++row)
        if (takes_part(found, row, false)) visit(found.labels[row]);
}

}  // namespace

LabelNumbers::LabelNumbers(const Side& truth, const Side& found) {
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max(), highest = std::numeric_limits<std::int64_t>::min();
    each_label(truth, found, [&](std::int32_t label) {
        lowest = std::min<std::int64_t>(lowest, label);
        highest = std::max<std::int64_t>(highest, label);
    });
    if (lowest > highest) return;
    lowest_ = lowest;
    size_ = static_cast<std::size_t>(highest - lowest) + 1;
    if (size_ <= std::max<std::size_t>(1 << 12, truth.rows() + found.rows())) return;
    each_label(truth, found, [&](std::int32_t label) { sorted_.push_back(label); });
    std::sort(sorted_.begin(), sorted_.end());
    sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
    size_ = sorted_.size();
}

std::size_t LabelNumbers::operator()(std::int32_t label) const {
    if (sorted_.empty()) return static_cast<std::size_t>(label - lowest_);
    return static_cast<std::size_t>(std::lower_bound(sorted_.begin(), sorted_.end(), label) - sorted_.begin());
}

std::int32_t PageGroups::slot(std::int32_t label) {
    const std::size_t number = numbers_(label);
    if (slot_of_[number] < 0) {
        slot_of_[number] = static_cast<std::int32_t>(used_.size());
        used_.push_back(number);
        truth_.counts.push_back(0);
        found_.counts.push_back(0);
    }
    return slot_of_[number];
}

void PageGroups::count(const Side& side, std::size_t page, bool truth, Dealt& dealt) {
    const auto begin = static_cast<std::size_t>(side.offsets[page]),
               end = static_cast<std::size_t>(side.offsets[page + 1]);
    dealt.slots.resize(end - begin);
    for (std::size_t row = begin; row < end; ++row) {
        const std::int32_t slot_here = takes_part(side, row, truth) ? slot(side.labels[row]) : -1;
        dealt.slots[row - begin] = slot_here;
        if (slot_here >= 0) ++dealt.counts[static_cast<std::size_t>(slot_here)];
    }
}

void PageGroups::deal(const Side& side, std::size_t page, Dealt& dealt) const {
    std::int32_t total = 0;
    for (std::int32_t& count : dealt.counts) total += std::exchange(count, total);
    dealt.rows.resize(static_cast<std::size_t>(total));
    auto row = static_cast<std::int32_t>(side.offsets[page]);
    for (const std::int32_t slot : dealt.slots) {
        if (slot >= 0) dealt.rows[static_cast<std::size_t>(dealt.counts[static_cast<std::size_t>(slot)]++)] = row;
        ++row;
    }
}

const std::vector<Group>& PageGroups::of(const Side& truth, const Side& found, std::size_t page) {
    for (const std::size_t number : used_) slot_of_[number] = -1;
    used_.clear();
    truth_.counts.clear();
    found_.counts.clear();
    count(truth, page, true, truth_);
    count(found, page, false, found_);
    deal(truth, page, truth_);
    deal(found, page, found_);

    groups_.clear();
    std::size_t truth_begin = 0, found_begin = 0;
    for (std::size_t slot = 0; slot < used_.size(); ++slot) {
        const auto truth_end = static_cast<std::size_t>(truth_.counts[slot]),
                   found_end = static_cast<std::size_t>(found_.counts[slot]);
        groups_.push_back({std::span(truth_.rows).subspan(truth_begin, truth_end - truth_begin),
                           std::span(found_.rows).subspan(found_begin, found_end - found_begin)});
        truth_begin = truth_end;
        found_begin = found_end;
    }
    return groups_;
}

std::vector<std::size_t> page_shares(const Side& truth, const Side& found) {
    constexpr std::int64_t rows_a_share = 1 << 14;
    std::vector<std::size_t> cuts{0};
    std::int64_t reached = 0;
    for (std::size_t page = 1; page <= truth.pages(); ++page) {
        const std::int64_t rows = truth.offsets[page] + found.offsets[page];
        if (rows - reached >= rows_a_share || page == truth.pages()) {
            cuts.push_back(page);
            reached = rows;
        }
    }
    return cuts;
}

}  // namespace calque
