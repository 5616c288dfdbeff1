// Columns and tables that kernels take and return.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace calque {

// Zeros from calloc: large blocks are zero already, so the thread that fills a row is the first to touch it.
template <class T>
class Rows {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    using value_type = T;

    Rows() = default;
    explicit Rows(std::size_t size) : data_(static_cast<T*>(std::calloc(std::max<std::size_t>(size, 1), sizeof(T)))), size_(size) {
        if (data_ == nullptr) throw std::bad_alloc();
    }
    Rows(std::size_t size, T value) : Rows(size) { std::fill_n(data_, size, value); }
    Rows(Rows&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Rows& operator=(Rows&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Rows() { std::free(data_); }

    std::size_t size() const { return size_; }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    T& operator[](std::size_t at) { return data_[at]; }
    const T& operator[](std::size_t at) const { return data_[at]; }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

// A result with more than one dimension: Rows or std::vector, row by row.
template <class Values>
struct Shaped : Values {
    using Values::Values;
    std::vector<std::size_t> shape;
};

// A table that is given, row by row.
template <class T>
struct Matrix {
    std::span<const T> values;
    std::size_t rows = 0, columns = 0;
};

// One column of a table of masks that is given.
struct StridedMasks {
    const std::uint16_t* first = nullptr;
    std::int64_t step = 0;

    std::uint16_t operator[](std::int32_t row) const { return first[row * step]; }
};

}  // namespace calque
