// Masks as runs and as intervals of places: COCO's compressed strings, read and written, areas and bounds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace calque {

// What is wrong with a mask; calque.kernels.structs.MaskFault has the same numbers.
enum class MaskFault : std::uint8_t { none = 0, counts = 1, runs = 2, ring = 3, size = 4, page = 5 };

// The foreground places from start up to end, which is outside; pixel (row, column) has the place column * height + row.
struct Interval {
    std::int32_t start, end;
    bool operator==(const Interval&) const = default;
};

using Intervals = std::span<const Interval>;

// Pages have fewer pixels than this, so that every place fits 32 bits.
inline constexpr std::int64_t most_places = std::int64_t{1} << 31;

// The smallest upright rectangle that holds all pixels: the first column and row, and how many of each; zeros for none.
struct PixelBounds {
    std::int32_t left = 0, top = 0, width = 0, height = 0;

    bool meets(const PixelBounds& other) const {
        return left < other.left + other.width && other.left < left + width && top < other.top + other.height &&
               other.top < top + height;
    }
};

// Appends the runs of a compressed string. A character outside 48 to 111 or a number that is cut short is a fault of
// the counts, a run below 0 or from 2^32 on one of the runs; then nothing is appended.
MaskFault read_counts(std::string_view counts, std::vector<std::int64_t>& runs);

// Appends the characters of the runs, each in the fewest groups that keep its value and sign.
void write_counts(std::span<const std::int64_t> runs, std::string& counts);

// Appends the foreground of runs that start with background; neighbours without a gap become one. A fault of the runs
// when one is negative or all of them exceed the page; then nothing is appended.
MaskFault read_runs(std::span<const std::int64_t> runs, std::int64_t places, std::vector<Interval>& intervals);

// Both in one pass: from the string to the foreground, without the runs in between.
MaskFault read_mask(std::string_view counts, std::int64_t places, std::vector<Interval>& intervals);

// Appends the canonical runs of a foreground: no run is 0 but perhaps the first, and all of them are the page.
void write_runs(Intervals intervals, std::int64_t places, std::vector<std::int64_t>& runs);

std::int64_t mask_area(Intervals intervals);
PixelBounds mask_bounds(Intervals intervals, std::int64_t height);

// How many pixels two masks of one page share.
std::int64_t mask_overlap(Intervals first, Intervals second);

// Appends the pixels that either mask has.
void unite_masks(Intervals first, Intervals second, std::vector<Interval>& united);

}  // namespace calque
