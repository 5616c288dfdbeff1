// COCO's precision-recall curves from matched rows in score order.
#pragma once

#include <cstdint>
#include <tuple>
#include <span>
#include <vector>

#include "coco_match.hpp"
#include "columns.hpp"

namespace calque {

// Rows by class and score: class k has order[class_offsets[k]] to order[class_offsets[k + 1]].
struct Ranking {
    std::span<const std::int32_t> order;
    std::span<const std::int64_t> class_offsets;

    auto fields() { return std::tie(order, class_offsets); }
};

// The matching of each row in one area range.
struct Verdicts {
    std::span<const std::int32_t> rank;
    StridedMasks matched, ignored;

    auto fields() { return std::tie(rank, matched, ignored); }
};

// Everything a curve is drawn from: what matched, in which order, out of how many truths.
struct Curves {
    std::span<const std::int32_t> order;
    std::span<const std::int64_t> class_offsets;
    std::span<const std::int32_t> rank;
    StridedMasks matched, ignored;
    std::span<const std::int64_t> truths;  // by threshold and class
    std::size_t thresholds;
    std::int64_t max_detections;
    // How many true, then how many false positives rank before these rows, by threshold and class; empty: none do.
    std::span<const std::int64_t> before = {};

    std::size_t classes() const { return class_offsets.size() - 1; }
    std::int64_t truths_at(std::size_t t, std::size_t k) const { return truths[t * classes() + k]; }
    std::int64_t true_before(std::size_t t, std::size_t k) const {
        return before.empty() ? 0 : before[t * classes() + k];
    }
    std::int64_t false_before(std::size_t t, std::size_t k) const {
        return before.empty() ? 0 : before[(thresholds + t) * classes() + k];
    }
    bool has_truths(std::size_t k) const {
        for (std::size_t t = 0; t < thresholds; ++t)
            if (truths_at(t, k) > 0) return true;
        return false;
    }
};

// Tables by threshold, (recall point,) class; -1 where there are no truths.
struct Accumulated {
    Shaped<std::vector<double>> precision, recall, scores_at;

    auto fields() { return std::tie(precision, recall, scores_at); }
};

Accumulated coco_accumulate(const Curves& curves, std::span<const double> scores, std::span<const double> recall_points,
                            int jobs);

}  // namespace calque
