// What several systems could reach together on boxes: edges recombined, the largest pairing, who is near whom.
#pragma once

#include <cstdint>
#include <tuple>
#include <span>
#include <vector>

#include "boxes_tables.hpp"
#include "columns.hpp"

namespace calque {

inline constexpr int most_systems = 16;  // bits of a mask

struct Edge {
    std::int32_t truth, found;
    std::uint16_t problems;
};

// For each truth the problems in which a largest pairing has it; of equally large ones that whose truths come first.
std::vector<std::uint16_t> match_most(std::span<const std::int32_t> truth, std::span<const std::int32_t> found,
                                      std::span<const std::uint16_t> problems, std::size_t truths, std::size_t founds);

// Pairs of rows that count, whatever their labels, with IoU >= a threshold, by found row and then truth row.
struct Contacts {
    std::vector<std::int32_t> truth, found;
    std::vector<double> iou;
    std::vector<double> truth_best, found_best;  // the highest IoU of each row with any other
    std::vector<std::int32_t> nearest;           // for each truth the found row of its label with the highest IoU, or -1
    Shaped<std::vector<double>> reached;         // three IoUs a truth: of the best box, of recombined edges, of the best mean

    auto fields() { return std::tie(truth, found, iou, truth_best, found_best, nearest, reached); }
};

Contacts contacts(const Side& truth, const Side& found, std::span<const std::uint8_t> systems, double threshold, int jobs);

}  // namespace calque
