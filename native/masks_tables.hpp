// Many masks in one table, made and compared by several threads.
#pragma once

#include <cstdint>
#include <tuple>
#include <span>
#include <string>
#include <vector>

#include "masks_ring.hpp"
#include "masks_runs.hpp"

namespace calque {

// The rows of mask m are rows[offsets[m]] to rows[offsets[m + 1]].
template <class Row>
struct MaskTable {
    std::span<const Row> rows;
    std::span<const std::int64_t> offsets;

    std::size_t count() const { return offsets.size() - 1; }
    std::span<const Row> operator[](std::size_t mask) const {
        const auto start = static_cast<std::size_t>(offsets[mask]);
        return rows.subspan(start, static_cast<std::size_t>(offsets[mask + 1]) - start);
    }
};

template <class Row>
struct MadeMasks {
    std::vector<Row> rows;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint8_t> faults;

    auto fields() { return std::tie(rows, offsets, faults); }
};

MadeMasks<std::int64_t> masks_read(const MaskTable<char>& counts, int jobs);
MadeMasks<char> masks_written(const MaskTable<std::int64_t>& runs);
MadeMasks<Interval> masks_of_runs(const MaskTable<std::int64_t>& runs, std::span<const std::int64_t> places);
MadeMasks<std::int64_t> runs_of_masks(const MaskTable<Interval>& masks, std::span<const std::int64_t> places);
MadeMasks<Interval> masks_of_rings(const Rings& rings, std::span<const std::int64_t> parts, std::span<const std::int64_t> heights,
                                   std::span<const std::int64_t> widths, int jobs);
std::vector<std::int64_t> overlaps_of_masks(const MaskTable<Interval>& first, const MaskTable<Interval>& second,
                                            std::span<const std::int64_t> first_index,
                                            std::span<const std::int64_t> second_index, int jobs);

}  // namespace calque
