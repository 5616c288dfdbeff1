// Documents drawn again: their weights, and numbers of weighted documents.
//
// Weights are a table by document (a row) and replicate (a column). Replicates lie side by side, so that one look at a
// row of data serves several of them, and threads take some columns each: nothing depends on how many there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "columns.hpp"

namespace calque {

struct Weights {
    const std::int32_t* first;
    std::size_t documents, replicates;

    const std::int32_t* of(std::int32_t document) const { return first + static_cast<std::size_t>(document) * replicates; }
};

// How many replicates are worked on side by side.
inline constexpr std::size_t lanes = 16;

// Predictions by class and score, as COCO's curves want them.
struct WeightedCurves {
    std::span<const std::int32_t> document;
    std::span<const std::uint8_t> tied;  // whether a row stands with the one before it in every copy of their document
    std::span<const std::int64_t> class_offsets;
    std::span<const std::uint16_t> matched, ignored;
    std::span<const std::int64_t> truths;  // weighted, by class and replicate
    std::span<const double> recall_points;
    std::size_t thresholds;

    std::size_t classes() const { return class_offsets.size() - 1; }
};

// Tables by threshold, class and replicate; -1 where there are no truths.
struct WeightedPrecision {
    Shaped<std::vector<double>> precision, recall;

    auto fields() { return std::tie(precision, recall); }
};

WeightedPrecision weighted_precision(const WeightedCurves& curves, const Weights& weights, int jobs);

// Rated items by rising confidence, group by group.
struct WeightedRatings {
    std::span<const std::int32_t> document;
    std::span<const std::uint8_t> right;
    std::span<const std::uint8_t> rises;  // whether a row has a higher confidence than the one before it
    std::span<const std::int64_t> group_offsets;

    std::size_t groups() const { return group_offsets.size() - 1; }
};

// How often a right item is rated higher than a wrong one, by group and replicate; -1 where one of the two is missing.
Shaped<std::vector<double>> weighted_auroc(const WeightedRatings& ratings, const Weights& weights, int jobs);

}  // namespace calque
