// Greedy 1:1 matching by IoU, for precision, recall and the spatial measures.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>

#include "boxes_tables.hpp"
#include "columns.hpp"

namespace calque {

struct GreedyMatch {
    Rows<std::int32_t> truth_match;  // the found row, or -1
    Rows<std::int32_t> found_match;  // the truth row, or -1
    Rows<double> absorbed;           // the largest share of each found box in one absorbing truth
    // Of each truth's pair, NaN where it has none; four edge errors of each truth: left, top, right, bottom.
    Rows<double> iou, coverage, purity;
    Shaped<Rows<double>> edges;
    Rows<double> found_iou;  // of each found row's pair

    auto fields() { return std::tie(truth_match, found_match, absorbed, iou, coverage, purity, edges, found_iou); }
};

GreedyMatch match_greedy(const Side& truth, const Side& found, std::span<const double> scores, double threshold,
                         int jobs);

}  // namespace calque
