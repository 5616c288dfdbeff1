// Sums of whole numbers over weighted documents.
#include "boxes_threads.hpp"
#include "resample.hpp"

namespace calque {

std::vector<std::int64_t> weighted_sums(const Additions& rows, std::size_t columns, const Weights& weights, int jobs) {
    std::vector<std::int64_t> sums(columns * weights.replicates);
    const std::size_t pieces = (weights.replicates + lanes - 1) / lanes;
    in_threads(pieces, jobs, [&](auto next) {
        for (std::size_t piece; (piece = next()) < pieces;) {
            const std::size_t begin = piece * lanes, width = std::min(lanes, weights.replicates - begin);
            for (std::size_t row = 0; row < rows.value.size(); ++row) {
                const std::int32_t* weight = weights.of(rows.document[row]) + begin;
                std::int64_t* sum = sums.data() + static_cast<std::size_t>(rows.column[row]) * weights.replicates + begin;
                const std::int64_t value = rows.value[row];
                for (std::size_t lane = 0; lane < width; ++lane) sum[lane] += value * weight[lane];
            }
        }
    });
    return sums;
}

}  // namespace calque
