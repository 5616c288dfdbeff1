// Arrays of objects, read row by row into a table that learns how the file writes its rows.
#pragma once

#include <array>
#include <bit>
#include <string_view>

#include "json_skip.hpp"
#include "json_string.hpp"
#include "json_text.hpp"

namespace calque::json {

// The text between two values: `, "bbox": ` or `}, {"image_id": `. Writers repeat themselves to the byte, so that a gap
// that was parsed once is recognised by comparison from then on. That is sound: the same bytes in the same state of the
// grammar (after `[`, or after a value of a row) always parse the same.
class Gap {
 public:
  static constexpr std::size_t kLongest = 96;

  // Past the gap if the text at `p` is the same, else null.
  const char* match(const Text& text, const char* p) const {
    if (size_ == 0 || !text.holds(p, padded_)) [[unlikely]] return nullptr;
#if defined(__SSE2__)
    std::ptrdiff_t i = 0;
    for (; i + 16 < padded_; i += 16) {
      if (equal16(p + i, bytes_.data() + i) != 0xFFFFU) return nullptr;
    }
    if ((equal16(p + i, bytes_.data() + i) & last_) != last_) return nullptr;
    return p + size_;
#else
    return std::memcmp(p, bytes_.data(), size_) == 0 ? p + size_ : nullptr;
#endif
  }

  void learn(const char* from, const char* key_at, const char* to, int key, bool new_row) {
    const auto size = static_cast<std::size_t>(to - from);
    size_ = 0;
    if (size > kLongest) return;
    std::memcpy(bytes_.data(), from, size);
    size_ = size;
    padded_ = static_cast<std::ptrdiff_t>((size + 15) / 16 * 16);
    last_ = 0xFFFFU >> (static_cast<std::size_t>(padded_) - size);
    key_ = key;
    key_at_ = key_at - from;
    new_row_ = new_row;
  }

  int key() const { return key_; }
  bool new_row() const { return new_row_; }
  std::ptrdiff_t key_at() const { return key_at_; }

 private:
#if defined(__SSE2__)
  static unsigned equal16(const char* a, const char* b) {
    const __m128i left = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a));
    const __m128i right = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b));
    return static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(left, right)));
  }
#endif

  std::array<char, kLongest> bytes_{};
  std::size_t size_ = 0;
  std::ptrdiff_t padded_ = 0;
  unsigned last_ = 0;  // which bytes of the last sixteen count
  int key_ = 0;
  std::ptrdiff_t key_at_ = 0;
  bool new_row_ = false;
};

// The gaps of one kind of row: the first is the one after `[`, the i-th the one after a row's i-th value.
using Layout = std::array<Gap, 17>;

inline constexpr int kUnknownKey = -1;

// What a table must offer to be filled by read_rows:
//   static constexpr unsigned required        bit mask of the keys every row must have
//   static int key_of(std::string_view)       the key's number (below 32), or kUnknownKey
//   static const char* name_of(int key)
//   void unknown(const Text&, const char* key_at)                  may fail; else the value is skipped
//   const char* read(Text&, const char* p, int key)               reads a value, returns where it ends
//   void end_row(const Text&, const char* at, unsigned seen)
//   Layout layout
template <class Table>
class RowReader {
 public:
  RowReader(Text& text, Table& table) : text_(text), table_(table) {}

  // `p` is at the array's bracket; returns the byte after its end.
  const char* read(const char* p) {
    if (*p != '[') text_.fail_expecting(p, "an array");
    ++p;
    std::size_t slot = 0;
    unsigned seen = 0;
    for (;;) {
      const bool learned = slot < table_.layout.size();
      const Gap* const gap = &table_.layout[learned ? slot : 0];
      const char* value = learned ? gap->match(text_, p) : nullptr;
      int key;
      bool new_row;
      const char* key_at;
      if (value != nullptr) [[likely]] {
        value = skip_space(text_, value);  // a gap may have been learned with fewer blanks at its end
        key = gap->key();
        new_row = gap->new_row();
        key_at = p + gap->key_at();
      } else {
        const Step step = parse_gap(p, slot);
        if (step.value == nullptr) {
          if (slot != 0) end_row(p, seen);
          return step.after;
        }
        if (learned) table_.layout[slot].learn(p, step.key_at, step.value, step.key, step.new_row);
        value = step.value;
        key = step.key;
        new_row = step.new_row;
        key_at = step.key_at;
      }
      if (new_row) {
        if (slot != 0) end_row(p, seen);
        text_.beat(p);
        slot = 0;
        seen = 0;
      }
      if (key == kUnknownKey) {
        p = skip_value(text_, value);
      } else {
        const unsigned bit = 1U << key;
        if ((seen & bit) != 0) [[unlikely]] text_.fail(key_at, "duplicate key");
        seen |= bit;
        p = table_.read(text_, value, key);
      }
      ++slot;
    }
  }

 private:
  struct Step {
    const char* value;  // null: the array ends
    const char* after;  // where it ends
    const char* key_at;
    int key;
    bool new_row;
  };

  void end_row(const char* at, unsigned seen) {
    const unsigned missing = Table::required & ~seen;
    if (missing != 0) [[unlikely]] {
      text_.fail(at, std::string("missing key '") + Table::name_of(std::countr_zero(missing)) + "'");
    }
    table_.end_row(text_, at, seen);
  }

  // From the end of a value (slot > 0) or from just inside the bracket (slot 0) to the next value.
  [[gnu::noinline]] Step parse_gap(const char* p, std::size_t slot) {
    p = skip_space(text_, p);
    bool new_row = slot == 0;
    if (slot == 0) {
      if (*p == ']') return {nullptr, p + 1, nullptr, 0, false};
    } else if (*p == '}') {
      p = skip_space(text_, p + 1);
      if (*p == ']') return {nullptr, p + 1, nullptr, 0, false};
      if (*p != ',') text_.fail_expecting(p, "',' or ']'");
      p = skip_space(text_, p + 1);
      new_row = true;
    } else {
      if (*p != ',') text_.fail_expecting(p, "',' or '}'");
      p = skip_space(text_, p + 1);
    }
    if (new_row) {
      if (*p != '{') text_.fail_expecting(p, "an object");
      p = skip_space(text_, p + 1);
    }
    if (new_row && *p == '}') text_.fail(p, "empty object");  // every table has required keys
    const char* const key_at = p;
    if (*p != '"') text_.fail_expecting(p, "a key");
    std::string_view name;
    p = skip_space(text_, read_string(text_, p, scratch_, name));
    const int key = Table::key_of(name);
    if (key == kUnknownKey) table_.unknown(text_, key_at);
    if (*p != ':') text_.fail_expecting(p, "':'");
    return {skip_space(text_, p + 1), nullptr, key_at, key, new_row};
  }

  Text& text_;
  Table& table_;
  std::string scratch_;
};

// Which of `names` a key is; the tables are small and gaps are seldom parsed.
template <std::size_t N>
int find_key(const std::array<const char*, N>& names, std::string_view key) {
  for (std::size_t i = 0; i < N; ++i) {
    if (key == names[i]) return static_cast<int>(i);
  }
  return kUnknownKey;
}

}  // namespace calque::json
