// Which boxes of a page overlap, whatever their labels, and the area that several boxes cover together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boxes_tables.hpp"

namespace calque {

// Pairs that share some area, by found row and then truth row.
struct Overlaps {
    std::vector<std::int32_t> truth, found;
    std::vector<double> shared;
};

Overlaps overlapping_pairs(const Side& truth, const Side& found, bool xywh, int jobs);

// For each group of boxes (x1, y1, x2, y2; offsets cut the rows into groups) the area of their union.
std::vector<double> union_areas(std::span<const double> boxes, std::span<const std::int64_t> offsets, int jobs);

}  // namespace calque
