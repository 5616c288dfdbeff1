// The double nearest to what a decimal number spells.
#pragma once

#include <version>

// Whether <charconv> reads doubles: the build finds out, else the library says so.
#if !defined(CALQUE_HAS_FROM_CHARS)
#if defined(__cpp_lib_to_chars)
#define CALQUE_HAS_FROM_CHARS 1
#else
#define CALQUE_HAS_FROM_CHARS 0
#endif
#endif

namespace calque::json {

// Reads the JSON number that fills [first, last): exactly, ties to even, whatever the locale. Beyond the range of a double
// it is an infinity or a zero, with the number's sign. The byte at `last` must be readable and continue no number.
double nearest_double(const char* first, const char* last);

// The two ways to find it; which one nearest_double takes depends on what the standard library has. They agree to
// the bit.
double nearest_by_from_chars(const char* first, const char* last);
double nearest_by_strtod(const char* first, const char* last);

}  // namespace calque::json
