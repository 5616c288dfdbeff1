// Sums of whole numbers over weighted documents.
#include <algorithm>
#include <limits>

#include "boxes_threads.hpp"
#include "resample.hpp"
#include "resample_lanes.hpp"

namespace calque {

namespace {

template <class Weight>
void add_all(const Additions& rows, std::size_t columns, const Weights& weights, std::vector<std::int64_t>& sums, int jobs) {
    const std::size_t pieces = (weights.replicates + lanes - 1) / lanes;
    in_threads(pieces, jobs, [&](auto next) {
        std::vector<Lanes<std::int64_t>> added(columns);
        for (std::size_t piece; (piece = next()) < pieces;) {
            const std::size_t begin = piece * lanes, width = std::min(lanes, weights.replicates - begin);
            const auto block = block_of<Weight>(weights, begin, width);
            std::fill(added.begin(), added.end(), Lanes<std::int64_t>{});
            for (std::size_t row = 0; row < rows.value.size(); ++row)
                add_times(rows.value[row], block[static_cast<std::size_t>(rows.document[row])],
                          added[static_cast<std::size_t>(rows.column[row])]);
            for (std::size_t column = 0; column < columns; ++column)
                std::copy_n(added[column].begin(), width, sums.begin() + static_cast<std::ptrdiff_t>(column * weights.replicates + begin));
        }
    });
}

}  // namespace

std::vector<std::int64_t> weighted_sums(const Additions& rows, std::size_t columns, const Weights& weights, int jobs) {
    std::vector<std::int64_t> sums(columns * weights.replicates);
    const std::span<const std::int32_t> given{weights.first, weights.documents * weights.replicates};
    if (given.empty() || *std::max_element(given.begin(), given.end()) <= std::numeric_limits<std::uint8_t>::max())
        add_all<std::uint8_t>(rows, columns, weights, sums, jobs);
    else
        add_all<std::int32_t>(rows, columns, weights, sums, jobs);
    return sums;
}

}  // namespace calque
