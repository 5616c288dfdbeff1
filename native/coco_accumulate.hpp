// COCO's precision-recall curves from matched rows in score order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coco_match.hpp"

namespace calque {

// One column of a table of masks.
struct MaskColumn {
    const Mask* first;
    std::int64_t step;

    Mask operator[](std::int32_t row) const { return first[row * step]; }
};

// Everything a curve is drawn from: what matched, in which order, out of how many truths.
struct Curves {
    std::span<const std::int32_t> order;
    std::span<const std::int64_t> class_offsets;
    std::span<const std::int32_t> rank;
    MaskColumn matched, ignored;
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
    std::vector<double> precision, recall, scores_at;
};

Accumulated coco_accumulate(const Curves& curves, std::span<const double> scores, std::span<const double> recall_points,
                            int jobs);
std::vector<double> coco_recall(const Curves& curves, int jobs);

}  // namespace calque
