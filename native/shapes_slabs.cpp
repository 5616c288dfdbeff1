// Within a slab no two edges cross: every area is its width times heights at its middle.
#include "shapes_slabs.hpp"

#include <algorithm>

namespace calque {

void Slabs::begin(const Point& origin) {
    origin_ = origin;
    edges_.clear();
    parts_.clear();
}

void Slabs::add(Points ring, Part part) {
    const auto number = static_cast<std::uint32_t>(parts_.size());
    parts_.push_back(part);
    for (std::size_t i = 0; i < ring.size(); ++i) {
        const Point& next = ring[i + 1 < ring.size() ? i + 1 : 0];
        const Point p{ring[i].x - origin_.x, ring[i].y - origin_.y}, q{next.x - origin_.x, next.y - origin_.y};
        if (p.x < q.x) edges_.push_back({p, q, number});
        if (q.x < p.x) edges_.push_back({q, p, number});
    }
}

void Slabs::measure(StateAreas& sums, double from, double to) {
    from -= origin_.x;
    to -= origin_.x;
    sums.fill(0);
    inside_.assign(parts_.size(), 0);
    std::sort(edges_.begin(), edges_.end(), [](const Edge& one, const Edge& two) { return one.a.x < two.a.x; });
    find_cuts(from, to);
    active_.clear();
    std::size_t next = 0;
    for (std::size_t i = 0; i + 1 < cuts_.size(); ++i) {
        const double left = cuts_[i];
        for (; next < edges_.size() && edges_[next].a.x <= left; ++next) active_.push_back(next);
        std::erase_if(active_, [&](std::size_t edge) { return edges_[edge].b.x <= left; });
        spend(active_.size());
        add_slab(left, cuts_[i + 1], sums);
    }
}

void Slabs::find_cuts(double from, double to) {
    cuts_.clear();
    const auto cut = [&](double x) {
        if (from <= x && x <= to) cuts_.push_back(x);
    };
    for (const Edge& edge : edges_) {
        cut(edge.a.x);
        cut(edge.b.x);
    }
    // A window ends where a ring does, so that its ends are among the vertices.
    for (std::size_t i = 0; i < edges_.size(); ++i) {
        const Edge& one = edges_[i];
        if (one.b.x <= from) continue;
        std::size_t j = i + 1;
        for (; j < edges_.size() && edges_[j].a.x < one.b.x && edges_[j].a.x < to; ++j) add_crossing(one, edges_[j], from, to);
        spend(j - i);
        if (cuts_.size() > most_cuts) throw std::invalid_argument(too_tangled);
    }
    std::sort(cuts_.begin(), cuts_.end());
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
}

void Slabs::add_crossing(const Edge& one, const Edge& two, double from, double to) {
    if (std::max(one.a.y, one.b.y) < std::min(two.a.y, two.b.y) || std::max(two.a.y, two.b.y) < std::min(one.a.y, one.b.y)) return;
    const double left = std::max(one.a.x, two.a.x), right = std::min(one.b.x, two.b.x);
    const double before = one.at(left) - two.at(left), after = one.at(right) - two.at(right);
    if (!((before < 0 && after > 0) || (before > 0 && after < 0))) return;
    const double x = left + (right - left) * (before / (before - after));
    if (left < x && x < right && from < x && x < to) cuts_.push_back(x);
}

void Slabs::add_slab(double left, double right, StateAreas& sums) {
    if (active_.empty()) return;
    const double width = right - left, middle = left + width / 2;
    steps_.clear();
    for (const std::size_t edge : active_) steps_.push_back({edges_[edge].at(middle), edges_[edge].ring});
    std::sort(steps_.begin(), steps_.end(), [](const Step& one, const Step& two) { return one.y < two.y; });
    Depth depth;
    std::size_t state = 0;
    double before = steps_.front().y;
    for (const Step& step : steps_) {
        if (state != 0) sums[state] += width * (step.y - before);
        before = step.y;
        inside_[step.ring] ^= 1;
        depth.add(parts_[step.ring], inside_[step.ring] ? 1 : -1);
        state = state_of(depth);
    }
}

}  // namespace calque
