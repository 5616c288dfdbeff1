// JSON numbers to doubles and integers, to the bit as Python's float() and int() read the same literal.
#pragma once

#include <array>
#include <cstdint>

#include "json_text.hpp"

namespace calque::json {

// Python refuses longer integer literals (sys.int_info.default_max_str_digits), whoever skips them.
inline constexpr std::ptrdiff_t kMaxIntegerDigits = 4300;

inline constexpr std::array<std::uint64_t, 20> kPowersOfTen = [] {
  std::array<std::uint64_t, 20> powers{};
  std::uint64_t power = 1;
  for (auto& entry : powers) {
    entry = power;
    power *= 10;  // the last product wraps and is not stored
  }
  return powers;
}();

// The digits at the front of eight characters: how many, and the number they write.
struct DigitRun {
  std::uint64_t value;
  unsigned count;
};

inline unsigned count_digits(std::uint64_t word) {
  const std::uint64_t digits = word ^ 0x3030303030303030U;
  // A carry out of a byte can only spoil later bytes, and the first non-digit is all that counts.
  const std::uint64_t other = ((digits + 0x7676767676767676U) | digits) & 0x8080808080808080U;
  return static_cast<unsigned>(std::countr_zero(other)) >> 3;  // countr_zero(0) is 64: eight digits
}

inline DigitRun digit_run(std::uint64_t word) {
  const unsigned count = count_digits(word);
  if (count == 0) [[unlikely]] return {0, 0};
  // Move the digits to the end, zeros before them, and add neighbours up: 8 ones, 4 pairs, 2 fours, 1 eight.
  std::uint64_t digits = (word ^ 0x3030303030303030U) << (64 - 8 * count);
  digits = (digits * 10) + (digits >> 8);
  digits = (((digits & 0x000000FF000000FFU) * 0x000F424000000064U) +
            (((digits >> 16) & 0x000000FF000000FFU) * 0x0000271000000001U)) >> 32;
  return {digits, count};
}

// A number as it is written: sign, decimal mantissa (modulo 2^64) and where it ends.
struct Decimal {
  const char* start;
  const char* after;
  std::uint64_t mantissa;
  std::int64_t digits;    // significant digits, at most (zeros after the point count)
  std::int64_t exponent;  // decimal
  bool negative;
  bool integer;  // neither point nor exponent
};

// Slow and rare: literals (NaN, Infinity), exponents, more than 19 digits.
double convert_rare(const Text& text, const Decimal& decimal);
double read_literal(const Text& text, const char* p, const char** after);
const char* read_exponent(const Text& text, const char* p, Decimal& decimal);

#if defined(__SIZEOF_INT128__)
__extension__ typedef unsigned __int128 Wide;

// mantissa / 10^places, correctly rounded: one long division that keeps 62 bits or more, and the remainder to break ties.
inline double divide_exactly(std::uint64_t mantissa, unsigned places) {
  const std::uint64_t power = kPowersOfTen[places];
  const int left = std::countl_zero(mantissa);
  const int right = std::countl_zero(power);
  const std::uint64_t divisor = power << right;
  const Wide numerator = static_cast<Wide>(mantissa << left) << 63;
  const auto quotient = static_cast<std::uint64_t>(numerator / divisor);
  const std::uint64_t remainder = static_cast<std::uint64_t>(numerator) - quotient * divisor;
  const int surplus = 11 - std::countl_zero(quotient);  // bits beyond the 53 of a double
  const std::uint64_t tail = quotient & ((std::uint64_t{1} << surplus) - 1);
  const std::uint64_t half = std::uint64_t{1} << (surplus - 1);
  std::uint64_t kept = quotient >> surplus;
  if (tail > half || (tail == half && (remainder != 0 || (kept & 1) != 0))) ++kept;
  const int power_of_two = surplus - 63 + right - left;
  return static_cast<double>(kept) * std::bit_cast<double>(static_cast<std::uint64_t>(1023 + power_of_two) << 52);
}
#endif

inline constexpr std::array<double, 23> kExactPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

inline double with_sign(double magnitude, bool negative) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) | static_cast<std::uint64_t>(negative) << 63);
}

