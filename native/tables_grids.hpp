// Grids of slots laid over each other: rows aligned in order, columns aligned in order, and what both together share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <span>
#include <vector>

#include "tables_texts.hpp"

namespace calque {

// Grids one after the other, row by row; each slot holds the number of an item.
struct Grids {
    std::span<const std::int32_t> slots;
    std::span<const std::int64_t> offsets, rows, columns;

    auto fields() { return std::tie(slots, offsets, rows, columns); }
    std::size_t size() const { return rows.size(); }
};

// For each pair of grids: what aligned rows and columns share, and the totals of the two alignments.
struct Shared {
    std::vector<double> both, rows, columns;

    auto fields() { return std::tie(both, rows, columns); }
};

// Items are boxes of four numbers: they share intersection over union.
Shared grid_boxes(const Grids& truth, const Grids& found, std::span<const double> truth_boxes, std::span<const double> found_boxes,
                  int jobs);
// Items are texts: they share twice their longest common subsequence by both lengths; two empty ones are alike.
Shared grid_texts(const Grids& truth, const Grids& found, const Texts& texts, int jobs);
// What two items share is given: a table, truth by found, so many wide.
Shared grid_given(const Grids& truth, const Grids& found, std::span<const double> shares, std::size_t width, int jobs);

}  // namespace calque
