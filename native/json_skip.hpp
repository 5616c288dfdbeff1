// Values nobody reads: skipped, yet checked as Python's json would.
#pragma once

#include "json_text.hpp"

namespace calque::json {

// Past the value at `p` (blanks before it already skipped); at most 1000 levels deep.
const char* skip_value(Text& text, const char* p);

}  // namespace calque::json
