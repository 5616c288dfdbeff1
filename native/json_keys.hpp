// Keys that occur twice in one object: plain readers keep the last value and lose the others in silence.
#pragma once

#include "json_text.hpp"

namespace calque::json {

// Whether any object in a JSON text has a key twice. The text was read before: only strings are looked at closely.
bool repeats_a_key(const Text& text);

}  // namespace calque::json
