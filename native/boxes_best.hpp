// The found box that each truth overlaps most, whatever the labels.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "boxes_tables.hpp"

namespace calque {

struct BestMatch {
    std::vector<std::int32_t> match;  // the found row, or -1 where nothing overlaps
    std::vector<double> iou;

    auto fields() { return std::tie(match, iou); }
};

BestMatch match_best(const Side& truth, const Side& found, int jobs);

}  // namespace calque
