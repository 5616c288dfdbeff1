// The area that two rings share: convex rings are clipped, all others are measured in slabs.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "polygons_ring.hpp"
#include "shapes_slabs.hpp"

namespace calque {

// What every pair needs to know of a ring.
struct Shape {
    Points points;  // turning left
    double area;
    bool convex;
    Point low, high;
};

// Of a ring that turns left.
inline Shape shape_of(Points turned, double area) {
    Point low = turned[0], high = turned[0];
    for (const Point& p : turned) {
        low = {std::min(low.x, p.x), std::min(low.y, p.y)};
        high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
    return {turned, area, is_convex(turned), low, high};
}

// Beside the box around two rings, an area this small is zero.
inline constexpr double noise = 64 * std::numeric_limits<double>::epsilon();

// One pair after the other, without memory of the last but its buffers.
class Clipper {
public:
    // How much work in slabs may follow, for rings with so many edges.
    void allow(std::size_t edges) { slabs_.allow(edges); }

    double shared(const Shape& first, const Shape& second) {
        if (apart(first, second)) return 0.0;
        if (std::equal(first.points.begin(), first.points.end(), second.points.begin(), second.points.end())) return first.area;
        if (!first.convex || !second.convex) return smallest(by_slabs(first, second), first, second);
        const Point origin = first.points[0];
        moved(first.points, origin, subject_);
        moved(second.points, origin, clip_);
        return smallest(clipped_area(subject_, clip_), first, second);
    }

private:
    static double smallest(double area, const Shape& first, const Shape& second) {
        return std::min(std::min(area, first.area), second.area);
    }

    static bool apart(const Shape& first, const Shape& second) {
        return first.high.x <= second.low.x || second.high.x <= first.low.x || first.high.y <= second.low.y ||
               second.high.y <= first.low.y;
    }

    static void moved(Points points, const Point& origin, std::vector<Point>& out) {
        out.clear();
        for (const Point& p : points) out.push_back({p.x - origin.x, p.y - origin.y});
    }

    // What is this small beside the box around both rings is zero: rings that only touch share nothing.
    double by_slabs(const Shape& first, const Shape& second) {
        const double left = std::max(first.low.x, second.low.x), right = std::min(first.high.x, second.high.x);
        const double height = std::min(first.high.y, second.high.y) - std::max(first.low.y, second.low.y);
        StateAreas sums;
        slabs_.begin(first.low);
        slabs_.add(first.points, own);
        slabs_.add(second.points, predicted);
        slabs_.measure(sums, left, right);
        const double area = covered_area(sums);
        return area > noise * ((right - left) * height) ? area : 0.0;
    }

    // Sutherland–Hodgman: what is left of the subject after a cut along every edge of the clip.
    double clipped_area(const std::vector<Point>& subject, const std::vector<Point>& clip) {
        kept_ = subject;
        for (std::size_t i = 0; i < clip.size(); ++i) {
            const Point& corner = clip[i];
            const Point& next = clip[i + 1 < clip.size() ? i + 1 : 0];
            cut(corner, {next.x - corner.x, next.y - corner.y});
            if (kept_.size() < 3) return 0.0;
        }
        return std::max(signed_area(kept_), 0.0);
    }

    void cut(const Point& corner, const Point& edge) {
        cut_.clear();
        const auto side_of = [&](const Point& p) { return edge.x * (p.y - corner.y) - edge.y * (p.x - corner.x); };
        Point before = kept_.back();
        double side_before = side_of(before);
        for (const Point& here : kept_) {
            const double side = side_of(here);
            if ((side >= 0) != (side_before >= 0)) {
                const double share = side_before / (side_before - side);
                cut_.push_back({before.x + share * (here.x - before.x), before.y + share * (here.y - before.y)});
            }
            if (side >= 0) cut_.push_back(here);
            before = here;
            side_before = side;
        }
        kept_.swap(cut_);
    }

    std::vector<Point> subject_, clip_, kept_, cut_;
    Slabs slabs_;
};

}  // namespace calque
