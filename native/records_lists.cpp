#include "records_lists.hpp"

#include <algorithm>
#include <vector>

namespace calque {

namespace {

constexpr std::int32_t short_alphabet = 0x400;

// A matrix, or the same turned: there are at least as many columns as rows.
struct Matrix {
    const double* scores;
    std::size_t rows, columns, down, across;

    double operator()(std::size_t row, std::size_t column) const { return scores[row * down + column * across]; }
};

bool settle(const Matrix& matrix, double slack, std::vector<std::int32_t>& wanted, std::vector<std::uint8_t>& taken) {
    wanted.assign(matrix.rows, 0);
    taken.assign(matrix.columns, 0);
    for (std::size_t row = 0; row < matrix.rows; ++row) {
        std::size_t best = 0;
        for (std::size_t column = 1; column < matrix.columns; ++column)
            if (matrix(row, column) > matrix(row, best)) best = column;
        if (taken[best]++ != 0) return false;
        const double highest = matrix(row, best);
        for (std::size_t column = 0; column < matrix.columns; ++column)
            if (column != best && highest - matrix(row, column) <= slack) return false;
        wanted[row] = static_cast<std::int32_t>(best);
    }
    return true;
}

}  // namespace

void edit_distances(const Texts& texts, std::span<const std::int32_t> first, std::span<const std::int32_t> second,
                    std::span<std::int32_t> distances) {
    // Characters of most languages of Europe need no numbers of their own.
    const bool few = std::all_of(texts.points.begin(), texts.points.end(), [](auto point) { return point < short_alphabet; });
    const CompactTexts compact(few ? Texts{{}, texts.offsets} : texts);
    const Texts made = few ? texts : compact.texts();
    TextPattern pattern(few ? static_cast<std::size_t>(short_alphabet) : compact.alphabet());
    std::int32_t set = -1;
    for (std::size_t pair = 0; pair < first.size(); ++pair) {
        if (first[pair] == second[pair]) {
            distances[pair] = 0;
            continue;
        }
        if (first[pair] != set) {
            set = first[pair];
            pattern.set(made.text(static_cast<std::size_t>(set)));
        }
        distances[pair] = pattern.distance(made.text(static_cast<std::size_t>(second[pair])));
    }
}

void plain_partners(std::span<const double> scores, std::span<const std::int64_t> heights, std::span<const std::int64_t> widths,
                    double slack, std::span<std::int32_t> partners, std::span<std::uint8_t> settled) {
    std::vector<std::int32_t> wanted;
    std::vector<std::uint8_t> taken;
    const double* cell = scores.data();
    std::int32_t* mine = partners.data();
    for (std::size_t place = 0; place < heights.size(); ++place) {
        const auto height = static_cast<std::size_t>(heights[place]), width = static_cast<std::size_t>(widths[place]);
        const bool turned = height > width;
        const Matrix matrix = turned ? Matrix{cell, width, height, 1, width} : Matrix{cell, height, width, width, 1};
        std::fill_n(mine, height, -1);
        settled[place] = settle(matrix, slack, wanted, taken);
        if (settled[place] != 0)
            for (std::size_t row = 0; row < matrix.rows; ++row) {
                if (turned) mine[wanted[row]] = static_cast<std::int32_t>(row);
                else mine[row] = wanted[row];
            }
        cell += height * width;
        mine += height;
    }
}

}  // namespace calque
