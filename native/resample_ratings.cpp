// The area under the ROC curve for weighted documents, in whole numbers until the last division.
#include <array>

#include "parallel.hpp"
#include "resample.hpp"

namespace calque {

namespace {

using Counts = std::array<std::int64_t, lanes>;

// Twice the pairs of a right and a wrong item in which the right one is rated higher; equal ratings count half.
struct Pairs {
    Counts twice{}, right{}, wrong{}, right_here{}, wrong_here{};

    void add(const std::int32_t* weight, std::size_t width, bool is_right) {
        Counts& here = is_right ? right_here : wrong_here;
        for (std::size_t lane = 0; lane < width; ++lane) here[lane] += weight[lane];
    }

    void close() {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            twice[lane] += right_here[lane] * (2 * wrong[lane] + wrong_here[lane]);
            right[lane] += right_here[lane];
            wrong[lane] += wrong_here[lane];
        }
        right_here = wrong_here = {};
    }
};

}  // namespace

Shaped<std::vector<double>> weighted_auroc(const WeightedRatings& ratings, const Weights& weights, int jobs) {
    Shaped<std::vector<double>> out(ratings.groups() * weights.replicates, -1.0);
    out.shape = {ratings.groups(), weights.replicates};
    const std::size_t pieces = (weights.replicates + lanes - 1) / lanes;
    in_threads(pieces, jobs, [&](auto next) {
        for (std::size_t piece; (piece = next()) < pieces;) {
            const std::size_t begin = piece * lanes, width = std::min(lanes, weights.replicates - begin);
            for (std::size_t group = 0; group < ratings.groups(); ++group) {
                Pairs pairs;
                const auto first = static_cast<std::size_t>(ratings.group_offsets[group]),
                           last = static_cast<std::size_t>(ratings.group_offsets[group + 1]);
                for (std::size_t row = first; row < last; ++row) {
                    if (ratings.rises[row]) pairs.close();
                    pairs.add(weights.of(ratings.document[row]) + begin, width, ratings.right[row] != 0);
                }
                pairs.close();
                for (std::size_t lane = 0; lane < width; ++lane)
                    if (pairs.right[lane] > 0 && pairs.wrong[lane] > 0)
                        out[group * weights.replicates + begin + lane] =
                            static_cast<double>(pairs.twice[lane]) /
                            static_cast<double>(2 * pairs.right[lane] * pairs.wrong[lane]);
            }
        }
    });
    return out;
}

}  // namespace calque
