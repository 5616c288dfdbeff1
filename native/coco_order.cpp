// Rows by class, then score: a counting sort by class, then a radix sort within each class.
#include "coco_order.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "boxes_tables.hpp"
#include "parallel.hpp"

namespace calque {

namespace {

struct Keyed {
    std::uint64_t key;
    std::int32_t row;
};

bool by_key(const Keyed& a, const Keyed& b) { return a.key < b.key; }

constexpr int digit_bits = 11;
constexpr std::size_t digits = std::size_t{1} << digit_bits;
constexpr std::array<int, 3> shifts{32, 32 + digit_bits, 64 - digit_bits + 1};

std::size_t digit(std::uint64_t key, int shift) { return (key >> shift) & (digits - 1); }

// Stable, by the upper half of the keys only: few scores differ in the lower half alone.
void sort_by_upper_half(std::span<Keyed> rows, std::vector<Keyed>& scratch) {
    std::array<std::array<std::uint32_t, digits>, shifts.size()> counts{};
    for (const Keyed& row : rows)
        for (std::size_t pass = 0; pass < shifts.size(); ++pass) ++counts[pass][digit(row.key, shifts[pass])];
    scratch.resize(std::max(scratch.size(), rows.size()));
    std::span<Keyed> from = rows, to(scratch.data(), rows.size());
    for (std::size_t pass = 0; pass < shifts.size(); ++pass) {
        auto& starts = counts[pass];
        if (starts[digit(rows[0].key, shifts[pass])] == rows.size()) continue;  // all alike
        std::uint32_t start = 0;
        for (std::uint32_t& count : starts) start += std::exchange(count, start);
        for (const Keyed& row : from) to[starts[digit(row.key, shifts[pass])]++] = row;
        std::swap(from, to);
    }
    if (from.data() != rows.data()) std::copy(from.begin(), from.end(), rows.begin());
}

// Puts each run of equal upper halves in order; equal scores are already in row order, and stay so.
void finish_runs(std::span<Keyed> rows) {
    for (std::size_t start = 0, end; start < rows.size(); start = end) {
        end = start + 1;
        bool sorted = true;
        while (end < rows.size() && rows[end].key >> 32 == rows[start].key >> 32) {
            sorted = sorted && rows[end - 1].key <= rows[end].key;
            ++end;
        }
        if (!sorted)
            std::stable_sort(rows.begin() + static_cast<std::ptrdiff_t>(start),
                             rows.begin() + static_cast<std::ptrdiff_t>(end), by_key);
    }
}

void sort_class(std::span<Keyed> rows, std::vector<Keyed>& scratch) {
    constexpr std::size_t worth_a_radix_sort = 512;
    if (rows.size() < worth_a_radix_sort) {
        std::stable_sort(rows.begin(), rows.end(), by_key);
    } else {
        sort_by_upper_half(rows, scratch);
        finish_runs(rows);
    }
}

// The end of each class, shifted by one: after the rows are dealt out it is the table of offsets.
std::vector<std::int64_t> class_counts(std::span<const std::int32_t> labels, std::span<const double> scores,
                                       std::size_t classes) {
    std::vector<std::int64_t> counts(classes + 1);
    for (std::size_t row = 0; row < labels.size(); ++row) {
        if (labels[row] < 0) continue;
        if (static_cast<std::size_t>(labels[row]) >= classes)
            throw std::invalid_argument("a label must be less than the number of classes");
        if (std::isfinite(scores[row])) ++counts[static_cast<std::size_t>(labels[row]) + 1];
    }
    return counts;
}

}  // namespace

ScoreOrder score_order(std::span<const std::int32_t> labels, std::span<const double> scores, std::size_t classes,
                       int jobs) {
    std::vector<std::int64_t> offsets = class_counts(labels, scores, classes);
    for (std::size_t k = 1; k <= classes; ++k) offsets[k] += offsets[k - 1];
    const auto total = static_cast<std::size_t>(offsets[classes]);

    Rows<Keyed> keyed(total);
    std::vector<std::int64_t> next_of(offsets.begin(), offsets.end() - 1);
    for (std::size_t row = 0; row < labels.size(); ++row)
        if (labels[row] >= 0 && std::isfinite(scores[row]))
            keyed[static_cast<std::size_t>(next_of[static_cast<std::size_t>(labels[row])]++)] = {
                falling_key(scores[row]), static_cast<std::int32_t>(row)};

    ScoreOrder out{Rows<std::int32_t>(total), std::move(offsets)};
    in_threads(classes, jobs, [&](auto next) {
        std::vector<Keyed> scratch;
        for (std::size_t k; (k = next()) < classes;) {
            const auto begin = static_cast<std::size_t>(out.class_offsets[k]),
                       end = static_cast<std::size_t>(out.class_offsets[k + 1]);
            sort_class({keyed.data() + begin, end - begin}, scratch);
            for (std::size_t i = begin; i < end; ++i) out.order[i] = keyed[i].row;
        }
    });
    return out;
}

}  // namespace calque
