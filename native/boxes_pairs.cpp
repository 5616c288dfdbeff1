// The measures of matched pairs, row by row.
#include "boxes_pairs.hpp"

#include <algorithm>
#include <limits>

#include "boxes_threads.hpp"

namespace calque {

PairMeasures pair_measures(const Side& truths, const Side& founds, std::span<const std::int32_t> truth_match, int jobs) {
    constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
    constexpr std::size_t rows_a_share = 1 << 14;
    const std::size_t rows = truth_match.size(), shares = (rows + rows_a_share - 1) / rows_a_share;
    const auto column = [&](std::size_t size) { return Rows<double>(size, nothing); };
    PairMeasures out{column(rows), column(rows), column(rows), column(4 * rows), column(founds.rows())};
    in_threads(shares, jobs, [&](auto next) {
        for (std::size_t piece; (piece = next()) < shares;)
            for (std::size_t row = piece * rows_a_share; row < std::min(rows, (piece + 1) * rows_a_share); ++row) {
                if (truth_match[row] < 0) continue;
                const auto partner = static_cast<std::size_t>(truth_match[row]);
                const Box truth = truths.box(row), found = founds.box(partner);
                const double shared = shared_area(founds, row, truth, partner, found);
                out.iou[row] = out.found_iou[partner] = iou(shared, truth, found);
                out.coverage[row] = share(shared, truth.area);
                out.purity[row] = share(shared, found.area);
                const double width = truth.right - truth.left, height = truth.bottom - truth.top;
                out.edges[4 * row] = (found.left - truth.left) / width;
                out.edges[4 * row + 1] = (found.top - truth.top) / height;
                out.edges[4 * row + 2] = (truth.right - found.right) / width;
                out.edges[4 * row + 3] = (truth.bottom - found.bottom) / height;
            }
    });
    return out;
}

}  // namespace calque
