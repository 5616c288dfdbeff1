// Which of <charconv>'s functions for doubles the standard library has: they came late, and one by one.
#pragma once

#include <version>

// The build finds out. Without it the source takes the library's own word, which is given for both together.
#if defined(__cpp_lib_to_chars)
#define CALQUE_CHARCONV_ANNOUNCED 1
#else
#define CALQUE_CHARCONV_ANNOUNCED 0
#endif

#if !defined(CALQUE_HAS_FROM_CHARS)
#define CALQUE_HAS_FROM_CHARS CALQUE_CHARCONV_ANNOUNCED
#endif
#if !defined(CALQUE_HAS_TO_CHARS)
#define CALQUE_HAS_TO_CHARS CALQUE_CHARCONV_ANNOUNCED
#endif
