// Conversions of the record kernels, which check their arguments themselves.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace calque {

namespace nb = nanobind;

template <class T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array = nb::ndarray<nb::numpy, T>;

template <class T>
std::span<const T> view(const Column<T>& column) {
    return {column.data(), column.shape(0)};
}

inline void require(bool holds, const std::string& message) {
    if (!holds) throw std::invalid_argument(message);
}

inline void check_offsets(const std::string& name, std::span<const std::int64_t> offsets, std::size_t rows,
                          const std::string& what = "rows") {
    bool fine = !offsets.empty() && offsets.front() == 0 && offsets.back() == static_cast<std::int64_t>(rows);
    for (std::size_t i = 1; fine && i < offsets.size(); ++i) fine = offsets[i - 1] <= offsets[i];
    require(fine, name + " must rise from 0 to the number of " + what);
}

// An array that owns the values (a vector or rows); numpy itself is imported only when Python gets it.
template <class Values>
auto array(Values&& values, std::initializer_list<std::size_t> shape) {
    static_assert(std::is_rvalue_reference_v<Values&&>, "the array takes the values over");
    auto* kept = new Values(std::move(values));
    nb::capsule owner(kept, [](void* held) noexcept { delete static_cast<Values*>(held); });
    return Array<std::remove_pointer_t<decltype(kept->data())>>(kept->data(), shape, owner);
}

template <class Values>
auto array(Values&& values) {
    const std::size_t length = values.size();
    return array(std::move(values), {length});
}

}  // namespace calque

namespace calque::given {

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

CALQUE_TUPLE(TextPoints, &Struct::points, &Struct::offsets);
CALQUE_TUPLE(ItemLeaf, &Struct::truth, &Struct::found, &Struct::weight, &Struct::truth_keys, &Struct::found_keys, &Struct::texts,
             &Struct::truth_texts, &Struct::scores);
CALQUE_TUPLE(ItemRows, &Struct::truth, &Struct::heights, &Struct::found, &Struct::widths);

#undef CALQUE_TUPLE
