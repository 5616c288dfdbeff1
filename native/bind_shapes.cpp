// Python's view of the kernels for rows that are more than boxes.
#include <nanobind/stl/tuple.h>

#include <system_error>

#include "bind_sides.hpp"
#include "masks_rows.hpp"
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

template <class Work>
auto from_files(Work work) {
    try {
        const nb::gil_scoped_release released;
        return work();
    } catch (const json::SystemFailure& failure) {
        throw std::system_error(failure.code, std::generic_category());
    } catch (const json::ScanFailure& failure) {
        throw std::runtime_error(failure.message);
    }
}

void check_masks(const std::string& name, const Side& side) { require(side.masks.given, name + " rows must have masks"); }

auto handed_over(MaskFacts&& out) {
    const std::size_t rows = out.faults.size();
    return std::tuple{array(std::move(out.faults)), array(std::move(out.areas)), array(std::move(out.bounds), {rows, 4}),
                      array(std::move(out.sizes), {rows, 2}), array(std::move(out.odd))};
}

auto bound_mask_facts(const given::PageBoxes& boxes, int jobs) {
    const Side given = side("given", boxes);
    check_masks("given", given);
    return handed_over(from_files([&] { return mask_facts(given, jobs); }));
}

auto bound_mask_pairs(const given::PageBoxes& truth_boxes, const given::PageBoxes& found_boxes, int jobs) {
    const Side truth = side("truth", truth_boxes), found = side("found", found_boxes);
    check_pages(truth, found);
    check_masks("truth", truth);
    check_masks("found", found);
    MaskPairs out = from_files([&] { return mask_pairs(truth, found, jobs); });
    return std::tuple{handed_over(std::move(out.truth)), handed_over(std::move(out.found)), array(std::move(out.shared.offsets)),
                      array(std::move(out.shared.truths)), array(std::move(out.shared.shared))};
}

}  // namespace

void bind_shapes(nb::module_& m) {
    m.def("shape_overlaps", &bound_shape_overlaps, "truth"_a, "found"_a, "jobs"_a = 1);
    m.def("mask_facts", &bound_mask_facts, "side"_a, "jobs"_a = 1);
    m.def("mask_pairs", &bound_mask_pairs, "truth"_a, "found"_a, "jobs"_a = 1);
}
