// std::from_chars where the standard library has it for doubles (Apple's has not); else the C library's strtod, held to the C locale.
#include "json_double.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <locale.h>

#if defined(__APPLE__)
#include <xlocale.h>
#endif

namespace calque::json {

#if CALQUE_HAS_FROM_CHARS

namespace {

// from_chars leaves the value alone when it is out of range: the digits and the exponent tell which way.
double beyond_range(const char* first, const char* last) {
  const bool negative = *first == '-';
  std::int64_t before_point = 0;  // digits before the point from the first that is not 0 on; below 0: zeros after the point
  bool significant = false;
  bool fraction = false;
  const char* p = first + negative;
  for (; p < last && (*p | 0x20) != 'e'; ++p) {
    if (*p == '.') {
      fraction = true;
      continue;
    }
    significant = significant || *p != '0';
    if (!fraction && significant) ++before_point;
    if (fraction && !significant) --before_point;
  }
  std::int64_t exponent = 0;
  const bool small = p + 1 < last && p[1] == '-';
  for (; p < last; ++p) {
    const bool digit = *p >= '0' && *p <= '9';
    if (digit && exponent < (std::int64_t{1} << 50)) exponent = exponent * 10 + (*p - '0');
  }
  const bool huge = before_point + (small ? -exponent : exponent) > 0;
  const double magnitude = huge ? std::numeric_limits<double>::infinity() : 0.0;
  return negative ? -magnitude : magnitude;
}

}  // namespace

double nearest_by_from_chars(const char* first, const char* last) {
  double value = 0.0;
  const auto result = std::from_chars(first, last, value);
  return result.ec == std::errc::result_out_of_range ? beyond_range(first, last) : value;
}

double nearest_double(const char* first, const char* last) { return nearest_by_from_chars(first, last); }

#else

double nearest_double(const char* first, const char* last) { return nearest_by_strtod(first, last); }

#endif

// Out of range strtod answers with an infinity or a zero by itself.
#if CALQUE_HAS_FROM_CHARS && !defined(CALQUE_BOTH_WAYS)
// Not needed, and not every C library has it: only the comparison of the two asks for both.
#elif defined(_WIN32)

double nearest_by_strtod(const char* first, const char*) {
  static const _locale_t plain = _create_locale(LC_ALL, "C");
  return _strtod_l(first, nullptr, plain);
}

#else

double nearest_by_strtod(const char* first, const char*) {
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", static_cast<locale_t>(nullptr));
  return strtod_l(first, nullptr, plain);
}

#endif

}  // namespace calque::json
