// Whether <charconv> of the standard library reads doubles: that came late.
#pragma once

#include <version>

// The build finds out. Without it the source takes the library's own word.
#if !defined(CALQUE_HAS_FROM_CHARS)
#if defined(__cpp_lib_to_chars)
#define CALQUE_HAS_FROM_CHARS 1
#else
#define CALQUE_HAS_FROM_CHARS 0
#endif
#endif
