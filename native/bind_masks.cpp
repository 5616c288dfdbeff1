// Python's view of the mask kernels: checks what it is given, lets go of the GIL, hands over arrays without a copy.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <string>

#include "bind_arrays.hpp"
#include "masks_tables.hpp"

using namespace nanobind::literals;

namespace {

using namespace calque;

using Places = nb::ndarray<const std::int32_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using Vertices = nb::ndarray<const double, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using Pixels = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = Column<std::int64_t>;

static_assert(sizeof(Interval) == 2 * sizeof(std::int32_t), "a row of two places is read as an interval");

MaskTable<char> letters(const Column<std::uint8_t>& data, const Numbers& offsets) {
    check_offsets("offsets", view(offsets), data.shape(0), "characters");
    return {{reinterpret_cast<const char*>(data.data()), data.shape(0)}, view(offsets)};
}

MaskTable<std::int64_t> run_table(const Numbers& runs, const Numbers& offsets) {
    check_offsets("offsets", view(offsets), runs.shape(0), "runs");
    return {view(runs), view(offsets)};
}

MaskTable<Interval> interval_table(const std::string& name, const Places& intervals, const Numbers& offsets) {
    check_offsets(name, view(offsets), intervals.shape(0), "intervals");
    bool fine = true;
    for (std::size_t i = 0; i < intervals.shape(0); ++i)
        fine = fine && 0 <= intervals.data()[2 * i] && intervals.data()[2 * i] <= intervals.data()[2 * i + 1];
    require(fine, "an interval must begin at 0 or after it, and not end before it begins");
    return {{reinterpret_cast<const Interval*>(intervals.data()), intervals.shape(0)}, view(offsets)};
}

void check_places(const Numbers& places, std::size_t masks) {
    bool fine = places.shape(0) == masks;
    for (const std::int64_t count : view(places)) fine = fine && count >= 0 && count < most_places;
    require(fine, "places must have a number from 0 to 2147483647 for each mask");
}

template <class Row>
auto made(MadeMasks<Row>&& masks) {
    return std::tuple{array(std::move(masks.rows)), array(std::move(masks.offsets)), array(std::move(masks.faults))};
}

Array<std::int32_t> interval_array(std::vector<Interval>&& intervals) {
    auto* kept = new std::vector<Interval>(std::move(intervals));
    nb::capsule owner(kept, [](void* held) noexcept { delete static_cast<std::vector<Interval>*>(held); });
    return Array<std::int32_t>(reinterpret_cast<std::int32_t*>(kept->data()), {kept->size(), 2}, owner);
}

auto made_intervals(MadeMasks<Interval>&& masks) {
    return std::tuple{interval_array(std::move(masks.rows)), array(std::move(masks.offsets)), array(std::move(masks.faults))};
}

auto bound_runs(const Column<std::uint8_t>& counts, const Numbers& offsets, int jobs) {
    const MaskTable<char> given = letters(counts, offsets);
    MadeMasks<std::int64_t> out;
    {
        const nb::gil_scoped_release released;
        out = masks_read(given, jobs);
    }
    return made(std::move(out));
}

auto bound_counts(const Numbers& runs, const Numbers& offsets) {
    const MaskTable<std::int64_t> given = run_table(runs, offsets);
    MadeMasks<char> out;
    {
        const nb::gil_scoped_release released;
        out = masks_written(given);
    }
    std::vector<std::uint8_t> text(out.rows.begin(), out.rows.end());
    return std::tuple{array(std::move(text)), array(std::move(out.offsets))};
}

auto bound_of_counts(const Column<std::uint8_t>& counts, const Numbers& offsets, const Numbers& places, int jobs) {
    const MaskTable<char> given = letters(counts, offsets);
    check_places(places, given.count());
    MadeMasks<Interval> out;
    {
        const nb::gil_scoped_release released;
        out = masks_of_counts(given, view(places), jobs);
    }
    return made_intervals(std::move(out));
}

auto bound_canonical(const Column<std::uint8_t>& counts, const Numbers& offsets, const Numbers& places) {
    const MaskTable<char> given = letters(counts, offsets);
    check_places(places, given.count());
    std::vector<std::uint8_t> flags(given.count());
    {
        const nb::gil_scoped_release released;
        for (std::size_t mask = 0; mask < flags.size(); ++mask)
            flags[mask] = is_canonical({given[mask].data(), given[mask].size()}, places.data()[mask]);
    }
    return array(std::move(flags));
}

auto bound_of_runs(const Numbers& runs, const Numbers& offsets, const Numbers& places) {
    const MaskTable<std::int64_t> given = run_table(runs, offsets);
    check_places(places, given.count());
    MadeMasks<Interval> out;
    {
        const nb::gil_scoped_release released;
        out = masks_of_runs(given, view(places));
    }
    return made_intervals(std::move(out));
}

auto bound_to_runs(const Places& intervals, const Numbers& offsets, const Numbers& places) {
    const MaskTable<Interval> given = interval_table("offsets", intervals, offsets);
    check_places(places, given.count());
    MadeMasks<std::int64_t> out;
    {
        const nb::gil_scoped_release released;
        out = runs_of_masks(given, view(places));
    }
    return std::tuple{array(std::move(out.rows)), array(std::move(out.offsets))};
}

auto bound_of_rings(const Vertices& points, const Numbers& ring_offsets, const Numbers& mask_offsets, const Numbers& heights,
                    const Numbers& widths, int jobs) {
    check_offsets("ring_offsets", view(ring_offsets), points.shape(0), "points");
    check_offsets("mask_offsets", view(mask_offsets), ring_offsets.shape(0) - 1, "rings");
    const std::size_t masks = mask_offsets.shape(0) - 1;
    bool fine = heights.shape(0) == masks && widths.shape(0) == masks;
    for (std::size_t i = 0; fine && i < masks; ++i) {
        const std::int64_t height = heights.data()[i], width = widths.data()[i];
        fine = height >= 0 && width >= 0 && height < most_places && width < most_places && height * width < most_places;
    }
    require(fine, "heights and widths must have a page of fewer than 2147483648 pixels for each mask");
    const Rings rings{{reinterpret_cast<const Point*>(points.data()), points.shape(0)}, view(ring_offsets)};
    MadeMasks<Interval> out;
    {
        const nb::gil_scoped_release released;
        out = masks_of_rings(rings, view(mask_offsets), view(heights), view(widths), jobs);
    }
    return made_intervals(std::move(out));
}

auto bound_of_pixels(const Pixels& pixels) {
    const std::size_t masks = pixels.shape(0), places = pixels.shape(1);
    MadeMasks<std::int64_t> out;
    {
        const nb::gil_scoped_release released;
        out = runs_of_pixels({pixels.data(), masks * places}, masks, places);
    }
    return std::tuple{array(std::move(out.rows)), array(std::move(out.offsets))};
}

auto bound_areas(const Places& intervals, const Numbers& offsets) {
    const MaskTable<Interval> given = interval_table("offsets", intervals, offsets);
    std::vector<std::int64_t> areas(given.count());
    for (std::size_t mask = 0; mask < areas.size(); ++mask) areas[mask] = mask_area(given[mask]);
    return array(std::move(areas));
}

auto bound_bounds(const Places& intervals, const Numbers& offsets, const Numbers& heights) {
    const MaskTable<Interval> given = interval_table("offsets", intervals, offsets);
    bool fine = heights.shape(0) == given.count();
    for (const std::int64_t height : view(heights)) fine = fine && height >= 0;
    require(fine, "heights must have a number from 0 on for each mask");
    std::vector<std::int32_t> bounds(4 * given.count());
    for (std::size_t mask = 0; mask < given.count(); ++mask) {
        const PixelBounds box = mask_bounds(given[mask], heights.data()[mask]);
        const std::int32_t numbers[4] = {box.left, box.top, box.width, box.height};
        std::copy_n(numbers, 4, bounds.begin() + static_cast<std::ptrdiff_t>(4 * mask));
    }
    const std::size_t masks = given.count();
    return array(std::move(bounds), {masks, 4});
}

void check_index(const std::string& name, const Numbers& index, std::size_t count) {
    for (const std::int64_t mask : view(index))
        require(mask >= 0 && static_cast<std::size_t>(mask) < count, name + " names a mask that does not exist");
}

auto bound_overlaps(const Places& first_intervals, const Numbers& first_offsets, const Places& second_intervals,
                    const Numbers& second_offsets, const Numbers& first_index, const Numbers& second_index, int jobs) {
    const MaskTable<Interval> first = interval_table("first_offsets", first_intervals, first_offsets);
    const MaskTable<Interval> second = interval_table("second_offsets", second_intervals, second_offsets);
    require(first_index.shape(0) == second_index.shape(0), "both indices must have the same length");
    check_index("first_index", first_index, first.count());
    check_index("second_index", second_index, second.count());
    std::vector<std::int64_t> shared;
    {
        const nb::gil_scoped_release released;
        shared = overlaps_of_masks(first, second, view(first_index), view(second_index), jobs);
    }
    return array(std::move(shared));
}

}  // namespace