inline double convert(const Text& text, const Decimal& decimal) {
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  if (decimal.digits <= 19) [[likely]] {
    // Both operands are exact doubles, so that one rounding makes the result right.
    if (decimal.mantissa <= kExact && decimal.exponent <= 0 && decimal.exponent >= -22) [[likely]] {
      return with_sign(static_cast<double>(decimal.mantissa) / kExactPowers[static_cast<std::size_t>(-decimal.exponent)], decimal.negative);
    }
#if defined(__SIZEOF_INT128__)
    if (decimal.exponent < 0 && decimal.exponent >= -19) {
      return with_sign(divide_exactly(decimal.mantissa, static_cast<unsigned>(-decimal.exponent)), decimal.negative);
    }
#endif
  }
  return convert_rare(text, decimal);
}

// Reads on over further runs of digits, when a run filled all eight characters.
inline const char* more_digits(const Text& text, const char* p, std::uint64_t& mantissa) {
  for (;;) {
    const DigitRun run = digit_run(load8(text, p));
    mantissa = mantissa * kPowersOfTen[run.count] + run.value;
    p += run.count;
    if (run.count < 8) return p;
  }
}

// The number at `p` by JSON's grammar; null when there is none (perhaps a literal).
inline const char* read_decimal(const Text& text, const char* p, Decimal& decimal) {
  decimal.start = p;
  decimal.negative = *p == '-';
  p += decimal.negative;
  const char* const whole = p;
  const DigitRun run = digit_run(load8(text, p));
  if (run.count == 0) [[unlikely]] return nullptr;
  if (*p == '0' && run.count > 1) [[unlikely]] text.fail(p, "number with a leading zero");
  decimal.mantissa = run.value;
  p += run.count;
  if (run.count == 8) [[unlikely]] p = more_digits(text, p, decimal.mantissa);
  decimal.digits = *whole == '0' ? 0 : p - whole;
  decimal.exponent = 0;
  decimal.integer = true;
  if (*p == '.') [[likely]] {
    const char* const fraction = ++p;
    const DigitRun places = digit_run(load8(text, p));
    if (places.count == 0) [[unlikely]] text.fail_expecting(p, "a digit");
    decimal.mantissa = decimal.mantissa * kPowersOfTen[places.count] + places.value;
    p += places.count;
    if (places.count == 8) p = more_digits(text, p, decimal.mantissa);
    decimal.digits += p - fraction;
    decimal.exponent = fraction - p;
    decimal.integer = false;
  }
  if ((*p | 0x20) == 'e') [[unlikely]] p = read_exponent(text, p, decimal);
  decimal.after = p;
  return p;
}

// A JSON number, or one of the literals that Python's json adds, as a double.
inline const char* read_double(const Text& text, const char* p, double& out) {
  Decimal decimal;
  const char* after = read_decimal(text, p, decimal);
  if (after == nullptr) [[unlikely]] {
    out = read_literal(text, p, &after);
    return after;
  }
  out = convert(text, decimal);
  return after;
}

// A JSON integer that fits 64 bits.
inline const char* read_integer(const Text& text, const char* p, std::int64_t& out) {
  const char* const start = p;
  const bool negative = *p == '-';
  p += negative;
  const char* const whole = p;
  const DigitRun run = digit_run(load8(text, p));
  if (run.count == 0) [[unlikely]] text.fail_expecting(start, "an integer");
  if (*p == '0' && run.count > 1) [[unlikely]] text.fail(p, "number with a leading zero");
  std::uint64_t magnitude = run.value;
  p += run.count;
  if (run.count == 8) {
    p = more_digits(text, p, magnitude);
    // 19 digits fit an unsigned 64-bit number, hence the magnitude is exact when the comparison below looks at it.
    if (p - whole > 19 || magnitude > (std::uint64_t{1} << 63) - !negative) text.fail(start, "integer beyond 64 bits");
  }
  if (*p == '.' || (*p | 0x20) == 'e') [[unlikely]] text.fail(start, "expected an integer");
  out = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  return p;
}

inline const char* skip_digits(const Text& text, const char* p) {
  for (;;) {
    const unsigned count = count_digits(load8(text, p));
    p += count;
    if (count < 8) return p;
  }
}

// Past a number or a literal NaN, Infinity, -Infinity that nobody wants.
const char* skip_number(const Text& text, const char* p);

}  // namespace calque::json
