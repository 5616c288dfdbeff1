// The rare shapes of JSON numbers: literals, exponents, very many digits.
#include "json_number.hpp"

#include <cmath>
#include <limits>

#include "json_double.hpp"

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

double convert_rare(const Text& text, const Decimal& decimal) {
  const std::int64_t length = decimal.after - decimal.start - decimal.negative;
  const double value = nearest_double(decimal.start, decimal.after);
  if (decimal.integer) {
    // Python reads such an integer exactly and then cannot make it a float.
    if (std::isinf(value)) text.fail(decimal.start, "integer beyond the range of a float");
    if (length > kMaxIntegerDigits) text.fail(decimal.start, "integer with too many digits");
  }
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
