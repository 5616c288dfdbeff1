// Sums that are the same bits in any order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "columns.hpp"

namespace calque {

// For each group the sum of values * scale, which must lie in [0, 1], as whole numbers: first for all groups in units of
// 2**-27, then, for all again, what is left in units of 2**-54. A negative group is left out.
Shaped<std::vector<std::int64_t>> fraction_parts(std::span<const double> values, std::span<const std::int32_t> groups,
                                         std::size_t size, double scale);

}  // namespace calque
