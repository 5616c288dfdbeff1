// What is asked of a text that was read before: keys that occur twice in one object (plain readers keep the last value and
// lose the others in silence), and how deep it nests.
#pragma once

#include "json_text.hpp"

namespace calque::json {

// Whether any object in a JSON text has a key twice. The text was read before: only strings are looked at closely.
bool repeats_a_key(const Text& text);

// Whether a JSON text nests its values more than so many levels deep; brackets within strings do not count.
bool nests_beyond(const Text& text, std::int64_t levels);

}  // namespace calque::json
