// Sums that are the same bits in any order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace calque {

// For each group the sum of values * scale, which must lie in [0, 1], as whole numbers: first for all groups in units of
// 2**-27, then, for all again, what is left in units of 2**-54. A negative group is left out.
std::vector<std::int64_t> fraction_parts(std::span<const double> values, std::span<const std::int32_t> groups,
                                         std::size_t size, double scale);

// A few numbers with exactly the same sum: the sum as it is rounded, then what is left as it is rounded, and so on. No value may
// be so great that a sum of them is beyond the range of doubles.
std::vector<double> exact_parts(std::span<const double> values);

}  // namespace calque
