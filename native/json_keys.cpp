// One pass over brackets, commas and strings; the keys of open objects stand on a stack.
#include "json_keys.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "json_number.hpp"
#include "json_skip.hpp"
#include "json_string.hpp"

namespace calque::json {

namespace {

// More keys than this are sorted to find two that are equal; fewer are compared each with each.
constexpr std::ptrdiff_t few = 12;

using Keys = std::vector<std::string_view>;

bool has_equal_ones(Keys::iterator first, Keys::iterator last) {
  if (last - first > few) {
    std::sort(first, last);
    return std::adjacent_find(first, last) != last;
  }
  for (auto one = first; one != last; ++one)
    if (std::find(one + 1, last, *one) != last) return true;
  return false;
}

// Whether a key occurs twice in an object, or something is nested more than so many levels deep.
bool repeats_or_nests(const Text& text, std::size_t most) {
  struct Level {
    bool object;
    std::size_t first_key;
  };
  std::vector<Level> levels;
  Keys keys;
  std::deque<std::string> unescaped;  // does not move what it holds
  std::string scratch;
  bool key_next = false;
  for (const char* p = text.begin; p < text.end;) {
    switch (*p) {
      case '"': {
        if (!key_next) {
          p = skip_string(text, p);
          break;
        }
        std::string_view key;
        p = read_string(text, p, scratch, key);
        if (key.data() == scratch.data()) key = unescaped.emplace_back(key);
        keys.push_back(key);
        key_next = false;
        break;
      }
      case '{':
      case '[':
        key_next = *p++ == '{';
        levels.push_back({key_next, keys.size()});
        if (levels.size() > most) return true;
        break;
      case '}':
      case ']': {
        ++p;
        key_next = false;
        if (levels.empty()) break;
        const auto first = keys.begin() + static_cast<std::ptrdiff_t>(levels.back().first_key);
        if (has_equal_ones(first, keys.end())) return true;
        keys.erase(first, keys.end());
        levels.pop_back();
        break;
      }
      case ',':
        ++p;
        key_next = !levels.empty() && levels.back().object;
        break;
      default:
        ++p;
    }
  }
  return false;
}

}  // namespace

bool repeats_a_key(const Text& text) { return repeats_or_nests(text, std::numeric_limits<std::size_t>::max()); }

bool nests_beyond(const Text& text, std::int64_t levels) {
  std::int64_t depth = 0;
  for (const char* p = text.begin; p < text.end; ++p) {
    switch (*p) {
      case '"':
        while (++p < text.end && *p != '"') p += *p == '\\';
        break;
      case '{':
      case '[':
        if (++depth > levels) return true;
        break;
      case '}':
      case ']':
        --depth;
        break;
      default:
        break;
    }
  }
  return false;
}

bool record_ids(Text& text, const std::vector<std::string>& keys, std::int64_t levels, std::vector<RecordId>& ids) {
  ids.assign(keys.size(), RecordId{});
  std::string scratch;
  const char* p = skip_space(text, text.begin);
  if (*p != '{') return false;
  p = skip_space(text, p + 1);
  for (bool more = *p != '}'; more;) {
    std::string_view key;
    p = skip_space(text, read_string(text, p, scratch, key));
    if (*p != ':') return false;
    p = skip_space(text, p + 1);
    const auto known = std::find(keys.begin(), keys.end(), key);
    if (known == keys.end()) {
      p = skip_value(text, p);
    } else {
      RecordId& id = ids[static_cast<std::size_t>(known - keys.begin())];
      if (*p == '"') {
        std::string_view value;
        p = read_string(text, p, scratch, value);
        id = std::string(value);
      } else {
        std::int64_t value = 0;
        p = read_integer(text, p, value);
        id = value;
      }
    }
    p = skip_space(text, p);
    more = *p == ',';
    if (more) p = skip_space(text, p + 1);
  }
  if (*p != '}' || skip_space(text, p + 1) < text.end) return false;
  return !repeats_or_nests(text, static_cast<std::size_t>(std::max<std::int64_t>(levels, 0)));
}

}  // namespace calque::json
