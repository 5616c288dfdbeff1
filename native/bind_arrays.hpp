// What every binding needs: arrays from Python as spans, vectors to Python as arrays, and checks of what comes in.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
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

// An array that owns the vector; numpy itself is imported only when Python gets it.
template <class T>
Array<T> array(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* held) noexcept { delete static_cast<std::vector<T>*>(held); });
    return Array<T>(kept->data(), shape, owner);
}

template <class T>
Array<T> array(std::vector<T>&& values) {
    const std::size_t length = values.size();
    return array(std::move(values), {length});
}

}  // namespace calque
