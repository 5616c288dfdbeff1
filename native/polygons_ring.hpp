// Rings of vertices: area, turning sense, convexity, and whether a ring meets itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace calque {

struct Point {
    double x, y;
    bool operator==(const Point&) const = default;
};

using Points = std::span<const Point>;

// Many rings: the vertices of ring r are points[offsets[r]] to points[offsets[r + 1]], at least three.
struct Rings {
    Points points;
    std::span<const std::int64_t> offsets;

    std::size_t count() const { return offsets.size() - 1; }
    Points operator[](std::size_t ring) const {
        const auto start = static_cast<std::size_t>(offsets[ring]);
        return points.subspan(start, static_cast<std::size_t>(offsets[ring + 1]) - start);
    }
};

// The shoelace formula from the first vertex; positive when the ring turns from x towards y.
double signed_area(Points ring);

// Only left turns, no turning back, and once around.
bool is_convex(Points ring);

// No edge meets another but its neighbours, and those only in the vertex that they share.
bool is_simple(Points ring);

}  // namespace calque
