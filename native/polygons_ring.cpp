// Rings of vertices, looked at one by one; the same arithmetic as kernels/reference/polygons.py, step by step.
#include "polygons_ring.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "interrupt.hpp"

namespace calque {
namespace {

struct Edge {
    Point from, to;

    double left() const { return std::min(from.x, to.x); }
    double right() const { return std::max(from.x, to.x); }
};

int turn(const Point& a, const Point& b, const Point& c) {
    const double cross = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    return (cross > 0) - (cross < 0);
}

bool between(const Point& a, const Point& b, const Point& c) {
    return std::min(a.x, b.x) <= c.x && c.x <= std::max(a.x, b.x) && std::min(a.y, b.y) <= c.y && c.y <= std::max(a.y, b.y);
}

// Neighbours may meet in their vertex, but not run back over each other.
bool folds_back(Edge one, Edge other) {
    if (one.from == other.to) std::swap(one, other);
    const double along = (one.to.x - one.from.x) * (other.to.x - other.from.x) + (one.to.y - one.from.y) * (other.to.y - other.from.y);
    return turn(one.from, one.to, other.to) == 0 && along < 0;
}

bool meet(const Edge& one, const Edge& other) {
    const int first = turn(one.from, one.to, other.from), second = turn(one.from, one.to, other.to);
    const int third = turn(other.from, other.to, one.from), fourth = turn(other.from, other.to, one.to);
    if (first * second < 0 && third * fourth < 0) return true;
    return (first == 0 && between(one.from, one.to, other.from)) || (second == 0 && between(one.from, one.to, other.to)) ||
           (third == 0 && between(other.from, other.to, one.from)) || (fourth == 0 && between(other.from, other.to, one.to));
}

}  // namespace

double signed_area(Points ring) {
    const Point origin = ring[0];
    double twice = 0.0;
    for (std::size_t i = 1; i + 1 < ring.size(); ++i) {
        twice += (ring[i].x - origin.x) * (ring[i + 1].y - origin.y) - (ring[i + 1].x - origin.x) * (ring[i].y - origin.y);
    }
    return twice / 2;
}

bool is_convex(Points ring) {
    const std::size_t count = ring.size();
    double dx = ring[0].x - ring[count - 1].x, dy = ring[0].y - ring[count - 1].y;
    int first_direction = 0, direction = 0, changes = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const Point& next = ring[i + 1 < count ? i + 1 : 0];
        const double next_dx = next.x - ring[i].x, next_dy = next.y - ring[i].y;
        const double cross = dx * next_dy - dy * next_dx;
        if (cross < 0 || (cross == 0 && dx * next_dx + dy * next_dy < 0)) return false;
        if (const int here = (next_dx > 0) - (next_dx < 0); here != 0) {
            changes += direction != 0 && here != direction;
            if (direction == 0) first_direction = here;
            direction = here;
        }
        dx = next_dx;
        dy = next_dy;
    }
    // A star turns left all the time, but more than once around: then x changes its direction more than twice.
    return direction != 0 && changes + (direction != first_direction) <= 2;
}

bool is_simple(Points ring) {
    const std::vector<Point> reversed(ring.rbegin(), ring.rend());
    if (is_convex(ring) || is_convex(reversed)) return true;
    const std::size_t count = ring.size();
    std::vector<Edge> edges(count);
    for (std::size_t i = 0; i < count; ++i) edges[i] = {ring[i], ring[i + 1 < count ? i + 1 : 0]};
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return edges[a].left() < edges[b].left(); });
    InterruptTicker interrupts;
    for (std::size_t a = 0; a < count; ++a) {
        interrupts.tick(count - a);
        const Edge& one = edges[order[a]];
        for (std::size_t b = a + 1; b < count && edges[order[b]].left() <= one.right(); ++b) {
            const Edge& other = edges[order[b]];
            const std::size_t apart = (order[b] + count - order[a]) % count;
            const bool neighbours = apart == 1 || apart == count - 1;
            if (neighbours ? folds_back(one, other) : meet(one, other)) return false;
        }
    }
    return true;
}

}  // namespace calque
