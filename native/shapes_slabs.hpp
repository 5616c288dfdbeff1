// Exact areas of what rings cover, by the even-odd rule: vertical slabs between all vertices and crossings.
#pragma once

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "coverage_states.hpp"
#include "interrupt.hpp"
#include "polygons_ring.hpp"

namespace calque {

// Reused from one measurement to the next. Same bits as kernels/reference/slabs.py.
class Slabs {
public:
    // How much work may follow, for a page with so many edges: rings that cross each other thousands of times, with which it
    // would grow with the third power of their length, are no outlines of anything.
    void allow(std::size_t edges) { left_ = base_allowance + edge_allowance * static_cast<std::int64_t>(edges); }

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
    void spend(std::size_t steps) {
        if ((left_ -= static_cast<std::int64_t>(steps)) < 0) throw std::invalid_argument(too_tangled);
        interrupts_.tick(steps);
    }

    static constexpr std::int64_t base_allowance = 20'000'000, edge_allowance = 5'000;
    static constexpr std::size_t most_cuts = std::size_t{1} << 24;
    static constexpr const char* too_tangled = "outlines cross each other too often to be measured";

    std::int64_t left_ = std::numeric_limits<std::int64_t>::max();
    Point origin_{0, 0};
    std::vector<Edge> edges_;
    std::vector<Part> parts_;           // of each ring
    std::vector<std::uint8_t> inside_;  // of each ring, at one point of a slab
    std::vector<double> cuts_;
    std::vector<std::size_t> active_;
    std::vector<Step> steps_;
    InterruptTicker interrupts_;
};

}  // namespace calque
