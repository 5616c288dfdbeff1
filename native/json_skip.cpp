// A pushdown automaton over one bit per level: no recursion, whatever the file nests.
#include "json_skip.hpp"

#include <bitset>

#include "json_number.hpp"
#include "json_string.hpp"

namespace calque::json {
namespace {

constexpr std::size_t kMaxDepth = 1000;

const char* skip_word(const Text& text, const char* p, const char* word) {
  const char* after = past_word(p, word);
  if (after == nullptr) text.fail_expecting(p, "a value");
  return after;
}

const char* skip_scalar(const Text& text, const char* p) {
  switch (*p) {
    case '"': return skip_string(text, p);
    case 't': return skip_word(text, p, "true");
    case 'f': return skip_word(text, p, "false");
    case 'n': return skip_word(text, p, "null");
    case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
    case 'N': case 'I': return skip_number(text, p);
    default: text.fail_expecting(p, "a value");
  }
}

// From a key to the value it names.
const char* skip_key(const Text& text, const char* p) {
  if (*p != '"') text.fail_expecting(p, "a key");
  p = skip_space(text, skip_string(text, p));
  if (*p != ':') text.fail_expecting(p, "':'");
  return skip_space(text, p + 1);
}

// The levels of containers around the current value.
class Nest {
 public:
  explicit Nest(Text& text) : text_(text) {}

  bool empty() const { return depth_ == 0; }
  bool in_object() const { return objects_[depth_ - 1]; }
  void leave() { --depth_; }

  // From an opening bracket to the first value in it, or past an empty container (then `inside` is false).
  const char* enter(const char* p, bool& inside) {
    if (depth_ == kMaxDepth) text_.fail(p, "nested too deeply");
    const bool object = *p == '{';
    const char* const next = skip_space(text_, p + 1);
    inside = *next != (object ? '}' : ']');
    if (!inside) return next + 1;
    objects_[depth_++] = object;
    return object ? skip_key(text_, next) : next;
  }

 private:
  Text& text_;
  std::bitset<kMaxDepth> objects_;
  std::size_t depth_ = 0;
};

// The bulk of segmentations: numbers and commas. Stops after the last number that a comma does not follow.
const char* skip_number_list(Text& text, const char* p) {
  for (;;) {
    text.beat(p);
    p = skip_number(text, p);
    const char* next = skip_space(text, p);
    if (*next != ',') return p;
    next = skip_space(text, next + 1);
    if (*next != '-' && (*next < '0' || *next > '9')) return p;  // the caller sees the comma again
    p = next;
  }
}

}  // namespace

const char* skip_value(Text& text, const char* p) {
  if (*p != '{' && *p != '[') return skip_scalar(text, p);
  Nest nest(text);
  for (;;) {
    text.beat(p);
    if (*p == '{' || *p == '[') {
      bool inside = false;
      p = nest.enter(p, inside);
      if (inside) continue;
    } else if (!nest.in_object() && (*p == '-' || (*p >= '0' && *p <= '9'))) {
      p = skip_number_list(text, p);
    } else {
      p = skip_scalar(text, p);
    }
    // After a value: leave what ends here, then go on to the next value.
    for (;;) {
      if (nest.empty()) return p;
      p = skip_space(text, p);
      if (*p == ',') break;
      if (*p != (nest.in_object() ? '}' : ']')) text.fail_expecting(p, nest.in_object() ? "',' or '}'" : "',' or ']'");
      nest.leave();
      ++p;
    }
    p = skip_space(text, p + 1);
    if (nest.in_object()) p = skip_key(text, p);
  }
}

}  // namespace calque::json
