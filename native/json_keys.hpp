// What is asked of a text that was read before: keys that occur twice in one object (plain readers keep the last value and
// lose the others in silence), and how deep it nests.
#pragma once

#include <string>
#include <string_view>
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

// A line of a text that is not blank: its number, where it begins, and how long it is with its end.
struct RecordLine {
  std::int64_t number, start, length;
  bool plain;                 // an object that repeats no key, nests no deeper than allowed, and has fine ids
  std::vector<RecordId> ids;  // then what stands under each of the keys
};

// Whether a line has nothing but blanks, as Python's bytes.strip() sees them.
bool is_blank(std::string_view line);

// Appends those of a text; returns how many lines it has, blank ones too.
std::int64_t record_lines(std::string_view text, const std::vector<std::string>& keys, std::int64_t levels,
                          std::vector<RecordLine>& lines);

}  // namespace calque::json
