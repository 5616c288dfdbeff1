// The geometry of two upright boxes: the same bits as calque.geometry.
#pragma once

#include <array>
#include <cmath>
#include <limits>

namespace calque {

struct Box {
    double left, top, right, bottom, area;
};

using Sides = std::array<double, 4>;  // left, top, right, bottom

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

// 0 where two boxes only touch.
inline double intersection(const Box& a, const Box& b) {
    const double width = (a.right < b.right ? a.right : b.right) - (a.left > b.left ? a.left : b.left);
    const double height = (a.bottom < b.bottom ? a.bottom : b.bottom) - (a.top > b.top ? a.top : b.top);
    return width > 0 && height > 0 ? width * height : 0.0;
}

// Whether the insides of two boxes meet, even where the area that they share is too small for a number. No condition
// depends on another: which boxes meet is noise, and branches would be guessed wrong.
inline bool touch(const Box& a, const Box& b) {
    return (a.left < b.right) & (b.left < a.right) & (a.top < b.bottom) & (b.top < a.bottom);
}

// pycocotools' order of operations. NaN for boxes that share something and are too large for a number.
inline double iou(double shared, const Box& a, const Box& b) {
    return shared > 0 ? shared / (a.area + b.area - shared) : 0.0;
}

// A degenerate box shares nothing.
inline double share(double part, double whole) { return whole > 0 ? part / whole : 0.0; }

}  // namespace calque
