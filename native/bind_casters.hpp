// Conversions between Python and the kernels: arrays to spans, named tuples to structs of spans, results to arrays.
//
// Arrays are never copied: one of another type or in another order is refused. calque.kernels.checks has checked lengths,
// offsets and indices before a kernel is called.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "boxes_tables.hpp"
#include "coco_match.hpp"
#include "columns.hpp"
#include "masks_runs.hpp"

namespace calque {

namespace nb = nanobind;

// The number type of a row of a span, and how many numbers a row has.
template <class T>
struct Numbers {
    using Number = T;
    static constexpr std::size_t width = 1;
};
template <>
struct Numbers<Point> {
    using Number = double;
    static constexpr std::size_t width = 2;
};
template <>
struct Numbers<Interval> {
    using Number = std::int32_t;
    static constexpr std::size_t width = 2;
};
template <>
struct Numbers<char> {
    using Number = std::uint8_t;
    static constexpr std::size_t width = 1;
};
static_assert(sizeof(Point) == 2 * sizeof(double) && sizeof(Interval) == 2 * sizeof(std::int32_t));

template <class T>
using Input = nb::ndarray<const typename Numbers<T>::Number, nb::c_contig, nb::device::cpu>;

// Arrays of any number of dimensions are read row by row.
template <class T>
bool load(nb::handle source, std::span<const T>& out) noexcept {
    Input<T> array;
    if (!nb::try_cast(source, array, false) || array.ndim() == 0) return false;
    constexpr std::size_t width = Numbers<T>::width;
    if (width > 1 && (array.ndim() != 2 || array.shape(1) != width)) return false;
    if (array.ndim() == 2 && array.size() < array.shape(0)) return false;  // rows without numbers
    out = {reinterpret_cast<const T*>(array.data()), array.size() / width};
    return true;
}

template <class T>
bool load(nb::handle source, Matrix<T>& out) noexcept {
    nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu> array;
    if (!nb::try_cast(source, array, false)) return false;
    out = {{array.data(), array.size()}, array.shape(0), array.shape(1)};
    return true;
}

inline bool load(nb::handle source, StridedMasks& out) noexcept {
    nb::ndarray<const std::uint16_t, nb::ndim<1>, nb::device::cpu> array;
    if (!nb::try_cast(source, array, false)) return false;
    out = {array.data(), array.stride(0)};
    return true;
}

template <class T>
    requires std::is_arithmetic_v<T>
bool load(nb::handle source, T& out) noexcept {
    return nb::try_cast(source, out);
}

// The text stays with the string.
inline bool load(nb::handle source, std::string_view& out) noexcept {
    Py_ssize_t size = 0;
    const char* const text = PyUnicode_Check(source.ptr()) ? PyUnicode_AsUTF8AndSize(source.ptr(), &size) : nullptr;
    if (text == nullptr) PyErr_Clear();
    out = {text, static_cast<std::size_t>(size)};
    return text != nullptr;
}

// A field that may be None.
template <class T>
struct Optional {
    T& value;
};
template <class T>
Optional(T&) -> Optional<T>;

template <class T>
concept Struct = requires(T value) { value.fields(); };

template <Struct T>
bool load(nb::handle source, T& out) noexcept;

template <class T>
bool load(nb::handle source, Optional<T> out) noexcept {
    return source.is_none() || load(source, out.value);
}

template <class... Fields>
bool load_fields(nb::handle source, std::tuple<Fields...> fields) noexcept {
    if (!PyTuple_Check(source.ptr()) || PyTuple_Size(source.ptr()) != sizeof...(Fields)) return false;
    Py_ssize_t place = 0;
    return std::apply([&](auto&&... field) { return (load(nb::handle(PyTuple_GetItem(source.ptr(), place++)), field) && ...); },
                      fields);
}

template <Struct T>
bool load(nb::handle source, T& out) noexcept {
    return load_fields(source, out.fields());
}

// The same fields as calque.kernels.structs.PageBoxes; the form is a string there.
inline bool load(nb::handle source, Side& out) noexcept {
    std::string_view form;
    const auto fields =
        std::tuple<std::span<const double>&, std::string_view&, std::span<const std::int32_t>&, std::span<const std::int64_t>&,
                   std::span<const std::uint8_t>&, Optional<std::span<const double>>, Optional<SharedAreas>, Optional<RowRings>,
                   Optional<RowMasks>>{out.boxes,       form,         out.labels,   out.offsets, out.roles, {out.areas},
                                       {out.shared}, {out.rings}, {out.masks}};
    if (!load_fields(source, fields)) return false;
    out.xywh = form == "xywh";
    return true;
}

inline bool load(nb::handle source, CocoTruths& out) noexcept {
    using Areas = std::span<const double>;
    return load_fields(source, std::tuple<Areas&, std::span<const std::uint8_t>&, Optional<Areas>>{out.areas, out.crowd, {out.found_areas}});
}

// Results: columns become arrays that own their memory, structs become tuples.
template <class T>
concept ResultColumn = requires(T value) {
    value.data();
    value.size();
};

template <ResultColumn Values>
auto to_python(Values&& values) {
    using Kept = std::remove_cvref_t<Values>;
    using Element = std::remove_pointer_t<decltype(values.data())>;
    using Number = typename Numbers<Element>::Number;
    auto* const kept = new Kept(std::move(values));
    nb::capsule owner(kept, [](void* held) noexcept { delete static_cast<Kept*>(held); });
    std::vector<std::size_t> shape;
    if constexpr (requires { kept->shape; })
        shape = kept->shape;
    else if constexpr (Numbers<Element>::width > 1)
        shape = {kept->size(), Numbers<Element>::width};
    else
        shape = {kept->size()};
    return nb::ndarray<nb::numpy, Number>(reinterpret_cast<Number*>(kept->data()), shape.size(), shape.data(), owner);
}

template <class T>
    requires std::is_arithmetic_v<T>
T to_python(T value) {
    return value;
}

template <Struct T>
auto to_python(T&& result);

template <class... Fields>
auto to_python(std::tuple<Fields...>&& fields) {
    return std::apply([](auto&... field) { return std::tuple{to_python(std::move(field))...}; }, fields);
}

template <Struct T>
auto to_python(T&& result) {
    return to_python(result.fields());
}

// A kernel as Python calls it: without the GIL while it runs.
template <class Result, class... Arguments>
auto kernel(Result (*function)(Arguments...)) {
    return [function](Arguments... arguments) {
        Result result = [&] {
            const nb::gil_scoped_release released;
            return function(arguments...);
        }();
        return to_python(std::move(result));
    };
}

}  // namespace calque

namespace nanobind::detail {

template <class T>
struct type_caster<std::span<const T>> {
    using Span = std::span<const T>;
    NB_TYPE_CASTER(Span, make_caster<calque::Input<T>>::Name)
    bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept { return calque::load(source, value); }
};

template <class T>
struct type_caster<calque::Matrix<T>> {
    using Matrix = calque::Matrix<T>;
    NB_TYPE_CASTER(Matrix, make_caster<calque::Input<T>>::Name)
    bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept { return calque::load(source, value); }
};

}  // namespace nanobind::detail

// Reads calque.kernels.structs.NAME as the struct TYPE.
#define CALQUE_STRUCT(TYPE, NAME)                                                                                        \
    template <>                                                                                                          \
    struct nanobind::detail::type_caster<calque::TYPE> {                                                                 \
        NB_TYPE_CASTER(calque::TYPE, const_name("calque.kernels.structs." #NAME))                                        \
        bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept { return calque::load(source, value); } \
    }
