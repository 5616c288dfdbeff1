// Growing columns: numbers, strings, and ids that are integers until a string turns up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "json_number.hpp"
#include "json_string.hpp"

namespace calque::json {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Column() = default;
  Column(Column&& other) noexcept { swap(other); }
  Column& operator=(Column&& other) noexcept {
    Column moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Column() { std::free(data_); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

  // Room for `count` more, to be written before the next call.
  T* extend(std::size_t count) {
    if (capacity_ - size_ < count) [[unlikely]] grow(count);
    T* const room = data_ + size_;
    size_ += count;
    return room;
  }

  void push(T value) { *extend(1) = value; }

  void append(const T* values, std::size_t count) {
    if (count != 0) std::memcpy(extend(count), values, count * sizeof(T));
  }

  // Rows that said nothing so far get `value`.
  void pad(std::size_t rows, T value) {
    if (size_ >= rows) return;
    const std::size_t count = rows - size_;
    std::fill_n(extend(count), count, value);
  }

 private:
  void swap(Column& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  [[gnu::noinline]] void grow(std::size_t count) {
    constexpr std::size_t kMost = std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T);
    if (count > kMost / 2 - size_ / 2 || size_ > kMost / 4) throw std::bad_alloc();
    const std::size_t capacity = std::max<std::size_t>({64, capacity_ * 2, size_ + count});
    void* const grown = std::realloc(data_, capacity * sizeof(T));
    if (grown == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(grown);
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

// Strings end to end; `ends` has one entry more than there are strings.
class StringColumn {
 public:
  StringColumn() { ends.push(0); }

  std::size_t size() const { return ends.size() - 1; }
  std::string_view operator[](std::size_t i) const {
    return {bytes.data() + ends[i], static_cast<std::size_t>(ends[i + 1] - ends[i])};
  }

  void push(std::string_view value) {
    bytes.append(value.data(), value.size());
    ends.push(static_cast<std::int64_t>(bytes.size()));
  }

  void pad(std::size_t rows) { ends.pad(rows + 1, static_cast<std::int64_t>(bytes.size())); }

  Column<char> bytes;
  Column<std::int64_t> ends;
};

// A string column of which some or all rows may be absent.
struct OptionalStrings {
  void push(std::size_t row, std::string_view value) {
    strings.pad(row);
    present.pad(row, 0);
    strings.push(value);
    present.push(1);
  }

  void finish(std::size_t rows) {
    if (present.empty()) return;
    strings.pad(rows);
    present.pad(rows, 0);
  }

  bool any() const { return !present.empty(); }

  StringColumn strings;
  Column<std::uint8_t> present;
};

// Values by order of first appearance: strings, and integers as the eight bytes that hold them.
class Names {
 public:
  // -1 when there are more than a code can count.
  std::int32_t code_of(std::string_view bytes, bool is_integer);
  std::int32_t code_of(std::int64_t value) {
    return code_of({reinterpret_cast<const char*>(&value), sizeof value}, true);
  }

  std::size_t size() const { return values_.size(); }
  StringColumn& strings() { return values_; }
  std::string_view bytes(std::size_t i) const { return values_[i]; }
  bool is_integer(std::size_t i) const { return integer_[i] != 0; }
  std::int64_t integer(std::size_t i) const {
    std::int64_t value;
    std::memcpy(&value, values_[i].data(), sizeof value);
    return value;
  }

 private:
  void rebuild();

  StringColumn values_;
  Column<std::uint8_t> integer_;
  Column<std::uint64_t> hashes_;
  std::vector<std::int32_t> slots_;  // -1: free
  std::int32_t last_ = -1;           // neighbours are often alike
};

// A column of names as codes.
struct NameColumn {
  void push(const Text& text, const char* at, std::string_view value) { push_code(text, at, names.code_of(value, false)); }

  void push_code(const Text& text, const char* at, std::int32_t code) {
    if (code < 0) text.fail(at, "more than 2^31 - 1 different names");
    codes.push(code);
  }

  Column<std::int32_t> codes;
  Names names;
};

// Ids: 64-bit integers, or codes once there is a string among them.
class IdColumn {
 public:
  const char* read(const Text& text, const char* p, std::string& scratch) {
    if (*p == '"' || named_ != nullptr) [[unlikely]] return read_named(text, p, scratch);
    return read_integer(text, p, *integers_.extend(1));
  }

  std::size_t size() const { return named_ != nullptr ? named_->codes.size() : integers_.size(); }
  Column<std::int64_t>& integers() { return integers_; }
  NameColumn* named() { return named_.get(); }

 private:
  const char* read_named(const Text& text, const char* p, std::string& scratch);

  Column<std::int64_t> integers_;
  std::unique_ptr<NameColumn> named_;
};

}  // namespace calque::json
