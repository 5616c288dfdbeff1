// Python's view of weighted documents.
#include <algorithm>
#include <cmath>

#include <nanobind/stl/tuple.h>

#include "bind_arrays.hpp"
#include "resample.hpp"

using namespace nanobind::literals;

namespace {

using namespace calque;

using WeightTable = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Weights weights_of(const WeightTable& table) {
    bool fine = true;
    for (std::size_t i = 0; i < table.size(); ++i) fine = fine && table.data()[i] >= 0;
    require(fine, "weights must not be negative");
    return {table.data(), table.shape(0), table.shape(1)};
}

void check_codes(const std::string& name, std::span<const std::int32_t> codes, std::size_t size) {
    std::uint32_t highest = 0;  // a negative code, taken as unsigned, is too high as well
    for (const std::int32_t code : codes) highest = std::max(highest, static_cast<std::uint32_t>(code));
    require(codes.empty() || highest < size, name + " names one that does not exist");
}

auto bound_poisson_weights(const Column<std::int64_t>& keys, const Column<std::int64_t>& thresholds, std::uint64_t seed,
                           std::int64_t first, std::int64_t replicates, int jobs) {
    require(first >= 0 && replicates >= 0, "first and replicates must not be negative");
    std::vector<std::uint64_t> limits;
    for (const std::int64_t threshold : view(thresholds)) limits.push_back(static_cast<std::uint64_t>(threshold));
    std::vector<std::int32_t> out;
    {
        const nb::gil_scoped_release released;
        out = poisson_weights(view(keys), limits, seed, static_cast<std::uint64_t>(first),
                              static_cast<std::size_t>(replicates), jobs);
    }
    return array(std::move(out), {keys.shape(0), static_cast<std::size_t>(replicates)});
}

auto bound_weighted_sums(const Column<std::int32_t>& units, const Column<std::int32_t>& columns,
                         const Column<std::int64_t>& values, std::int64_t size, const WeightTable& weights, int jobs) {
    require(units.shape(0) == columns.shape(0) && units.shape(0) == values.shape(0),
            "units, columns and values must have the same length");
    require(size >= 0, "the number of columns must not be negative");
    const Weights given = weights_of(weights);
    check_codes("units", view(units), given.documents);
    check_codes("columns", view(columns), static_cast<std::size_t>(size));
    std::vector<std::int64_t> out;
    {
        const nb::gil_scoped_release released;
        out = weighted_sums({view(units), view(columns), view(values)}, static_cast<std::size_t>(size), given, jobs);
    }
    return array(std::move(out), {static_cast<std::size_t>(size), given.replicates});
}

using Truths = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

auto bound_weighted_precision(const Column<std::int32_t>& units, const Column<std::uint8_t>& tied,
                              const Column<std::int64_t>& class_offsets, const Column<std::uint16_t>& matched,
                              const Column<std::uint16_t>& ignored, std::int64_t thresholds, const Truths& truths,
                              const Column<double>& recall_points, const WeightTable& weights, int jobs) {
    const std::size_t rows = units.shape(0);
    require(tied.shape(0) == rows && matched.shape(0) == rows && ignored.shape(0) == rows,
            "units, tied, matched and ignored must have the same length");
    require(thresholds >= 0 && thresholds <= 16, "at most 16 thresholds fit a mask");
    check_offsets("class_offsets", view(class_offsets), rows);
    const Weights given = weights_of(weights);
    check_codes("units", view(units), given.documents);
    require(truths.shape(0) + 1 == class_offsets.shape(0) && truths.shape(1) == given.replicates,
            "truths must have a row for each class and a column for each replicate");
    // Beyond 2**53 two numbers of hits can be one double, and the search for the fewest would not end.
    const std::span<const std::int64_t> numbers(truths.data(), truths.size());
    require(std::all_of(numbers.begin(), numbers.end(), [](std::int64_t each) { return each <= std::int64_t{1} << 53; }),
            "truths must be numbers that a double holds");
    bool rising = true;
    for (std::size_t i = 0; i < recall_points.shape(0); ++i) {
        const double point = recall_points.data()[i];
        rising = rising && std::isfinite(point) && (i == 0 || recall_points.data()[i - 1] <= point);
    }
    require(rising, "recall_points must rise");
    const WeightedCurves curves{view(units),
                                view(tied),
                                view(class_offsets),
                                view(matched),
                                view(ignored),
                                {truths.data(), truths.size()},
                                view(recall_points),
                                static_cast<std::size_t>(thresholds)};
    WeightedPrecision out;
    {
        const nb::gil_scoped_release released;
        out = weighted_precision(curves, given, jobs);
    }
    const std::size_t classes = curves.classes();
    return std::tuple{array(std::move(out.precision), {curves.thresholds, classes, given.replicates}),
                      array(std::move(out.recall), {curves.thresholds, classes, given.replicates})};
}

auto bound_weighted_auroc(const Column<std::int32_t>& units, const Column<std::uint8_t>& right,
                          const Column<std::uint8_t>& rises, const Column<std::int64_t>& group_offsets,
                          const WeightTable& weights, int jobs) {
    const std::size_t rows = units.shape(0);
    require(right.shape(0) == rows && rises.shape(0) == rows, "units, right and rises must have the same length");
    check_offsets("group_offsets", view(group_offsets), rows);
    const Weights given = weights_of(weights);
    check_codes("units", view(units), given.documents);
    const WeightedRatings ratings{view(units), view(right), view(rises), view(group_offsets)};
    std::vector<double> out;
    {
        const nb::gil_scoped_release released;
        out = weighted_auroc(ratings, given, jobs);
    }
    return array(std::move(out), {ratings.groups(), given.replicates});
}

}  // namespace

void bind_resample(nb::module_& m) {
    m.def("poisson_weights", &bound_poisson_weights, "keys"_a, "thresholds"_a, "seed"_a, "first"_a, "replicates"_a,
          "jobs"_a = 1);
    m.def("weighted_sums", &bound_weighted_sums, "units"_a, "columns"_a, "values"_a, "size"_a, "weights"_a, "jobs"_a = 1);
    m.def("weighted_precision", &bound_weighted_precision, "units"_a, "tied"_a, "class_offsets"_a, "matched"_a, "ignored"_a,
          "thresholds"_a, "truths"_a, "recall_points"_a, "weights"_a, "jobs"_a = 1);
    m.def("weighted_auroc", &bound_weighted_auroc, "units"_a, "right"_a, "rises"_a, "group_offsets"_a, "weights"_a,
          "jobs"_a = 1);
}
