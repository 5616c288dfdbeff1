// Python's view of the kernels for rows that are more than boxes.
#include <nanobind/stl/tuple.h>

#include "bind_sides.hpp"
#include "shapes_overlaps.hpp"

using namespace nanobind::literals;

namespace {

using namespace calque;

auto handed_over(Measured&& out) {
    return std::tuple{array(std::move(out.truth_areas)), array(std::move(out.found_areas)), array(std::move(out.offsets)),
                      array(std::move(out.truths)), array(std::move(out.shared))};
}

auto bound_shape_overlaps(const given::PageBoxes& truth_boxes, const given::PageBoxes& found_boxes, int jobs) {
    const Side truth = side("truth", truth_boxes), found = side("found", found_boxes);
    check_pages(truth, found);
    Measured out;
    {
        const nb::gil_scoped_release released;
        out = shape_overlaps(truth, found, jobs);
    }
    return handed_over(std::move(out));
}

}  // namespace

void bind_shapes(nb::module_& m) {
    m.def("shape_overlaps", &bound_shape_overlaps, "truth"_a, "found"_a, "jobs"_a = 1);
}
