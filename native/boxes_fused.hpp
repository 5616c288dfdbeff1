// Boxes of several systems made one: fused with the weight of their scores, or joined where systems agree.
#pragma once

#include <cstdint>
#include <tuple>
#include <span>
#include <vector>

#include "boxes_tables.hpp"
#include "columns.hpp"

namespace calque {

struct Fused {
    std::vector<std::int32_t> page, label;
    Shaped<std::vector<double>> boxes;
    std::vector<double> score;
    std::vector<std::uint16_t> systems;

    auto fields() { return std::tie(page, label, boxes, score, systems); }
};

Fused fuse_boxes(const Side& found, std::span<const double> scores, std::span<const std::uint8_t> systems, double threshold,
                 int jobs);

// Groups of boxes on which systems agree: boxes of two systems and one label with IoU >= a threshold, joined by way of others too.
struct Agreed {
    std::vector<std::uint8_t> level;  // the threshold's place
    std::vector<std::int32_t> first;  // the first box of the group
    std::vector<std::uint16_t> systems;
    Shaped<std::vector<double>> boxes;  // the mean of its edges

    auto fields() { return std::tie(level, first, systems, boxes); }
};

// At each threshold of boxes that are not taken: whose number in `taken` is below it. By page, then threshold, then first box.
Agreed agreed_boxes(const Side& found, std::span<const std::uint8_t> systems, std::span<const double> taken,
                    std::span<const double> thresholds, int jobs);

}  // namespace calque
