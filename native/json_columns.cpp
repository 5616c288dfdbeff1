// Interning names, and turning integer ids into named ones.
#include "json_columns.hpp"

#include <algorithm>

namespace calque::json {
namespace {

std::uint64_t mix(std::uint64_t a) {
  a ^= a >> 32;
  a *= 0xD6E8FEB86659FD93U;
  a ^= a >> 32;
  a *= 0xD6E8FEB86659FD93U;
  return a ^ (a >> 32);
}

std::uint64_t hash_of(std::string_view bytes, bool is_integer) {
  std::uint64_t hash = mix(bytes.size() * 2 + is_integer);
  const char* p = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; p += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    hash = mix(hash ^ word);
  }
  std::uint64_t word = 0;
  if (left != 0) std::memcpy(&word, p, left);
  return mix(hash ^ word);
}

}  // namespace

std::int32_t Names::code_of(std::string_view bytes, bool is_integer) {
  const auto same = [&](std::int32_t code) {
    const auto i = static_cast<std::size_t>(code);
    return this->is_integer(i) == is_integer && values_[i] == bytes;
  };
  if (last_ >= 0 && same(last_)) return last_;
  if ((size() + 1) * 2 > slots_.size()) rebuild();
  const std::uint64_t hash = hash_of(bytes, is_integer);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const std::int32_t code = slots_[slot];
    if (code < 0) {
      if (size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) return -1;
      last_ = slots_[slot] = static_cast<std::int32_t>(size());
      values_.push(bytes);
      integer_.push(is_integer);
      hashes_.push(hash);
      return last_;
    }
    if (hashes_[static_cast<std::size_t>(code)] == hash && same(code)) return last_ = code;
  }
}

void Names::rebuild() {
  slots_.assign(std::max<std::size_t>(64, slots_.size() * 2), -1);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < size(); ++i) {
    std::size_t slot = hashes_[i] & mask;
    while (slots_[slot] >= 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::int32_t>(i);
  }
}

const char* IdColumn::read_named(const Text& text, const char* p, std::string& scratch) {
  if (named_ == nullptr) {
    named_ = std::make_unique<NameColumn>();
    for (std::size_t i = 0; i < integers_.size(); ++i) {
      named_->push_code(text, p, named_->names.code_of(integers_[i]));
    }
    integers_ = Column<std::int64_t>();
  }
  if (*p == '"') {
    std::string_view value;
    const char* const after = read_string(text, p, scratch, value);
    named_->push(text, p, value);
    return after;
  }
  std::int64_t value = 0;
  const char* const after = read_integer(text, p, value);
  named_->push_code(text, p, named_->names.code_of(value));
  return after;
}

}  // namespace calque::json
