// The ragged tables that box kernels read.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "geometry.hpp"

namespace calque {

enum Role : std::uint8_t { counts = 0, absorbs = 1, left_out = 2 };

// One side's rows, sorted by page: offsets[p] .. offsets[p + 1] are the rows of page p.
struct Side {
    std::span<const double> boxes;  // four numbers a row
    std::span<const std::int32_t> labels;
    std::span<const std::int64_t> offsets;
    std::span<const std::uint8_t> roles;

    std::size_t rows() const { return roles.size(); }
    std::size_t pages() const { return offsets.size() - 1; }
};

// A number that falls as the score rises: equal scores (0.0 and -0.0 too) have equal keys, and NaN comes last.
inline std::uint64_t falling_key(double score) {
    if (std::isnan(score)) return ~std::uint64_t{0};
    const auto bits = std::bit_cast<std::uint64_t>(score + 0.0);  // -0.0 + 0.0 is 0.0
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    return bits & sign ? bits : ~(bits | sign);
}

}  // namespace calque
