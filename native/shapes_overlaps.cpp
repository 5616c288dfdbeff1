// Boxes as boxes, convex rings by clipping, all others slab by slab. Same bits as kernels/reference/shapes.py.
#include "shapes_overlaps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "boxes_groups.hpp"
#include "parallel.hpp"
#include "masks_rows.hpp"

namespace calque {

namespace {

std::array<Point, 4> corners(const Box& box) {
    return {Point{box.left, box.top}, {box.right, box.top}, {box.right, box.bottom}, {box.left, box.bottom}};
}

// From the smallest vertex on, turning left, so that equal outlines are equal rings.
void make_canonical(std::span<Point> ring, double area) {
    if (area < 0) std::reverse(ring.begin(), ring.end());
    const auto smallest = std::min_element(ring.begin(), ring.end(), [](const Point& one, const Point& two) {
        return one.x < two.x || (one.x == two.x && one.y < two.y);
    });
    std::rotate(ring.begin(), smallest, ring.end());
}

double even_odd_area(const Shape& shape, Slabs& slabs) {
    StateAreas sums;
    slabs.begin(shape.low);
    slabs.add(shape.points, predicted);
    slabs.measure(sums);
    return sums[8];
}

std::size_t edges_of(const Side& side, std::size_t page) {
    std::size_t edges = 0;
    for (auto row = side.offsets[page]; row < side.offsets[page + 1]; ++row)
        edges += std::max<std::size_t>(4, side.rings.of(static_cast<std::size_t>(row)).size());
    return edges;
}

class Meter {
public:
    void begin(std::size_t edges) { clipper_.allow(edges); }

    double shared(const PageShapes::Row& truth, const PageShapes::Row& found) {
        if (!truth.ring && !found.ring) return intersection(truth.box, found.box);
        const Shape &one = truth.shape, &two = found.shape;
        if (!(one.area > 0 && two.area > 0)) return 0.0;
        if (std::equal(one.points.begin(), one.points.end(), two.points.begin(), two.points.end())) return one.area;
        const Point low{std::max(one.low.x, two.low.x), std::max(one.low.y, two.low.y)};
        const Point high{std::min(one.high.x, two.high.x), std::min(one.high.y, two.high.y)};
        if (!(low.x < high.x && low.y < high.y)) return 0.0;
        const double area = clipper_.shared(one, two);
        return area > noise * ((high.x - low.x) * (high.y - low.y)) ? std::min(std::min(area, one.area), two.area) : 0.0;
    }

private:
    Clipper clipper_;
};

class RingAreaCounter final : public AreaCounter {
public:
    RingAreaCounter(const Side& truth, const Side& found) : truth_(truth), found_(found) {}

    void begin(std::size_t page) override { slabs_.allow(edges_of(truth_, page) + edges_of(found_, page)); }
    void clear() override { added_.clear(), points_.clear(); }
    void add_truth(std::size_t row, Part part) override { add(truth_, row, part); }
    void add_found(std::size_t row) override { add(found_, row, predicted); }

    void measure(StateAreas& sums) override {
        if (added_.empty()) return sums.fill(0);
        Point low = points_.front();
        for (const Point& p : points_) low = {std::min(low.x, p.x), std::min(low.y, p.y)};
        slabs_.begin(low);
        std::size_t begin = 0;
        for (const auto& [end, part] : added_) {
            slabs_.add(Points(points_).subspan(begin, end - begin), part);
            begin = end;
        }
        slabs_.measure(sums);
    }

private:
    void add(const Side& side, std::size_t row, Part part) {
        const Points ring = side.rings.of(row);
        if (ring.empty()) {
            const auto edges = corners(side.box(row));
            points_.insert(points_.end(), edges.begin(), edges.end());
        } else {
            points_.insert(points_.end(), ring.begin(), ring.end());
        }
        added_.push_back({points_.size(), part});
    }

