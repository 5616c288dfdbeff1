// Rows by class, then score: the order in which COCO's curves are drawn.
#pragma once

#include <cstdint>
#include <tuple>
#include <span>
#include <vector>

#include "columns.hpp"

namespace calque {

struct ScoreOrder {
    Rows<std::int32_t> order;
    std::vector<std::int64_t> class_offsets;

    auto fields() { return std::tie(order, class_offsets); }
};

// Throws std::invalid_argument for a label that is not less than `classes`.
ScoreOrder score_order(std::span<const std::int32_t> labels, std::span<const double> scores, std::size_t classes,
                       int jobs);

}  // namespace calque
