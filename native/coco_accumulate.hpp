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
    std::span<const std::int64_t> truths_per_class;
    std::size_t thresholds;
    std::int64_t max_detections;

    std::size_t classes() const { return truths_per_class.size(); }
};

// Tables by threshold, (recall point,) class; -1 for a class without truths.
struct Accumulated {
    std::vector<double> precision, recall, scores_at;
};

Accumulated coco_accumulate(const Curves& curves, std::span<const double> scores, std::span<const double> recall_points,
                            int jobs);
std::vector<double> coco_recall(const Curves& curves, int jobs);

}  // namespace calque
