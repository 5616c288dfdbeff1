// Python's view of the polygon kernels: checks what it is given, lets go of the GIL, hands over arrays without a copy.
#include <string>

#include "bind_arrays.hpp"
#include "polygons_overlap.hpp"
#include "polygons_ring.hpp"

using namespace nanobind::literals;

namespace {

using namespace calque;

using Vertices = nb::ndarray<const double, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using Rows = Column<std::int64_t>;

static_assert(sizeof(Point) == 2 * sizeof(double), "a row of two doubles is read as a point");

Rings rings(const std::string& name, const Vertices& points, const Rows& offsets) {
    const auto bounds = view(offsets);
    bool fine = !bounds.empty() && bounds.front() == 0 && bounds.back() == static_cast<std::int64_t>(points.shape(0));
    for (std::size_t i = 1; fine && i < bounds.size(); ++i) fine = bounds[i] > bounds[i - 1] && bounds[i] - bounds[i - 1] >= 3;
    require(fine, name + " must rise from 0 to the number of points, three or more a ring");
    return {{reinterpret_cast<const Point*>(points.data()), points.shape(0)}, bounds};
}

void check_index(const std::string& name, const Rows& index, std::size_t count) {
    for (const std::int64_t ring : view(index)) {
        if (ring < 0 || static_cast<std::size_t>(ring) >= count) throw std::invalid_argument(name + " names a ring that does not exist");
    }
}

Array<bool> flag_array(std::vector<std::uint8_t>&& flags) {
    auto* kept = new std::vector<std::uint8_t>(std::move(flags));
    nb::capsule owner(kept, [](void* held) noexcept { delete static_cast<std::vector<std::uint8_t>*>(held); });
    return Array<bool>(reinterpret_cast<bool*>(kept->data()), {kept->size()}, owner);
}

auto bound_areas(const Vertices& points, const Rows& offsets) {
    const Rings given = rings("offsets", points, offsets);
    std::vector<double> areas(given.count());
    {
        const nb::gil_scoped_release released;
        for (std::size_t r = 0; r < areas.size(); ++r) areas[r] = signed_area(given[r]);
    }
    return array(std::move(areas));
}

auto bound_simple(const Vertices& points, const Rows& offsets) {
    const Rings given = rings("offsets", points, offsets);
    std::vector<std::uint8_t> simple(given.count());
    {
        const nb::gil_scoped_release released;
        for (std::size_t r = 0; r < simple.size(); ++r) simple[r] = is_simple(given[r]);
    }
    return flag_array(std::move(simple));
}

auto bound_overlaps(const Vertices& first_points, const Rows& first_offsets, const Vertices& second_points, const Rows& second_offsets,
                    const Rows& first_index, const Rows& second_index, int jobs) {
    const Rings first = rings("first_offsets", first_points, first_offsets);
    const Rings second = rings("second_offsets", second_points, second_offsets);
    if (first_index.shape(0) != second_index.shape(0)) throw std::invalid_argument("both indices must have the same length");
    check_index("first_index", first_index, first.count());
    check_index("second_index", second_index, second.count());
    std::vector<double> shared;
    {
        const nb::gil_scoped_release released;
        shared = polygon_overlaps(first, second, view(first_index), view(second_index), jobs);
    }
    return array(std::move(shared));
}

}  // namespace

void bind_polygons(nb::module_& m) {
    m.def("polygon_areas", &bound_areas, "points"_a, "offsets"_a);
    m.def("polygon_simple", &bound_simple, "points"_a, "offsets"_a);
    m.def("polygon_overlaps", &bound_overlaps, "first_points"_a, "first_offsets"_a, "second_points"_a, "second_offsets"_a,
          "first_index"_a, "second_index"_a, "jobs"_a = 1);
}
