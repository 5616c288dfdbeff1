// The area that two simple rings share: convex rings are clipped, concave ones are sums of signed triangles.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "polygons_ring.hpp"

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

struct Piece {
    double sign;
    std::vector<Point> points;
};

// One pair after the other, without memory of the last but its buffers.
class Clipper {
public:
    double shared(const Shape& first, const Shape& second) {
        if (apart(first, second)) return 0.0;
        if (std::equal(first.points.begin(), first.points.end(), second.points.begin(), second.points.end())) return first.area;
        const Point origin = first.points[0];
        moved(first.points, origin, subject_);
        moved(second.points, origin, clip_);
        if (first.convex && second.convex) return smallest(clipped_area(subject_, clip_), first, second);
        pieces(subject_, first.convex, subject_pieces_);
        pieces(clip_, second.convex, clip_pieces_);
        double total = 0.0, size = 0.0;
        for (const Piece& piece : subject_pieces_) {
            for (const Piece& other : clip_pieces_) {
                const double term = piece.sign * other.sign * clipped_area(piece.points, other.points);
                total += term;
                size += std::abs(term);
            }
        }
        return total > noise * size ? smallest(total, first, second) : 0.0;
    }

private:
    // A signed sum that is this small beside its terms is zero: rings that only touch share nothing.
    static constexpr double noise = 8 * std::numeric_limits<double>::epsilon();

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

    static void pieces(const std::vector<Point>& points, bool convex, std::vector<Piece>& out) {
        out.clear();
        if (convex) {
            out.push_back({1.0, points});
            return;
        }
        for (std::size_t i = 1; i + 1 < points.size(); ++i) {
            const Point triangle[] = {points[0], points[i], points[i + 1]};
            const double area = signed_area(triangle);
            if (area > 0) out.push_back({1.0, {points[0], points[i], points[i + 1]}});
            if (area < 0) out.push_back({-1.0, {points[0], points[i + 1], points[i]}});
        }
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
    std::vector<Piece> subject_pieces_, clip_pieces_;
};

}  // namespace calque
