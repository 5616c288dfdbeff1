// Python's view of exact sums.
#include "bind_arrays.hpp"
#include "sums.hpp"

using namespace nanobind::literals;

namespace {

using namespace calque;

auto bound_fraction_parts(const Column<double>& values, const Column<std::int32_t>& groups, std::int64_t size, double scale) {
    require(values.shape(0) == groups.shape(0), "values and groups must have the same length");
    bool fine = true;
    for (const std::int32_t group : view(groups)) fine = fine && group < size;
    require(fine, "a group must be less than the number of groups");
    const auto groups_there = static_cast<std::size_t>(size);
    std::vector<std::int64_t> out;
    {
        const nb::gil_scoped_release released;
        out = fraction_parts(view(values), view(groups), groups_there, scale);
    }
    return array(std::move(out), {2, groups_there});
}

}  // namespace

void bind_sums(nanobind::module_& m) {
    m.def("fraction_parts", &bound_fraction_parts, "values"_a, "groups"_a, "size"_a, "scale"_a = 1.0);
}
