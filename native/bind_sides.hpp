// The two sides of box kernels, from what Python gives; checks that every table is whole.
#pragma once

#include <initializer_list>
#include <limits>
#include <optional>
#include <string>

#include "bind_structs.hpp"
#include "boxes_tables.hpp"

namespace calque {

static_assert(sizeof(Point) == 2 * sizeof(double), "a row of two doubles is read as a point");

template <class T>
std::span<const T> optional_view(const std::optional<Column<T>>& column) {
    return column ? view(*column) : std::span<const T>{};
}

inline void add_shapes(const std::string& name, const given::PageBoxes& given, Side& side) {
    side.areas = optional_view(given.areas);
    require(!given.areas || side.areas.size() == side.rows(), "every " + name + " row must have an area");
    if (given.rings) {
        const auto offsets = view(given.rings->offsets);
        check_offsets(name + " rings", offsets, given.rings->points.shape(0), "points");
        bool fine = offsets.size() == side.rows() + 1;
        for (std::size_t i = 1; fine && i < offsets.size(); ++i) fine = offsets[i] == offsets[i - 1] || offsets[i] - offsets[i - 1] >= 3;
        require(fine, name + " rings must have three or more points for each row, or none");
        side.rings = {{reinterpret_cast<const Point*>(given.rings->points.data()), given.rings->points.shape(0)}, offsets};
    }
    if (given.masks) {
        const given::RowMasks& masks = *given.masks;
        const auto starts = view(masks.starts), ends = view(masks.ends);
        const bool in_memory = masks.path.empty();
        const auto length = static_cast<std::int64_t>(masks.text.shape(0));
        bool fine = starts.size() == side.rows() && ends.size() == side.rows() && masks.sizes.shape(0) == side.rows();
        for (std::size_t i = 0; fine && i < starts.size(); ++i)
            fine = 0 <= starts[i] && starts[i] <= ends[i] && (!in_memory || starts[i] == ends[i] || ends[i] < length);
        fine = fine && (!in_memory || length == 0 || masks.text.data()[length - 1] == 0);
        require(fine, name + " masks must stand in their text, which ends with a NUL");
        side.masks = {masks.path, view(masks.text), starts, ends, {masks.sizes.data(), masks.sizes.size()}, true};
    }
    if (given.shared) {
        const auto offsets = view(given.shared->offsets);
        check_offsets(name + " pairs", offsets, given.shared->truths.shape(0), "pairs");
        require(offsets.size() == side.rows() + 1 && given.shared->areas.shape(0) == given.shared->truths.shape(0),
                name + " pairs must be given for each row");
        side.shared = {offsets, view(given.shared->truths), view(given.shared->areas)};
    }
}

// `other_lengths` are those of columns that belong to the same rows.
inline Side side(const std::string& name, const given::PageBoxes& given, std::initializer_list<std::size_t> other_lengths = {}) {
    const std::size_t rows = given.boxes.shape(0);
    bool fine = given.labels.shape(0) == rows && given.roles.shape(0) == rows;
    for (const std::size_t length : other_lengths) fine = fine && length == rows;
    require(fine, "every " + name + " column must have as many rows as there are " + name + " boxes");
    require(rows <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()), "too many rows");
    require(given.form == "xyxy" || given.form == "xywh", "the form of " + name + " boxes must be xyxy or xywh");
    check_offsets(name + " offsets", view(given.offsets), rows);
    Side side{{given.boxes.data(), 4 * rows}, given.form == "xywh", view(given.labels), view(given.offsets), view(given.roles),
              {}, {}, {}, {}};
    add_shapes(name, given, side);
    return side;
}

inline void check_pages(const Side& truth, const Side& found) {
    require(truth.pages() == found.pages(), "truth offsets and found offsets must have the same number of pages");
    bool fine = true;
    for (const std::int32_t row : found.shared.truths) fine = fine && row >= 0 && static_cast<std::size_t>(row) < truth.rows();
    require(fine, "a pair names a truth that does not exist");
}

}  // namespace calque
