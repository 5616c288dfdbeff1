// Greedy 1:1 matching by IoU, for precision, recall and the spatial measures.
#pragma once

#include <cstdint>
#include <span>

#include "boxes_tables.hpp"
#include "memory.hpp"

namespace calque {

struct GreedyMatch {
    Rows<std::int32_t> truth_match;  // the found row, or -1
    Rows<std::int32_t> found_match;  // the truth row, or -1
    Rows<double> absorbed;           // the largest share of each found box in one absorbing truth
};

GreedyMatch match_greedy(const Side& truth, const Side& found, std::span<const double> scores, double threshold,
                         int jobs);

}  // namespace calque
