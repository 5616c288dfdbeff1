// Convex rings are clipped; concave ones are sums of signed triangles. Twin of kernels/reference/polygons.py.
#include "polygons_overlap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "boxes_threads.hpp"

namespace calque {
namespace {

constexpr double noise = 8 * std::numeric_limits<double>::epsilon();
constexpr std::size_t pairs_at_once = 4096;

// What every pair needs to know of a ring.
struct Shape {
    Points points;  // turning left
    double area;
    bool convex;
    Point low, high;
};

// The rings of one side, turned left, each looked at once.
class Side {
public:
    explicit Side(const Rings& rings) : points_(rings.points.begin(), rings.points.end()) {
        shapes_.reserve(rings.count());
        for (std::size_t r = 0; r < rings.count(); ++r) {
            const Points ring = rings[r];
            const auto start = static_cast<std::size_t>(rings.offsets[r]);
            const double area = signed_area(ring);
            if (area < 0) std::reverse(points_.begin() + start, points_.begin() + start + ring.size());
            const Points turned{points_.data() + start, ring.size()};
            Point low = ring[0], high = ring[0];
            for (const Point& p : ring) {
                low = {std::min(low.x, p.x), std::min(low.y, p.y)};
                high = {std::max(high.x, p.x), std::max(high.y, p.y)};
            }
            shapes_.push_back({turned, std::abs(area), is_convex(turned), low, high});
        }
    }

    const Shape& operator[](std::size_t ring) const { return shapes_[ring]; }

private:
    std::vector<Point> points_;
    std::vector<Shape> shapes_;
};

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

}  // namespace

std::vector<double> polygon_overlaps(const Rings& first, const Rings& second, std::span<const std::int64_t> first_index,
                                     std::span<const std::int64_t> second_index, int jobs) {
    const Side firsts(first), seconds(second);
    std::vector<double> shared(first_index.size());
    const std::size_t pieces = (shared.size() + pairs_at_once - 1) / pairs_at_once;
    in_threads(pieces, jobs, [&](auto next) {
        Clipper clipper;
        for (std::size_t piece = next(); piece < pieces; piece = next()) {
            const std::size_t end = std::min(shared.size(), (piece + 1) * pairs_at_once);
            for (std::size_t pair = piece * pairs_at_once; pair < end; ++pair) {
                shared[pair] = clipper.shared(firsts[static_cast<std::size_t>(first_index[pair])],
                                              seconds[static_cast<std::size_t>(second_index[pair])]);
            }
        }
    });
    return shared;
}

}  // namespace calque
