// Memory for columns: small blocks from the heap, large ones from the system itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace calque {

// A block that grows, by moving pages instead of bytes once it is large: growing never holds the data twice, and room that
// was never written costs nothing. Throws std::bad_alloc.
void* resize_block(void* block, std::size_t old_bytes, std::size_t new_bytes);
void free_block(void* block, std::size_t bytes) noexcept;

// A block of zeros. One that is meant to stay nearly empty may be larger than memory, where the system allows that.
void* zero_block(std::size_t bytes, bool stays_empty = false);
void free_zero_block(void* block, std::size_t bytes) noexcept;

// For a process that ends soon: the heap keeps what is freed for the next arrays, up to some hundred megabytes, instead of
// giving it back and taking it anew, and is one for all threads that have not begun yet.
void keep_freed_memory();

// A column of known length, for what a kernel hands over. Zeros are not written, for memory from the system is zero already:
// the thread that fills a row is the first to touch it.
template <class T>
class Rows {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    using value_type = T;

    Rows() = default;
    explicit Rows(std::size_t size) : data_(static_cast<T*>(zero_block(size * sizeof(T)))), size_(size) {}
    Rows(std::size_t size, T value) : Rows(size) { std::fill_n(data_, size, value); }
    Rows(Rows&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Rows& operator=(Rows&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Rows() { free_zero_block(data_, size_ * sizeof(T)); }

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

}  // namespace calque
