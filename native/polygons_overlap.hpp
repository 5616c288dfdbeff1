// The area that two simple rings share, for many pairs at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "polygons_ring.hpp"

namespace calque {

std::vector<double> polygon_overlaps(const Rings& first, const Rings& second, std::span<const std::int64_t> first_index,
                                     std::span<const std::int64_t> second_index, int jobs);

}  // namespace calque
