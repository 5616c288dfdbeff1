// Walking the members of one object, such as the top level of a file.
#pragma once

#include <string>
#include <string_view>

#include "json_skip.hpp"
#include "json_string.hpp"

namespace calque::json {

// Calls `read(key, key_at, p)` for each member, with `p` at its value; it returns where the value ends, or null to stop the walk.
// Returns the byte after the object, or null when the walk was stopped.
template <class Read>
const char* walk_object(Text& text, const char* p, Read&& read) {
  if (*p != '{') text.fail_expecting(p, "an object");
  p = skip_space(text, p + 1);
  if (*p == '}') return p + 1;
  std::string scratch;
  for (;;) {
    const char* const key_at = p;
    if (*p != '"') text.fail_expecting(p, "a key");
    std::string_view key;
    p = skip_space(text, read_string(text, p, scratch, key));
    if (*p != ':') text.fail_expecting(p, "':'");
    p = read(key, key_at, skip_space(text, p + 1));
    if (p == nullptr) return nullptr;
    p = skip_space(text, p);
    if (*p == '}') return p + 1;
    if (*p != ',') text.fail_expecting(p, "',' or '}'");
    p = skip_space(text, p + 1);
  }
}

}  // namespace calque::json
