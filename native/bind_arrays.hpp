// What every binding needs: arrays from Python as spans, vectors to Python as arrays, and checks of what comes in.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
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
