// Doubles are read to the bit as from_chars and strtod read them, by whichever way this build takes.
#include <bit>
#include <clocale>
#include <cmath>
#include <string>

#include "json_double.hpp"
#include "json_number.hpp"
#include "self_test.hpp"

using namespace calque::json;

namespace {

std::string digits(Random& random, std::size_t count) {
  std::string text;
  while (text.size() < count) text += static_cast<char>('0' + random.below(10));
  const std::size_t first = text.find_first_not_of('0');
  return first == std::string::npos ? "0" : text.substr(first);
}

// Some exponents are far beyond any double.
std::string exponent(Random& random) {
  const auto value = static_cast<long long>(random.below(700)) - 360;
  return (random.below(2) != 0 ? "e" : "E") + std::to_string(random.below(50) == 0 ? value * 1000 : value);
}

// An odd number of 54 bits lies half-way between two doubles; one digit more, however far behind, decides.
std::string half_way(Random& random) {
  std::string text = std::to_string((std::uint64_t{1} << 53) + (random.bits() >> 11 | 1));
  if (random.below(2) != 0) text += "." + std::string(random.below(40), '0') + (random.below(2) != 0 ? "1" : "0");
  if (random.below(2) != 0) text += random.below(2) != 0 ? "e0" : "e+7";
  return text;
}

std::string written_double(Random& random) {
  double value = std::bit_cast<double>(random.bits());
  if (!std::isfinite(value)) value = 0.5;
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, random.below(2) != 0 ? "%.17g" : "%.16e", std::fabs(value));
  return buffer;
}

std::string spelling(Random& random) {
  const std::string sign = random.below(4) == 0 ? "-" : "";
  switch (random.below(5)) {
    case 0: return sign + half_way(random);
    case 1: return sign + written_double(random);
    case 2: return sign + digits(random, 1 + random.below(25)) + "." + digits(random, 1 + random.below(25));
    case 3: return sign + "0." + std::string(random.below(330), '0') + digits(random, 1 + random.below(30));
    default: return sign + digits(random, 1 + random.below(40)) + "." + digits(random, 1 + random.below(800)) + exponent(random);
  }
}

void check(const std::string& text) {
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  const char* const first = text.c_str();
  const char* const last = first + text.size();
  const std::uint64_t expected = bits(std::strtod(first, nullptr));
  require(bits(nearest_double(first, last)) == expected, text);
#if CALQUE_HAS_FROM_CHARS && defined(CALQUE_BOTH_WAYS)
  require(bits(nearest_by_from_chars(first, last)) == bits(nearest_by_strtod(first, last)), text);
#endif
  if (text.find_first_of(".eE") == std::string::npos) return;  // the scanner refuses integers beyond the range of a float
  double value = 0.0;
  const char* const after = read_double(Text(first, text.size()), first, value);
  require(after == last && bits(value) == expected, text + " under the scanner");
}

}  // namespace

void check_numbers(std::size_t spellings) {
  for (const char* text :
       {"0e999999", "-0.0", "-0e5", "1e400", "-1e400", "1e-400", "-1e-400", "1e99999999999999999999", "1e-99999999999999999999",
        "2.2250738585072011e-308", "2.2250738585072014e-308", "4.9406564584124654e-324", "2.4703282292062327e-324",
        "2.4703282292062328e-324", "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308",
        "9007199254740993", "9007199254740993.0000000000000000000000000000000001", "123456789012345678901234567890"})
    check(text);
  check("0." + std::string(400, '0') + "1e401");
  check("1" + std::string(400, '0') + ".5e-400");
  Random random;
  for (std::size_t i = 0; i < spellings; ++i) check(spelling(random));
  // Where people write a comma, the scanner still reads a point.
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "German"}) {
    if (std::setlocale(LC_ALL, name) == nullptr) continue;
    const char text[] = "1.5e-300";
    require(nearest_double(text, text + 8) == 1.5e-300, name);
    std::setlocale(LC_ALL, "C");
  }
}
