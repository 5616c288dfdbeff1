// The text under the scanner: its bounds, its failures, and the heartbeat of a long scan.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace calque::json {

// Why a scan ended: thrown inside the scanning thread, and never out of it.
struct ScanFailure {
  std::string message;
  std::int64_t offset;
};

// The owner went away; nobody will read the columns.
struct ScanStopped {};

// Called now and then with how far the scan has come, so that its owner can stop it.
class Heartbeat {
 public:
  virtual ~Heartbeat() = default;
  virtual void reached(const char* at) = 0;
};

// A text of `size` bytes. The byte after the last one must be readable and NUL: no JSON token contains a NUL, so that
// reading one byte at a time needs no bounds checks; only wider loads do.
class Text {
 public:
  Text(const char* data, std::size_t size, Heartbeat* heartbeat = nullptr)
      : begin(data), end(data + size), heartbeat_(heartbeat), next_beat_(stride_from(data)) {}

  const char* const begin;
  const char* const end;

  [[noreturn, gnu::cold, gnu::noinline]] void fail(const char* at, std::string message) const {
    throw ScanFailure{std::move(message), at - begin};
  }

  // For a token that is none of what may stand here; the end of the text is the commonest cause in practice.
  [[noreturn, gnu::cold, gnu::noinline]] void fail_expecting(const char* at, const char* what) const {
    if (at >= end) throw ScanFailure{std::string("the text ends where ") + what + " is expected", end - begin};
    throw ScanFailure{std::string("expected ") + what, at - begin};
  }

  // Whether `count` bytes may be loaded at `p`.
  bool holds(const char* p, std::ptrdiff_t count) const { return end - p >= count; }

  // How many bytes are scanned between two calls of the heartbeat.
  static constexpr std::ptrdiff_t kStride = std::ptrdiff_t{1} << 20;

  void beat(const char* p) {
    if (p >= next_beat_) [[unlikely]] {
      if (heartbeat_ != nullptr) heartbeat_->reached(p);
      next_beat_ = stride_from(p);
    }
  }

 private:
  const char* stride_from(const char* p) const { return end - p > kStride ? p + kStride : end; }

  Heartbeat* heartbeat_;
  const char* next_beat_;
};

constexpr std::uint64_t swapped(std::uint64_t word) {
  std::uint64_t result = 0;
  for (int byte = 0; byte < 8; ++byte, word >>= 8) result = result << 8 | (word & 0xFF);
  return result;
}

// Eight bytes at `p`, the first in the lowest byte, zeros past the end of the text.
inline std::uint64_t load8(const Text& text, const char* p) {
  std::uint64_t word = 0;
  if (text.holds(p, 8)) [[likely]] {
    std::memcpy(&word, p, 8);
  } else if (p < text.end) {
    std::memcpy(&word, p, static_cast<std::size_t>(text.end - p));
  }
  if constexpr (std::endian::native == std::endian::big) word = swapped(word);
  return word;
}

[[gnu::noinline]] inline const char* skip_space_run([[maybe_unused]] const Text& text, const char* p) {
#if defined(__SSE2__)
  // Indented files: a line break followed by up to some dozens of blanks.
  while (text.holds(p, 16)) {
    const __m128i chunk = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i blank = _mm_cmpeq_epi8(chunk, _mm_set1_epi8(' '));
    const __m128i line = _mm_or_si128(_mm_cmpeq_epi8(chunk, _mm_set1_epi8('\n')), _mm_cmpeq_epi8(chunk, _mm_set1_epi8('\r')));
    const __m128i space = _mm_or_si128(_mm_or_si128(blank, line), _mm_cmpeq_epi8(chunk, _mm_set1_epi8('\t')));
    const unsigned other = ~static_cast<unsigned>(_mm_movemask_epi8(space)) & 0xFFFFU;
    if (other != 0) return p + std::countr_zero(other);
    p += 16;
  }
#endif
  while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t') ++p;
  return p;
}

inline const char* skip_space(const Text& text, const char* p) {
  if (static_cast<unsigned char>(*p) > ' ') [[likely]] return p;
  if (*p == ' ' && static_cast<unsigned char>(p[1]) > ' ') [[likely]] return p + 1;
  return skip_space_run(text, p);
}

// Past `word` if the text has it at `p`, else null.
inline const char* past_word(const char* p, const char* word) {
  while (*word != '\0') {
    if (*p++ != *word++) return nullptr;
  }
  return p;
}

}  // namespace calque::json
