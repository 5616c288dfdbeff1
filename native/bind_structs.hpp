// What Python gives to kernels as tuples: the structs of calque.kernels.structs, field by field in the same order.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <string>

#include "bind_arrays.hpp"

namespace calque::given {

template <class T>
using Strided = nb::ndarray<const T, nb::ndim<1>, nb::device::cpu>;
using Boxes = nb::ndarray<const double, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>;
using Ranges = nb::ndarray<const double, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

using Sizes = nb::ndarray<const std::int64_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using Vertices = nb::ndarray<const double, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

struct SharedAreas {
    Column<std::int64_t> offsets;
    Column<std::int32_t> truths;
    Column<double> areas;
};

struct RowRings {
    Vertices points;
    Column<std::int64_t> offsets;
};

struct RowMasks {
    std::string path;
    Column<std::uint8_t> text;
    Column<std::int64_t> starts, ends;
    Sizes sizes;
};

struct PageBoxes {
    Boxes boxes;
    std::string form;
    Column<std::int32_t> labels;
    Column<std::int64_t> offsets;
    Column<std::uint8_t> roles;
    std::optional<Column<double>> areas;
    std::optional<SharedAreas> shared;
    std::optional<RowRings> rings;
    std::optional<RowMasks> masks;
};

struct CocoTruths {
    Column<double> areas;
    Column<std::uint8_t> crowd;
    std::optional<Column<double>> found_areas;
};

struct CocoSettings {
    Column<double> thresholds;
    Ranges area_ranges;
    std::int64_t max_detections;
};

struct PairOverlaps {
    Column<std::int64_t> offsets;
    Column<std::int32_t> truth;
    Column<double> overlap;
    Column<double> found_areas;
};

struct ScoreOrder {
    Column<std::int32_t> order;
    Column<std::int64_t> class_offsets;
};

struct Verdicts {
    Column<std::int32_t> rank;
    Strided<std::uint16_t> matched, ignored;
};

struct KindLimits {
    double match, background, part, most;
};

struct TextPoints {
    Column<std::int32_t> points;
    Column<std::int64_t> offsets;
};

struct ItemLeaf {
    Column<std::int32_t> truth, found;
    double weight;
    std::optional<Column<double>> truth_keys, found_keys;
    std::optional<TextPoints> texts;
    std::int64_t truth_texts;
    std::optional<Column<double>> scores;
};

struct ItemRows {
    Column<std::int64_t> truth, heights, found, widths;
};

struct RowTables {
    Column<std::int64_t> tables, rows, spans;
    Column<std::int32_t> texts;
};

struct Trees {
    Column<std::int64_t> offsets;
    Column<std::int32_t> labels, texts, firsts;
};

struct Grids {
    Column<std::int32_t> slots;
    Column<std::int64_t> offsets, rows, columns;
};

struct PageOrders {
    Column<std::int64_t> blocks;
    Column<std::int32_t> listed;
    Column<std::int64_t> listed_offsets;
    Column<std::int32_t> starts, ends;
    Column<std::uint8_t> ordered;
    Column<std::int64_t> group_offsets;
};

template <class Struct, class... Fields>
bool read_tuple(nb::handle source, Struct& out, Fields Struct::*... fields) noexcept {
    if (!PyTuple_Check(source.ptr()) || PyTuple_Size(source.ptr()) != sizeof...(fields)) return false;
    Py_ssize_t place = 0;
    return (nb::try_cast(nb::handle(PyTuple_GetItem(source.ptr(), place++)), out.*fields) && ...);
}

}  // namespace calque::given

// Takes a tuple as calque::given::NAME; the fields follow in the order in which Python has them.
#define CALQUE_TUPLE(NAME, ...)                                                                                        \
    template <>                                                                                                        \
    struct nanobind::detail::type_caster<calque::given::NAME> {                                                        \
        using Struct = calque::given::NAME;                                                                            \
        NB_TYPE_CASTER(Struct, const_name("calque.kernels.structs." #NAME))                                            \
        bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {                                       \
            return calque::given::read_tuple(source, value, __VA_ARGS__);                                              \
        }                                                                                                              \
    }

CALQUE_TUPLE(SharedAreas, &Struct::offsets, &Struct::truths, &Struct::areas);
CALQUE_TUPLE(RowRings, &Struct::points, &Struct::offsets);
CALQUE_TUPLE(RowMasks, &Struct::path, &Struct::text, &Struct::starts, &Struct::ends, &Struct::sizes);
CALQUE_TUPLE(PageBoxes, &Struct::boxes, &Struct::form, &Struct::labels, &Struct::offsets, &Struct::roles, &Struct::areas,
             &Struct::shared, &Struct::rings, &Struct::masks);
CALQUE_TUPLE(CocoTruths, &Struct::areas, &Struct::crowd, &Struct::found_areas);
CALQUE_TUPLE(CocoSettings, &Struct::thresholds, &Struct::area_ranges, &Struct::max_detections);
CALQUE_TUPLE(PairOverlaps, &Struct::offsets, &Struct::truth, &Struct::overlap, &Struct::found_areas);
CALQUE_TUPLE(ScoreOrder, &Struct::order, &Struct::class_offsets);
CALQUE_TUPLE(Verdicts, &Struct::rank, &Struct::matched, &Struct::ignored);
CALQUE_TUPLE(KindLimits, &Struct::match, &Struct::background, &Struct::part, &Struct::most);
CALQUE_TUPLE(TextPoints, &Struct::points, &Struct::offsets);
CALQUE_TUPLE(ItemLeaf, &Struct::truth, &Struct::found, &Struct::weight, &Struct::truth_keys, &Struct::found_keys, &Struct::texts,
             &Struct::truth_texts, &Struct::scores);
CALQUE_TUPLE(ItemRows, &Struct::truth, &Struct::heights, &Struct::found, &Struct::widths);
CALQUE_TUPLE(RowTables, &Struct::tables, &Struct::rows, &Struct::spans, &Struct::texts);
CALQUE_TUPLE(Trees, &Struct::offsets, &Struct::labels, &Struct::texts, &Struct::firsts);
CALQUE_TUPLE(Grids, &Struct::slots, &Struct::offsets, &Struct::rows, &Struct::columns);
CALQUE_TUPLE(PageOrders, &Struct::blocks, &Struct::listed, &Struct::listed_offsets, &Struct::starts, &Struct::ends, &Struct::ordered,
             &Struct::group_offsets);

#undef CALQUE_TUPLE
