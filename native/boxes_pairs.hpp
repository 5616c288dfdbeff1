// How much the two boxes of a pair share, and how their edges lie.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace calque {

// NaN where a row has no partner.
struct PairMeasures {
    std::vector<double> iou, coverage, purity;  // of each truth
    std::vector<double> edges;                  // four of each truth: left, top, right, bottom
    std::vector<double> found_iou;              // of each prediction
};

PairMeasures pair_measures(std::span<const double> truth_boxes, std::span<const double> found_boxes,
                           std::span<const std::int32_t> truth_match, bool xywh, int jobs);

}  // namespace calque
