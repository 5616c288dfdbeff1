// The ragged tables that box kernels read, and the geometry of one pair of boxes.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace calque {

enum Role : std::uint8_t { counts = 0, absorbs = 1, left_out = 2 };

// One side's rows, sorted by page: offsets[p] .. offsets[p + 1] are the rows of page p.
struct Side {
    std::span<const double> boxes;  // four numbers a row
    std::span<const std::int32_t> labels;
    std::span<const std::int64_t> offsets;
    std::span<const std::uint8_t> roles;

    std::size_t rows() const { return roles.size(); }
    std::size_t pages() const { return offsets.size() - 1; }
};

struct Box {
    double left, top, right, bottom, area;
};

// The area of x, y, w, h is w * h: taken from the corners it would differ in the last bit, and move decisions at a
// threshold.
inline Box read_box(const double* at, bool xywh) {
    Box box = xywh ? Box{at[0], at[1], at[0] + at[2], at[1] + at[3], at[2] * at[3]}
                   : Box{at[0], at[1], at[2], at[3], (at[2] - at[0]) * (at[3] - at[1])};
    if (std::isunordered(box.left, box.right) || std::isunordered(box.top, box.bottom)) {  // a NaN among them
        // intersection() would pass over a NaN, NumPy does not: such a box overlaps nothing.
        constexpr double infinity = std::numeric_limits<double>::infinity();
        box.left = box.top = infinity;
        box.right = box.bottom = -infinity;
    }
    return box;
}

inline double intersection(const Box& a, const Box& b) {
    const double width = (a.right < b.right ? a.right : b.right) - (a.left > b.left ? a.left : b.left);
    const double height = (a.bottom < b.bottom ? a.bottom : b.bottom) - (a.top > b.top ? a.top : b.top);
    return width > 0 && height > 0 ? width * height : 0.0;
}

// pycocotools' order of operations. Only for pairs that share something.
inline double iou(double shared, const Box& truth, const Box& found) {
    return shared / (found.area + truth.area - shared);
}

// A number that falls as the score rises: equal scores (0.0 and -0.0 too) have equal keys, and NaN comes last.
inline std::uint64_t falling_key(double score) {
    if (std::isnan(score)) return ~std::uint64_t{0};
    const auto bits = std::bit_cast<std::uint64_t>(score + 0.0);  // -0.0 + 0.0 is 0.0
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    return bits & sign ? bits : ~(bits | sign);
}

}  // namespace calque
