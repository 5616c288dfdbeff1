// A ring crosses the centre line of a pixel column at known points of a grid of fifths: they are computed, not walked to.
#include "masks_ring.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace calque {

namespace {

constexpr double fifths = 5;
constexpr std::size_t most_toggles = std::size_t{1} << 22;  // less than two hundred megabytes while one ring is drawn
constexpr double farthest = 4e8;  // five times as much still fits the 32 bits that COCO's tools have

bool drawable(double value) { return std::abs(value) <= farthest; }  // false for NaN

std::int64_t on_grid(double value) { return static_cast<std::int64_t>(fifths * value + 0.5); }

std::int64_t floor_div(std::int64_t value, std::int64_t by) { return value >= 0 ? value / by : -((by - 1 - value) / by); }

// The place of an edge beside its main axis after t steps; the product and the sum are rounded one by one.
struct Slope {
    double start, step;

    std::int64_t operator()(std::int64_t t) const {
        return static_cast<std::int64_t>(start + step * static_cast<double>(t) + 0.5);
    }
};

}  // namespace

MaskFault RingDrawer::draw(Points ring, std::int64_t height, std::int64_t width, std::vector<Interval>& intervals) {
    for (const Point& vertex : ring)
        if (!drawable(vertex.x) || !drawable(vertex.y)) return MaskFault::ring;
    if (ring.size() < 3) return MaskFault::none;
    height_ = height;
    width_ = width;
    crossed_.clear();
    beyond_ = false;
    GridPoint before{on_grid(ring.back().x), on_grid(ring.back().y)};
    for (const Point& vertex : ring) {
        const GridPoint here{on_grid(vertex.x), on_grid(vertex.y)};
        edge(before, here);
        before = here;
    }
    if (beyond_) return MaskFault::ring;
    sort_toggles();
    const std::size_t first = intervals.size();
    // Every column is crossed an even number of times. Two toggles of one place cancel out.
    for (std::size_t i = 0; i + 1 < toggles_.size(); i += 2) {
        if (toggles_[i] == toggles_[i + 1]) continue;
        if (intervals.size() > first && intervals.back().end == toggles_[i])
            intervals.back().end = toggles_[i + 1];
        else
            intervals.push_back({toggles_[i], toggles_[i + 1]});
    }
    return MaskFault::none;
}

MaskFault RingDrawer::draw_all(const Rings& rings, std::size_t first, std::size_t last, std::int64_t height,
                               std::int64_t width, std::vector<Interval>& intervals) {
    if (last - first == 1) return draw(rings[first], height, width, intervals);
    // Parts of about the same length are united, as in a binary counter: of many rings each is copied a few times only.
    std::size_t open = 0;
    const auto unite_last = [&] {
        swapped_.clear();
        unite_masks(parts_[open - 2], parts_[open - 1], swapped_);
        std::swap(parts_[--open - 1], swapped_);
    };
    for (std::size_t ring = first; ring < last; ++ring) {
        if (parts_.size() == open) parts_.emplace_back();
        parts_[open].clear();
        if (const MaskFault fault = draw(rings[ring], height, width, parts_[open]); fault != MaskFault::none) return fault;
        ++open;
        while (open > 1 && parts_[open - 2].size() <= 2 * parts_[open - 1].size()) unite_last();
    }
    while (open > 1) unite_last();
    if (open == 1) intervals.insert(intervals.end(), parts_[0].begin(), parts_[0].end());
    return MaskFault::none;
}

void RingDrawer::edge(GridPoint from, GridPoint to) {
    const std::int64_t dx = std::abs(to.x - from.x), dy = std::abs(to.y - from.y);
    if (dx == 0) return;  // it crosses no column
    if (dx >= dy)
        from.x < to.x ? flat_edge(from, to) : flat_edge(to, from);
    else
        from.y < to.y ? steep_edge(from, to) : steep_edge(to, from);
}

