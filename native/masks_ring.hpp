// A ring of vertices drawn as pixels, to the bit as COCO's tools draw it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "masks_runs.hpp"
#include "polygons_ring.hpp"

namespace calque {

// Draws rings on pages; what it needs besides is reused from ring to ring.
class RingDrawer {
public:
    // Appends the foreground of one ring, even-odd. A fault when a vertex is not finite or beyond 4e8; then nothing is
    // appended. Two vertices and fewer enclose nothing.
    MaskFault draw(Points ring, std::int64_t height, std::int64_t width, std::vector<Interval>& intervals);

    // Appends what any of the rings from first to last (which is outside) covers.
    MaskFault draw_all(const Rings& rings, std::size_t first, std::size_t last, std::int64_t height, std::int64_t width,
                       std::vector<Interval>& intervals);

private:
    struct GridPoint {
        std::int64_t x, y;
    };

    void edge(GridPoint from, GridPoint to);
    void flat_edge(GridPoint low, GridPoint high);
    void steep_edge(GridPoint low, GridPoint high);
    void toggle(std::int64_t column, std::int64_t above);
    bool has_room(std::int64_t first, std::int64_t last);

    std::int64_t height_ = 0, width_ = 0;
    void sort_toggles();

    struct Toggle {
        std::int32_t column, place;
    };
    std::vector<Toggle> crossed_;
    std::vector<std::int32_t> toggles_;     // the places of all, in order
    std::vector<std::uint32_t> column_at_, column_end_;  // where the toggles of each column begin, and end so far
    std::vector<std::vector<Interval>> parts_;
    std::vector<Interval> swapped_;
    bool beyond_ = false;  // whether a ring crosses more columns than memory should hold
};

}  // namespace calque
