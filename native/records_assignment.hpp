// Lists whose items contend for partners: the best assignment of many matrices of whole numbers.
#pragma once

#include <cstdint>
#include <span>

namespace calque {

// What a pair may be worth at most: three times as much does not overflow. And how many columns a matrix may have.
inline constexpr std::int64_t most_worth = std::int64_t{1} << 60;
inline constexpr std::int64_t most_items = std::int64_t{1} << 30;

// For each row of each matrix (at least as many columns as rows; one matrix after the other, row by row) the column that it has
// in the assignment of the greatest total; of several the one that gives the earliest row the earliest column, then the next.
void best_partners(std::span<const std::int64_t> worth, std::span<const std::int64_t> heights, std::span<const std::int64_t> widths,
                   std::span<std::int32_t> partners);

}  // namespace calque
