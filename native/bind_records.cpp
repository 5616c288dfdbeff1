// Texts and lists of records for Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "bind_structs.hpp"
#include "records_lists.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace calque;

Texts checked(const given::TextPoints& texts) {
    check_offsets("texts.offsets", view(texts.offsets), texts.points.shape(0), "points");
    const auto points = view(texts.points);
    require(std::all_of(points.begin(), points.end(), [](auto point) { return point >= 0; }), "points must not be negative");
    return {points, view(texts.offsets)};
}

void check_numbers(std::span<const std::int32_t> numbers, std::size_t texts) {
    require(std::all_of(numbers.begin(), numbers.end(),
                        [=](auto number) { return number >= 0 && static_cast<std::size_t>(number) < texts; }),
            "pairs must be numbers of texts");
}

auto bound_edit_distances(const given::TextPoints& texts, const Column<std::int32_t>& first, const Column<std::int32_t>& second,
                          int /*jobs*/) {
    const Texts known = checked(texts);
    require(first.shape(0) == second.shape(0), "each pair needs two texts");
    check_numbers(view(first), known.size());
    check_numbers(view(second), known.size());
    std::vector<std::int32_t> distances(first.shape(0));
    {
        const nb::gil_scoped_release released;
        edit_distances(known, view(first), view(second), distances);
    }
    return array(std::move(distances));
}

auto bound_plain_partners(const Column<double>& scores, const Column<std::int64_t>& heights, const Column<std::int64_t>& widths,
                          double slack) {
    require(heights.shape(0) == widths.shape(0), "each matrix needs a height and a width");
    std::size_t rows = 0, cells = 0;
    for (std::size_t i = 0; i < heights.shape(0); ++i) {
        require(heights.data()[i] > 0 && widths.data()[i] > 0, "matrices must not be empty");
        rows += static_cast<std::size_t>(heights.data()[i]);
        cells += static_cast<std::size_t>(heights.data()[i]) * static_cast<std::size_t>(widths.data()[i]);
    }
    require(cells == scores.shape(0), "matrices must have height times width scores");
    std::vector<std::int32_t> partners(rows);
    std::vector<std::uint8_t> settled(heights.shape(0));
    {
        const nb::gil_scoped_release released;
        plain_partners(view(scores), view(heights), view(widths), slack, partners, settled);
    }
    return std::tuple{array(std::move(partners)), array(std::move(settled))};
}

}  // namespace

void bind_records(nb::module_& m) {
    m.def("edit_distances", &bound_edit_distances, "texts"_a, "first"_a, "second"_a, "jobs"_a = 1,
          "The edit distance of the texts of each pair.");
    m.def("plain_partners", &bound_plain_partners, "scores"_a, "heights"_a, "widths"_a, "slack"_a,
          "For each row of many matrices its partner where that is plain, else -1; and which matrices are settled by that.");
}
