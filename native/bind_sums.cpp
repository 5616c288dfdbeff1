// Python's view of exact sums.
#include <algorithm>
#include <cmath>

#include "bind_arrays.hpp"
#include "sums.hpp"

using namespace nanobind::literals;

namespace {

using namespace calque;

constexpr double most = 1 << 30;  // far beyond what values should be; the sums of what is cut off stay whole numbers

auto bound_fraction_parts(const Column<double>& values, const Column<std::int32_t>& groups, std::int64_t size, double scale) {
    require(values.shape(0) == groups.shape(0), "values and groups must have the same length");
    require(size >= 0, "the number of groups must not be negative");
    bool fine = true, small = true;
    for (std::size_t row = 0; row < values.shape(0); ++row) {
        const std::int32_t group = groups.data()[row];
        fine = fine && group < size;
        small = small && (group < 0 || std::abs(values.data()[row] * scale) <= most);
    }
    require(fine, "a group must be less than the number of groups");
    require(small, "a value must lie from 0 to 1");
    const auto groups_there = static_cast<std::size_t>(size);
    std::vector<std::int64_t> out;
    {
        const nb::gil_scoped_release released;
        out = fraction_parts(view(values), view(groups), groups_there, scale);
    }
    return array(std::move(out), {2, groups_there});
}

auto bound_exact_parts(const Column<double>& values) {
    constexpr double most_summed = 0x1p900;  // no sum of such values is beyond the range of doubles
    const auto given = view(values);
    require(std::all_of(given.begin(), given.end(), [](double value) { return std::abs(value) <= most_summed; }),
            "a value is too great to be summed, or none");
    std::vector<double> parts;
    {
        const nb::gil_scoped_release released;
        parts = exact_parts(given);
    }
    return array(std::move(parts));
}

}  // namespace

void bind_sums(nanobind::module_& m) {
    m.def("exact_parts", &bound_exact_parts, "values"_a, "A few numbers with exactly the same sum, the greatest first.");
    m.def("fraction_parts", &bound_fraction_parts, "values"_a, "groups"_a, "size"_a, "scale"_a = 1.0);
}
