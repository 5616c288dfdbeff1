// What the parts of the native self-test share: requirements, random numbers and digests that are the same everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

// Says what does not hold and ends the program.
inline void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what.c_str());
  std::exit(1);
}

// SplitMix64: the standard library's distributions differ from one library to the next.
class Random {
 public:
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t limit) { return bits() % limit; }

 private:
  std::uint64_t state_ = 1;
};

// FNV-1a over the bytes of what the kernels return.
class Digest {
 public:
  template <class Column>
  Digest& of(const Column& column) {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(column.data());
    for (std::size_t i = 0; i < column.size() * sizeof(*column.data()); ++i) hash_ = (hash_ ^ bytes[i]) * 0x100000001B3U;
    return *this;
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325U;
};

void check_numbers(std::size_t spellings);
void check_files(const std::string& folder);
void check_kernels();
