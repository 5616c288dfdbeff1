// Python's view of the kernels of ceilings: checks what it is given, lets go of the GIL, hands over arrays without a copy.
#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "bind_sides.hpp"
#include "boxes_ceilings.hpp"

using namespace nanobind::literals;

namespace {

using namespace calque;

void check_systems(std::span<const std::uint8_t> systems) {
    require(std::all_of(systems.begin(), systems.end(), [](std::uint8_t system) { return system < most_systems; }),
            "at most 16 systems fit a mask");
}

auto bound_nearest_edges(const given::PageBoxes& truth_boxes, const given::PageBoxes& found_boxes,
                         const Column<std::uint8_t>& systems, int jobs) {
    const Side truth = side("truth", truth_boxes), found = side("found", found_boxes, {systems.shape(0)});
    check_pages(truth, found);
    check_systems(view(systems));
    std::vector<double> out;
    {
        const nb::gil_scoped_release released;
        out = nearest_edges(truth, found, view(systems), jobs);
    }
    return array(std::move(out), {truth.rows(), 3});
}

auto bound_match_most(const Column<std::int32_t>& truth, const Column<std::int32_t>& found,
                      const Column<std::uint16_t>& problems, std::int64_t truths, std::int64_t founds) {
    require(truth.shape(0) == found.shape(0) && truth.shape(0) == problems.shape(0),
            "every edge must have a truth, a found row and its problems");
    const auto within = [](std::span<const std::int32_t> rows, std::int64_t count) {
        return std::all_of(rows.begin(), rows.end(), [count](std::int32_t row) { return row >= 0 && row < count; });
    };
    require(truths >= 0 && founds >= 0 && within(view(truth), truths) && within(view(found), founds),
            "an edge names a row that does not exist");
    std::vector<std::uint16_t> out;
    {
        const nb::gil_scoped_release released;
        out = match_most(view(truth), view(found), view(problems), static_cast<std::size_t>(truths),
                         static_cast<std::size_t>(founds));
    }
    return array(std::move(out));
}

auto bound_fuse_boxes(const given::PageBoxes& boxes, const Column<double>& scores, const Column<std::uint8_t>& systems,
                      double threshold, int jobs) {
    const Side found = side("found", boxes, {scores.shape(0), systems.shape(0)});
    check_systems(view(systems));
    Fused out;
    {
        const nb::gil_scoped_release released;
        out = fuse_boxes(found, view(scores), view(systems), threshold, jobs);
    }
    const std::size_t rows = out.page.size();
    return std::tuple{array(std::move(out.page)), array(std::move(out.label)), array(std::move(out.boxes), {rows, 4}),
                      array(std::move(out.score)), array(std::move(out.systems))};
}

auto bound_agreeing_boxes(const given::PageBoxes& boxes, const Column<std::uint8_t>& systems, double threshold, int jobs) {
    const Side found = side("found", boxes, {systems.shape(0)});
    check_systems(view(systems));
    std::vector<std::int32_t> out;
    {
        const nb::gil_scoped_release released;
        out = agreeing_boxes(found, view(systems), threshold, jobs);
    }
    return array(std::move(out));
}

}  // namespace

void bind_ceilings(nb::module_& m) {
    m.def("nearest_edges", &bound_nearest_edges, "truth"_a, "found"_a, "systems"_a, "jobs"_a = 1);
    m.def("match_most", &bound_match_most, "truth"_a, "found"_a, "problems"_a, "truths"_a, "founds"_a);
    m.def("agreeing_boxes", &bound_agreeing_boxes, "found"_a, "systems"_a, "threshold"_a, "jobs"_a = 1);
    m.def("fuse_boxes", &bound_fuse_boxes, "found"_a, "scores"_a, "systems"_a, "threshold"_a, "jobs"_a = 1);
}
