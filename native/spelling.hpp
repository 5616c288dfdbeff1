// Numbers as Python spells them.
#pragma once

#include <string>

namespace calque {

// Appends the shortest text that reads back as the same number, as repr does; the number must be finite.
void spell(double value, std::string& text);

}  // namespace calque