// Its points have every x from one end to the other.
void RingDrawer::flat_edge(GridPoint low, GridPoint high) {
    const Slope y{static_cast<double>(low.y), static_cast<double>(high.y - low.y) / static_cast<double>(high.x - low.x)};
    const std::int64_t first = std::max<std::int64_t>(0, floor_div(low.x + 2, 5));  // the first column with 5c + 2 >= x
    const std::int64_t last = std::min(width_ - 1, floor_div(high.x - 3, 5));
    if (!has_room(first, last)) return;
    for (std::int64_t column = first; column <= last; ++column) {
        const std::int64_t t = 5 * column + 2 - low.x;
        toggle(column, std::min(y(t), y(t + 1)));
    }
}

// Its points have every y; x moves by one at most from point to point, so the step over a centre line is guessed by
// division and put right.
void RingDrawer::steep_edge(GridPoint low, GridPoint high) {
    const std::int64_t length = high.y - low.y;
    const Slope x{static_cast<double>(low.x), static_cast<double>(high.x - low.x) / static_cast<double>(length)};
    const bool rising = high.x > low.x;
    const std::int64_t left = std::min(x(0), x(length)), right = std::max(x(0), x(length));
    const std::int64_t first = std::max<std::int64_t>(0, floor_div(left + 2, 5));
    const std::int64_t last = std::min(width_ - 1, floor_div(right - 3, 5));
    if (!has_room(first, last)) return;
    for (std::int64_t column = first; column <= last; ++column) {
        const std::int64_t line = 5 * column + 2;
        const auto beyond = [&](std::int64_t t) { return rising ? x(t) > line : x(t) <= line; };
        const double guess = (static_cast<double>(line) + 0.5 - x.start) / x.step;
        std::int64_t t = std::clamp<std::int64_t>(static_cast<std::int64_t>(guess), 1, length);
        while (t < length && !beyond(t)) ++t;
        while (t > 1 && beyond(t - 1)) --t;
        toggle(column, low.y + t - 1);
    }
}

bool RingDrawer::has_room(std::int64_t first, std::int64_t last) {
    if (last >= first && crossed_.size() + static_cast<std::size_t>(last - first) >= most_toggles) beyond_ = true;
    return !beyond_;
}

void RingDrawer::toggle(std::int64_t column, std::int64_t above) {
    const std::int64_t row = above < 0 ? 0 : std::min(height_, (above + 2) / 5);
    crossed_.push_back({static_cast<std::int32_t>(column), static_cast<std::int32_t>(column * height_ + row)});
}

// Dealt out by column: edges cross columns in turn, and few toggles share one.
void RingDrawer::sort_toggles() {
    toggles_.resize(crossed_.size());
    if (crossed_.empty()) return;
    const auto [low, high] = std::minmax_element(crossed_.begin(), crossed_.end(),
                                                 [](const Toggle& one, const Toggle& two) { return one.column < two.column; });
    const std::int32_t left = low->column, right = high->column;
    column_at_.assign(static_cast<std::size_t>(right - left) + 2, 0);
    for (const Toggle& toggle : crossed_) ++column_at_[static_cast<std::size_t>(toggle.column - left) + 1];
    for (std::size_t i = 1; i < column_at_.size(); ++i) column_at_[i] += column_at_[i - 1];
    column_end_ = column_at_;
    constexpr std::size_t few = 32;
    for (const Toggle& toggle : crossed_) {
        // Put in order with those of its column that are there already, as long as they are few.
        const auto column = static_cast<std::size_t>(toggle.column - left);
        std::size_t at = column_end_[column]++;
        const bool in_order = at - column_at_[column] < few;
        for (; in_order && at > column_at_[column] && toggles_[at - 1] > toggle.place; --at) toggles_[at] = toggles_[at - 1];
        toggles_[at] = toggle.place;
    }
    for (std::size_t column = 0; column + 1 < column_at_.size(); ++column)
        if (column_end_[column] - column_at_[column] > few)
            std::sort(toggles_.begin() + static_cast<std::ptrdiff_t>(column_at_[column]),
                      toggles_.begin() + static_cast<std::ptrdiff_t>(column_end_[column]));
}

}  // namespace calque
