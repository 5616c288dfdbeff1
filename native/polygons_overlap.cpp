// Pair after pair of rings. Same bits as kernels/reference/polygons.py.
#include "polygons_overlap.hpp"

#include <algorithm>
#include <cmath>

#include "parallel.hpp"
#include "polygons_clip.hpp"

namespace calque {
namespace {

constexpr std::size_t pairs_at_once = 4096;

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
            shapes_.push_back(shape_of({points_.data() + start, ring.size()}, std::abs(area)));
        }
    }

    const Shape& operator[](std::size_t ring) const { return shapes_[ring]; }

private:
    std::vector<Point> points_;
    std::vector<Shape> shapes_;
};

}  // namespace

std::vector<double> polygon_overlaps(const Rings& first, const Rings& second, std::span<const std::int64_t> first_index,
                                     std::span<const std::int64_t> second_index, int jobs) {
    const Side firsts(first), seconds(second);
    std::vector<double> shared(first_index.size());
    const std::size_t pieces = (shared.size() + pairs_at_once - 1) / pairs_at_once;
    in_threads(pieces, jobs, [&](auto next) {
        Clipper clipper;
        InterruptTicker interrupts;
        for (std::size_t piece = next(); piece < pieces; piece = next()) {
            const std::size_t end = std::min(shared.size(), (piece + 1) * pairs_at_once);
            for (std::size_t pair = piece * pairs_at_once; pair < end; ++pair) {
                const Shape& one = firsts[static_cast<std::size_t>(first_index[pair])];
                const Shape& two = seconds[static_cast<std::size_t>(second_index[pair])];
                interrupts.tick(one.points.size() * two.points.size());
                shared[pair] = clipper.shared(one, two);
            }
        }
    });
    return shared;
}

}  // namespace calque
