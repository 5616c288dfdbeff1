// Sums that are the same bits in any order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace calque {

// For each group the sum of values * scale, which must lie in [0, 1]; a negative group is left out.
std::vector<double> fraction_sums(std::span<const double> values, std::span<const std::int32_t> groups, std::size_t size,
                                  double scale);

}  // namespace calque
