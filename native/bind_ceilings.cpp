// Python's view of the kernels of ceilings: checks what it is given, lets go of the GIL, hands over arrays without a copy.
#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "bind_sides.hpp"
#include "boxes_ceilings.hpp"
#include "boxes_fused.hpp"
#include "halves.hpp"

using namespace nanobind::literals;

namespace {

using namespace calque;

void check_systems(std::span<const std::uint8_t> systems) {
    require(std::all_of(systems.begin(), systems.end(), [](std::uint8_t system) { return system < most_systems; }),
            "at most 16 systems fit a mask");
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

auto bound_agreed_boxes(const given::PageBoxes& boxes, const Column<std::uint8_t>& systems, const Column<double>& taken,
                        const Column<double>& thresholds, int jobs) {
    const Side found = side("found", boxes, {systems.shape(0), taken.shape(0)});
    check_systems(view(systems));
    const auto levels = view(thresholds);
    require(!levels.empty() && levels.size() < 256 && std::is_sorted(levels.begin(), levels.end()),
            "there must be 1 to 255 thresholds, the lowest first");
    Agreed out;
    {
        const nb::gil_scoped_release released;
        out = agreed_boxes(found, view(systems), view(taken), levels, jobs);
    }
    const std::size_t rows = out.first.size();
    return std::tuple{array(std::move(out.level)), array(std::move(out.first)), array(std::move(out.systems)),
                      array(std::move(out.boxes), {rows, 4})};
}

auto bound_contacts(const given::PageBoxes& truth_boxes, const given::PageBoxes& found_boxes,
                    const Column<std::uint8_t>& systems, double threshold, int jobs) {
    const Side truth = side("truth", truth_boxes), found = side("found", found_boxes, {systems.shape(0)});
    check_pages(truth, found);
    check_systems(view(systems));
    Contacts out;
    {
        const nb::gil_scoped_release released;
        out = contacts(truth, found, view(systems), threshold, jobs);
    }
    return std::tuple{array(std::move(out.truth)), array(std::move(out.found)), array(std::move(out.iou)),
                      array(std::move(out.truth_best)), array(std::move(out.found_best)), array(std::move(out.nearest)),
                      array(std::move(out.reached), {truth.rows(), 3})};
}

auto bound_hashed_halves(const Column<std::uint8_t>& values, const Column<std::int64_t>& offsets,
                         const Column<std::int64_t>& seeds) {
    check_offsets("offsets", view(offsets), values.shape(0));
    std::vector<std::uint8_t> out;
    {
        const nb::gil_scoped_release released;
        out = hashed_halves(view(values), view(offsets), view(seeds));
    }
    return array(std::move(out), {seeds.shape(0), offsets.shape(0) - 1});
}

}  // namespace

void bind_ceilings(nb::module_& m) {
    m.def("match_most", &bound_match_most, "truth"_a, "found"_a, "problems"_a, "truths"_a, "founds"_a);
    m.def("agreed_boxes", &bound_agreed_boxes, "found"_a, "systems"_a, "taken"_a, "thresholds"_a, "jobs"_a = 1);
    m.def("contacts", &bound_contacts, "truth"_a, "found"_a, "systems"_a, "threshold"_a, "jobs"_a = 1);
    m.def("hashed_halves", &bound_hashed_halves, "values"_a, "offsets"_a, "seeds"_a);
    m.def("fuse_boxes", &bound_fuse_boxes, "found"_a, "scores"_a, "systems"_a, "threshold"_a, "jobs"_a = 1);
}
