// std::to_chars finds the shortest digits; Python chooses between the two notations by the size of the number.
#include "spelling.hpp"

#if CALQUE_HAS_TO_CHARS

#include <charconv>
#include <cmath>
#include <cstring>

namespace calque {

void spell(double value, std::string& text) {
    char buffer[32];
    const double size = std::fabs(value);
    const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
    const auto notation = plain ? std::chars_format::fixed : std::chars_format::scientific;
    char* const end = std::to_chars(buffer, buffer + sizeof buffer, value, notation).ptr;
    text.append(buffer, end);
    if (plain && std::memchr(buffer, '.', static_cast<std::size_t>(end - buffer)) == nullptr) text += ".0";
}

}  // namespace calque

#endif
