// Exact areas of what rings cover, by the even-odd rule: vertical slabs between all vertices and crossings.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "areas_states.hpp"
#include "polygons_ring.hpp"

namespace calque {

// Reused from one measurement to the next. Twin of kernels/reference/slabs.py.
class Slabs {
public:
    // Rings are seen from here, so that an offset of the whole page costs no digits.
    void begin(const Point& origin);
    void add(Points ring, Part part);

    // Writes the area of each state between two x.
    void measure(StateAreas& sums, double from = -std::numeric_limits<double>::infinity(),
                 double to = std::numeric_limits<double>::infinity());

private:
    // From left to right; upright edges bound no slab.
    struct Edge {
        Point a, b;
        std::uint32_t ring;

        double at(double x) const {
            if (x == a.x) return a.y;
            return x == b.x ? b.y : a.y + (b.y - a.y) * ((x - a.x) / (b.x - a.x));
        }
    };
    struct Step {
        double y;
        std::uint32_t ring;
    };

    void find_cuts(double from, double to);
    void add_crossing(const Edge& one, const Edge& two, double from, double to);
    void add_slab(double left, double right, StateAreas& sums);

    Point origin_{0, 0};
    std::vector<Edge> edges_;
    std::vector<Part> parts_;           // of each ring
    std::vector<std::uint8_t> inside_;  // of each ring, at one point of a slab
    std::vector<double> cuts_;
    std::vector<std::size_t> active_;
    std::vector<Step> steps_;
};

}  // namespace calque
