// What several systems could reach together on boxes: edges recombined, the largest pairing, fused boxes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boxes_tables.hpp"

namespace calque {

inline constexpr int most_systems = 16;  // bits of a mask

// Three IoUs a truth: of the best box, of recombined edges, of the best mean.
std::vector<double> nearest_edges(const Side& truth, const Side& found, std::span<const std::uint8_t> systems, int jobs);

struct Edge {
    std::int32_t truth, found;
    std::uint16_t problems;
};

// For each truth the problems in which a largest pairing has it; of equally large ones that whose truths come first.
std::vector<std::uint16_t> match_most(std::span<const std::int32_t> truth, std::span<const std::int32_t> found,
                                      std::span<const std::uint16_t> problems, std::size_t truths, std::size_t founds);

struct Fused {
    std::vector<std::int32_t> page, label;
    std::vector<double> boxes, score;
    std::vector<std::uint16_t> systems;
};

Fused fuse_boxes(const Side& found, std::span<const double> scores, std::span<const std::uint8_t> systems, double threshold,
                 int jobs);

// For each box the first of those that it is joined with: boxes of two systems and one label with IoU >= threshold; -1 alone.
std::vector<std::int32_t> agreeing_boxes(const Side& found, std::span<const std::uint8_t> systems, double threshold, int jobs);

}  // namespace calque
