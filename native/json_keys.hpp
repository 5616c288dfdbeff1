// What is asked of a text that was read before: keys that occur twice in one object (plain readers keep the last value and
// lose the others in silence), and how deep it nests.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "json_text.hpp"

namespace calque::json {

// Whether any object in a JSON text has a key twice. The text was read before: only strings are looked at closely.
bool repeats_a_key(const Text& text);

// Whether a JSON text nests its values more than so many levels deep; brackets within strings do not count.
bool nests_beyond(const Text& text, std::int64_t levels);

// What stands under a key of a record: nothing, a text or a whole number.
using RecordId = std::variant<std::monostate, std::string, std::int64_t>;

// Reads what stands under some keys of a JSON object, in one look at all of it; false for a text that is no object, repeats
// a key, nests beyond so many levels, or has something else under one of the keys.
bool record_ids(Text& text, const std::vector<std::string>& keys, std::int64_t levels, std::vector<RecordId>& ids);

}  // namespace calque::json
