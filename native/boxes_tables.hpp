// The ragged tables that box kernels read.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "geometry.hpp"
#include "polygons_ring.hpp"

namespace calque {

enum Role : std::uint8_t { counts = 0, absorbs = 1, left_out = 2 };

// The rings of rows; a row without one is its box.
struct RowRings {
    Points points;
    std::span<const std::int64_t> offsets;  // one entry more than there are rows, or none at all

    auto fields() { return std::tie(points, offsets); }
    bool given() const { return !offsets.empty(); }
    Points of(std::size_t row) const {
        if (!given()) return {};
        const auto start = static_cast<std::size_t>(offsets[row]);
        return points.subspan(start, static_cast<std::size_t>(offsets[row + 1]) - start);
    }
};

// Where the masks of rows stand as JSON: in a file, or in a text that ends with a NUL.
struct RowMasks {
    std::string_view path;
    std::span<const std::uint8_t> text;
    std::span<const std::int64_t> starts, ends;  // equal where a row is drawn: its ring, or its box
    std::span<const std::int64_t> sizes;         // height and width of each row's page, -1 where unknown

    auto fields() { return std::tie(path, text, starts, ends, sizes); }
    bool given() const { return sizes.data() != nullptr; }
};

// What found rows share with truths of their page, where that is not a matter of two boxes.
struct SharedAreas {
    std::span<const std::int64_t> offsets;  // of each found row's pairs; one entry more than rows, or none at all
    std::span<const std::int32_t> truths;   // rising for each found row
    std::span<const double> areas;

    auto fields() { return std::tie(offsets, truths, areas); }
    bool given() const { return !offsets.empty(); }
    double of(std::size_t truth, std::size_t found) const {
        const auto begin = truths.begin() + offsets[found], end = truths.begin() + offsets[found + 1];
        const auto at = std::lower_bound(begin, end, static_cast<std::int32_t>(truth));
        return at != end && *at == static_cast<std::int32_t>(truth) ? areas[static_cast<std::size_t>(at - truths.begin())] : 0.0;
    }
};

// One side's rows, sorted by page: offsets[p] .. offsets[p + 1] are the rows of page p.
struct Side {
    std::span<const double> boxes;  // four numbers a row
    bool xywh;
    std::span<const std::int32_t> labels;
    std::span<const std::int64_t> offsets;
    std::span<const std::uint8_t> roles;
    std::span<const double> areas;  // of rows that are more than boxes, or none at all
    SharedAreas shared;             // of found rows
    RowRings rings;
    RowMasks masks;

    std::size_t rows() const { return roles.size(); }
    std::size_t pages() const { return offsets.size() - 1; }
    Box box(std::size_t row) const {
        Box box = read_box(&boxes[4 * row], xywh);
        if (!areas.empty()) box.area = areas[row];
        return box;
    }
};

// What a truth and a found row of one page share; `one` and `other` are their boxes.
inline double shared_area(const Side& found, std::size_t truth_row, const Box& one, std::size_t found_row, const Box& other) {
    return found.shared.given() ? found.shared.of(truth_row, found_row) : intersection(one, other);
}

// A number that falls as the score rises: equal scores (0.0 and -0.0 too) have equal keys, and NaN comes last.
inline std::uint64_t falling_key(double score) {
    if (std::isnan(score)) return ~std::uint64_t{0};
    const auto bits = std::bit_cast<std::uint64_t>(score + 0.0);  // -0.0 + 0.0 is 0.0
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    return bits & sign ? bits : ~(bits | sign);
}

}  // namespace calque
