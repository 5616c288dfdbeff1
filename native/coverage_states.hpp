// What a point of a page is to one label: the states that areas are counted by, whatever rows are made of.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace calque {

// What a row is to a page and label.
enum Part : std::uint8_t { predicted, own, other, excusing };

// How many rows of each part lie on a point. Two parts share a number, so that both fit a register: half of the time
// would go into waiting for counters in memory.
struct Depth {
    std::uint64_t front = 0, back = 0;  // predicted and own; other and excusing

    void add(Part part, std::int64_t rows) {
        const auto change = static_cast<std::uint64_t>(rows) << (part & 1 ? 32 : 0);
        front += part < other ? change : 0;
        back += part < other ? 0 : change;
    }
};

// All that matters of a point: no prediction, one or more; and whether there is a row of each other part.
inline constexpr std::size_t states = 24;

using StateAreas = std::array<double, states>;

inline std::size_t state_of(const Depth& depth) {
    const auto found = static_cast<std::uint32_t>(depth.front), elsewhere = static_cast<std::uint32_t>(depth.back);
    return 8 * std::size_t{std::min(found, 2u)} + 4 * std::size_t{depth.front >> 32 != 0} +
           2 * std::size_t{elsewhere != 0} + std::size_t{depth.back >> 32 != 0};
}

// The area of a truth (own) that one or more predictions cover, where nothing else was added.
inline double covered_area(const StateAreas& sums) { return sums[12] + sums[20]; }

}  // namespace calque
