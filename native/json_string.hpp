// JSON strings: where they end, what they say, and whether they are well formed.
#pragma once

#include <string>
#include <string_view>

#include "json_text.hpp"

namespace calque::json {

// The first byte from `p` on that is a quote, a backslash, a control character or not ASCII.
inline const char* skip_plain([[maybe_unused]] const Text& text, const char* p) {
#if defined(__SSE2__)
  while (text.holds(p, 16)) {
    const __m128i chunk = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    // Signed comparison: bytes of 0x80 and more are negative, hence below the blank as control characters are.
    const __m128i odd = _mm_cmplt_epi8(chunk, _mm_set1_epi8(' '));
    const __m128i quote = _mm_cmpeq_epi8(chunk, _mm_set1_epi8('"'));
    const __m128i slash = _mm_cmpeq_epi8(chunk, _mm_set1_epi8('\\'));
    const auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(odd, quote), slash)));
    if (found != 0) return p + std::countr_zero(found);
    p += 16;
  }
#endif
  for (;; ++p) {
    const auto byte = static_cast<unsigned char>(*p);
    if (byte < ' ' || byte >= 0x80 || byte == '"' || byte == '\\') return p;
  }
}

// `p` is at the opening quote. Returns the byte after the closing one; `value` points into the text, or into `scratch`
// when there are escapes. Lone surrogates come out as Python's "surrogatepass" encodes them.
const char* read_string_rare(const Text& text, const char* p, const char* from, std::string& scratch, std::string_view& value);

inline const char* read_string(const Text& text, const char* p, std::string& scratch, std::string_view& value) {
  if (*p != '"') [[unlikely]] text.fail_expecting(p, "a string");
  const char* const stop = skip_plain(text, p + 1);
  if (*stop != '"') [[unlikely]] return read_string_rare(text, p, stop, scratch, value);
  value = std::string_view(p + 1, static_cast<std::size_t>(stop - p - 1));
  return stop + 1;
}

// Past the string at `p` (its opening quote), as strictly as reading it.
const char* skip_string(const Text& text, const char* p);

}  // namespace calque::json