    struct Added {
        std::size_t end;
        Part part;
    };
    const Side& truth_;
    const Side& found_;
    std::vector<Point> points_;
    std::vector<Added> added_;
    Slabs slabs_;
};

}  // namespace

void PageShapes::read(const Side& side, std::size_t page, Slabs& slabs) {
    const auto begin = static_cast<std::size_t>(side.offsets[page]), end = static_cast<std::size_t>(side.offsets[page + 1]);
    rows_.clear();
    points_.clear();
    std::size_t size = 0;
    for (std::size_t row = begin; row < end; ++row) size += std::max<std::size_t>(4, side.rings.of(row).size());
    points_.reserve(size);  // shapes point into them
    for (std::size_t row = begin; row < end; ++row) {
        if (side.roles[row] == Role::left_out) continue;
        const Points ring = side.rings.of(row);
        const std::size_t start = points_.size();
        Row here{row, side.box(row), !ring.empty(), {}};
        if (ring.empty()) {
            const auto edges = corners(here.box);
            points_.insert(points_.end(), edges.begin(), edges.end());
            here.shape = {Points(points_).subspan(start), here.box.area, true, edges[0], edges[2]};
        } else {
            points_.insert(points_.end(), ring.begin(), ring.end());
            const double area = signed_area(ring);
            make_canonical(std::span(points_).subspan(start), area);
            here.shape = shape_of(Points(points_).subspan(start), std::abs(area));
            if (!here.shape.convex) here.shape.area = even_odd_area(here.shape, slabs);
        }
        rows_.push_back(here);
    }
}

void put_together(const std::vector<PagePairs>& parts, Measured& out) {
    out.offsets.push_back(0);
    for (const PagePairs& part : parts) {
        for (const std::int32_t count : part.counts) out.offsets.push_back(out.offsets.back() + count);
        out.truths.insert(out.truths.end(), part.truths.begin(), part.truths.end());
        out.shared.insert(out.shared.end(), part.shared.begin(), part.shared.end());
    }
}

Measured shape_overlaps(const Side& truth, const Side& found, int jobs) {
    Measured out{Rows<double>(truth.rows()), Rows<double>(found.rows()), {}, {}, {}};
    const auto cuts = page_shares(truth, found);
    std::vector<PagePairs> parts(cuts.size() - 1);
    in_threads(parts.size(), jobs, [&](auto next) {
        PageShapes truths, founds;
        Slabs slabs;
        Meter meter;
        InterruptTicker interrupts;
        for (std::size_t share; (share = next()) < parts.size();)
            for (std::size_t page = cuts[share]; page < cuts[share + 1]; ++page) {
                const std::size_t edges = edges_of(truth, page) + edges_of(found, page);
                slabs.allow(edges);
                meter.begin(edges);
                truths.read(truth, page, slabs);
                founds.read(found, page, slabs);
                PagePairs& part = parts[share];
                const auto first = static_cast<std::size_t>(found.offsets[page]);
                const std::size_t before = part.counts.size();
                part.counts.resize(before + static_cast<std::size_t>(found.offsets[page + 1]) - first);
                for (const auto& row : truths.rows()) out.truth_areas[row.row] = row.shape.area;
                for (const auto& row : founds.rows()) {
                    interrupts.tick(truths.rows().size());
                    out.found_areas[row.row] = row.shape.area;
                    for (const auto& candidate : truths.rows()) {
                        const double shared = meter.shared(candidate, row);
                        if (!(shared > 0)) continue;
                        ++part.counts[before + row.row - first];
                        part.truths.push_back(static_cast<std::int32_t>(candidate.row));
                        part.shared.push_back(shared);
                    }
                }
            }
    });
    put_together(parts, out);
    return out;
}

std::unique_ptr<AreaCounter> area_counter(const Side& truth, const Side& found) {
    if (truth.masks.given() && found.masks.given()) return mask_area_counter(truth, found);
    if (truth.rings.given() || found.rings.given()) return std::make_unique<RingAreaCounter>(truth, found);
    return nullptr;
}

}  // namespace calque
