// The rare shapes of JSON numbers: literals, exponents, very many digits.
#include "json_number.hpp"

#include <charconv>
#include <limits>
#include <system_error>

namespace calque::json {

double read_literal(const Text& text, const char* p, const char** after) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if ((*after = past_word(p, "NaN")) != nullptr) return std::numeric_limits<double>::quiet_NaN();
  if ((*after = past_word(p, "Infinity")) != nullptr) return kInfinity;
  if ((*after = past_word(p, "-Infinity")) != nullptr) return -kInfinity;
  text.fail_expecting(p, "a number");
}

const char* read_exponent(const Text& text, const char* p, Decimal& decimal) {
  ++p;
  const bool negative = *p == '-';
  if (*p == '-' || *p == '+') ++p;
  const char* const digits = p;
  std::int64_t exponent = 0;
  for (; *p >= '0' && *p <= '9'; ++p) {
    // Far beyond any double; kept small so that sums with the number of places cannot overflow.
    if (exponent < (std::int64_t{1} << 50)) exponent = exponent * 10 + (*p - '0');
  }
  if (p == digits) text.fail_expecting(p, "a digit");
  decimal.exponent += negative ? -exponent : exponent;
  decimal.integer = false;
  return p;
}

namespace {

// from_chars leaves the value alone when it is out of range: the literal itself tells which way.
double beyond_range(const Decimal& decimal) {
  std::int64_t significant = 0;
  for (const char* p = decimal.start; p < decimal.after && (*p | 0x20) != 'e'; ++p) {
    if (*p >= (significant == 0 ? '1' : '0')) ++significant;
  }
  const bool huge = significant + decimal.exponent > 0;
  const double magnitude = huge ? std::numeric_limits<double>::infinity() : 0.0;
  return decimal.negative ? -magnitude : magnitude;
}

}  // namespace

double convert_rare(const Text& text, const Decimal& decimal) {
  const std::int64_t length = decimal.after - decimal.start - decimal.negative;
  double value = 0.0;
  const auto result = std::from_chars(decimal.start, decimal.after, value);
  if (result.ec == std::errc::result_out_of_range) {
    // Python reads such an integer exactly and then cannot make it a float.
    if (decimal.integer) text.fail(decimal.start, "integer beyond the range of a float");
    return beyond_range(decimal);
  }
  if (result.ec != std::errc() || result.ptr != decimal.after) text.fail(decimal.start, "expected a number");
  if (decimal.integer && length > kMaxIntegerDigits) text.fail(decimal.start, "integer with too many digits");
  return value;
}

const char* skip_number(const Text& text, const char* p) {
  const char* const start = p;
  p += *p == '-';
  const char* const whole = p;
  p = skip_digits(text, p);
  if (p == whole) {
    const char* after = nullptr;
    read_literal(text, start, &after);
    return after;
  }
  if (*whole == '0' && p - whole > 1) text.fail(whole, "number with a leading zero");
  const std::ptrdiff_t integer_digits = p - whole;
  bool integer = true;
  if (*p == '.') {
    const char* const fraction = ++p;
    p = skip_digits(text, p);
    if (p == fraction) text.fail_expecting(p, "a digit");
    integer = false;
  }
  if ((*p | 0x20) == 'e') {
    p += p[1] == '-' || p[1] == '+' ? 2 : 1;
    const char* const exponent = p;
    p = skip_digits(text, p);
    if (p == exponent) text.fail_expecting(p, "a digit");
    integer = false;
  }
  if (integer && integer_digits > kMaxIntegerDigits) text.fail(start, "integer with too many digits");
  return p;
}

}  // namespace calque::json
