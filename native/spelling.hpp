// Numbers as Python spells them.
#pragma once

#include <string>

#include "charconv_support.hpp"

namespace calque {

// Appends the shortest text that reads back as the same number, as repr does; the number must be finite. Not there where
// CALQUE_HAS_TO_CHARS is 0.
void spell(double value, std::string& text);

}  // namespace calque
