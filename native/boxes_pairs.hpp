// How much the two boxes of a pair share, and how their edges lie.
#pragma once

#include <cstdint>
#include <span>

#include "boxes_tables.hpp"
#include "memory.hpp"

namespace calque {

// NaN where a row has no partner.
struct PairMeasures {
    Rows<double> iou, coverage, purity;  // of each truth
    Rows<double> edges;                  // four of each truth: left, top, right, bottom
    Rows<double> found_iou;              // of each prediction
};

PairMeasures pair_measures(const Side& truth, const Side& found, std::span<const std::int32_t> truth_match, int jobs);

}  // namespace calque