void bind_masks(nb::module_& m) {
    m.def("mask_runs", &bound_runs, "counts"_a, "offsets"_a, "jobs"_a = 1);
    m.def("mask_counts", &bound_counts, "runs"_a, "offsets"_a);
    m.def("masks_of_counts", &bound_of_counts, "counts"_a, "offsets"_a, "places"_a, "jobs"_a = 1);
    m.def("mask_canonical", &bound_canonical, "counts"_a, "offsets"_a, "places"_a);
    m.def("masks_of_runs", &bound_of_runs, "runs"_a, "offsets"_a, "places"_a);
    m.def("runs_of_masks", &bound_to_runs, "intervals"_a, "offsets"_a, "places"_a);
    m.def("masks_of_rings", &bound_of_rings, "points"_a, "ring_offsets"_a, "mask_offsets"_a, "heights"_a, "widths"_a,
          "jobs"_a = 1);
    m.def("runs_of_pixels", &bound_of_pixels, "pixels"_a);
    m.def("mask_areas", &bound_areas, "intervals"_a, "offsets"_a);
    m.def("mask_bounds", &bound_bounds, "intervals"_a, "offsets"_a, "heights"_a);
    m.def("mask_overlaps", &bound_overlaps, "first_intervals"_a, "first_offsets"_a, "second_intervals"_a, "second_offsets"_a,
          "first_index"_a, "second_index"_a, "jobs"_a = 1);
}
