// Texts and lists of records: edit distances of chosen pairs, and partners that nobody else wants.
#pragma once

#include <cstdint>
#include <span>

#include "tables_texts.hpp"

namespace calque {

// The edit distance of the texts of each pair; pairs with the same first text on end are the fastest.
void edit_distances(const Texts& texts, std::span<const std::int32_t> first, std::span<const std::int32_t> second,
                    std::span<std::int32_t> distances);

// For matrices one after the other: each row's best column (or each column's best row where there are fewer columns), where
// no two want the same partner and each prefers its own by more than `slack`; -1 for the rows of other matrices.
void plain_partners(std::span<const double> scores, std::span<const std::int64_t> heights, std::span<const std::int64_t> widths,
                    double slack, std::span<std::int32_t> partners, std::span<std::uint8_t> settled);

}  // namespace calque
