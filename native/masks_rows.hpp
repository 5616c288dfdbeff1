// The masks of rows, made page by page from the text in which a file has them, used and forgotten.
#pragma once

#include <cstdint>
#include <tuple>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "boxes_tables.hpp"
#include "json_file.hpp"
#include "json_text.hpp"
#include "masks_ring.hpp"
#include "masks_runs.hpp"
#include "shapes_overlaps.hpp"
#include "columns.hpp"

namespace calque {

// A mask as it is made of a row.
struct MadeMask {
    MaskFault fault = MaskFault::none;
    std::int64_t height = -1, width = -1;  // of its page
    bool odd = false;                      // whether a ring had a number too many
};

// Makes the masks of one side's rows: what the file states, else the ring or the box, drawn. One for each thread.
class MaskReader {
public:
    explicit MaskReader(const Side& side);

    // The rows from begin to end are read next.
    void load(std::size_t begin, std::size_t end);

    // Appends the foreground of a row; nothing where there is a fault.
    MadeMask read(std::size_t row, std::vector<Interval>& intervals);

private:
    const char* text_of(std::size_t row);
    MadeMask draw(std::size_t row, std::vector<Interval>& intervals);
    MadeMask read_value(json::Text& text, const char* at, std::size_t row, std::vector<Interval>& intervals);
    MadeMask read_object(json::Text& text, const char* at, std::size_t row, std::vector<Interval>& intervals);
    MadeMask read_rings(json::Text& text, const char* at, std::size_t row, std::vector<Interval>& intervals);
    void settle(MadeMask& mask, std::size_t row) const;
    const char* read_ring(const json::Text& text, const char* at, bool& odd);

    const Side& side_;
    std::optional<json::File> file_;
    std::string buffer_, scratch_;
    std::int64_t base_ = 0, loaded_ = 0;  // the part of the file that is in the buffer
    std::vector<Point> points_;
    std::vector<std::int64_t> ring_ends_, runs_;
    RingDrawer drawer_;
};

// What is known of each row's mask.
struct MaskFacts {
    Rows<std::uint8_t> faults, odd;
    Rows<double> areas;
    Shaped<Rows<std::int32_t>> bounds;  // four numbers a row: x, y, width, height
    Shaped<Rows<std::int32_t>> sizes;   // two numbers a row: height and width of the page, -1 where unknown

    explicit MaskFacts(std::size_t rows)
        : faults(rows), odd(rows), areas(rows), bounds(4 * rows), sizes(2 * rows, -1) {
        bounds.shape = {rows, 4};
        sizes.shape = {rows, 2};
    }
    auto fields() { return std::tie(faults, areas, bounds, sizes, odd); }
    void note(std::size_t row, const MadeMask& made, const PixelBounds& box, std::int64_t area);
};

MaskFacts mask_facts(const Side& side, int jobs);

// The same of both sides, and the pixels that each found row shares with each truth of its page.
struct MaskPairs {
    MaskFacts truth, found;
    Measured shared;

    auto fields() { return std::tie(truth, found, shared.offsets, shared.truths, shared.shared); }
};

MaskPairs mask_pairs(const Side& truth, const Side& found, int jobs);

std::unique_ptr<AreaCounter> mask_area_counter(const Side& truth, const Side& found);

}  // namespace calque
