// Documents drawn again: their weights, and numbers of weighted documents.
//
// Weights are a table by document (a row) and replicate (a column). Replicates lie side by side, so that one look at a
// row of data serves several of them, and threads take some columns each: nothing depends on how many there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace calque {

struct Weights {
    const std::int32_t* first;
    std::size_t documents, replicates;

    const std::int32_t* of(std::int32_t document) const { return first + static_cast<std::size_t>(document) * replicates; }
};

// How many replicates are worked on side by side.
inline constexpr std::size_t lanes = 16;

std::vector<std::int32_t> poisson_weights(std::span<const std::int64_t> keys, std::span<const std::uint64_t> thresholds,
                                          std::uint64_t seed, std::uint64_t first, std::size_t replicates, int jobs);

// What documents add to columns, row by row: sums by column and replicate.
struct Additions {
    std::span<const std::int32_t> document, column;
    std::span<const std::int64_t> value;
};

std::vector<std::int64_t> weighted_sums(const Additions& rows, std::size_t columns, const Weights& weights, int jobs);

}  // namespace calque
