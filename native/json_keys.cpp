// One pass over brackets, commas and strings; the keys of open objects stand on a stack.
#include "json_keys.hpp"

#include <algorithm>
#include <deque>
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

// Whether a key occurs twice in an object.
bool repeats(const Text& text) {
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

// One look at a value that nobody reads: checked as `skip_value` does, and for keys that come again and for its depth.
class Look {
 public:
  Look(Text& text, std::int64_t levels) : text_(text), most_(levels) {}

  const char* value(const char* p, std::int64_t depth) {
    if (*p == '"') return string(p);
    if (*p == '{') return object(p, depth + 1, [&](const char* at, std::string_view) { return value(at, depth + 1); });
    if (*p == '[') return list(p, depth + 1);
    return skip_value(text_, p);
  }


  // Calls `take` with the place of each value and its key; it returns the place after the value.
  template <class Take>
  const char* object(const char* p, std::int64_t depth, Take take) {
    deeper(p, depth);
    const auto first = static_cast<std::ptrdiff_t>(keys_.size());
    p = skip_space(text_, p + 1);
    if (*p == '}') return p + 1;
    for (;;) {
      std::string_view key;
      if (*p != '"') text_.fail_expecting(p, "a key");
      p = skip_space(text_, read_string(text_, p, scratch_, key));
      if (key.data() == scratch_.data()) key = unescaped_.emplace_back(key);
      keys_.push_back(key);
      if (*p != ':') text_.fail_expecting(p, "':'");
      p = skip_space(text_, take(skip_space(text_, p + 1), key));
      if (*p == '}') break;
      if (*p != ',') text_.fail_expecting(p, "',' or '}'");
      p = skip_space(text_, p + 1);
    }
    if (has_equal_ones(keys_.begin() + first, keys_.end())) text_.fail(p, "a key that comes again");
    keys_.erase(keys_.begin() + first, keys_.end());
    return p + 1;
  }

 private:
  void deeper(const char* p, std::int64_t depth) const {
    if (depth > most_) text_.fail(p, "nested too deeply");
  }

  const char* string(const char* p) const {
    const char* const end = skip_plain(text_, p + 1);
    return *end == '"' ? end + 1 : skip_string(text_, p);
  }

  // Past a number of a list, most often a whole one of some digits, or any other value.
  const char* element(const char* p, std::int64_t depth) {
    const unsigned digits = count_digits(load8(text_, p));
    if (digits > 0 && digits < 8 && (p[digits] == ',' || p[digits] == ']') && (*p != '0' || digits == 1)) return p + digits;
    return value(p, depth);
  }

  const char* list(const char* p, std::int64_t depth) {
    deeper(p, depth);
    p = skip_space(text_, p + 1);
    if (*p == ']') return p + 1;
    for (;;) {
      p = skip_space(text_, element(p, depth));
      if (*p == ']') return p + 1;
      if (*p != ',') text_.fail_expecting(p, "',' or ']'");
      p = skip_space(text_, p + 1);
    }
  }

  Text& text_;
  std::int64_t most_;
  Keys keys_;
  std::deque<std::string> unescaped_;  // does not move what it holds
  std::string scratch_;
};

constexpr std::int64_t deepest = 1000;  // as `skip_value`

}  // namespace

bool repeats_a_key(const Text& text) { return repeats(text); }

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

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\n\r\v\f") == std::string_view::npos; }

namespace {

// Reads what stands under the keys of an object. The next line is no part of this one, and may be looked at by mistake.
bool read_ids(Text& text, const std::vector<std::string>& keys, std::int64_t levels, std::vector<RecordId>& ids) {
  ids.assign(keys.size(), RecordId{});
  std::string scratch;
  Look look(text, std::min(levels, deepest));
  const char* p = skip_space(text, text.begin);
  if (*p != '{') return false;
  p = look.object(p, 1, [&](const char* at, std::string_view key) {
    const auto known = std::find(keys.begin(), keys.end(), key);
    if (known == keys.end()) return look.value(at, 1);
    RecordId& id = ids[static_cast<std::size_t>(known - keys.begin())];
    if (*at == '"') {
      std::string_view value;
      at = read_string(text, at, scratch, value);
      id = std::string(value);
    } else {
      std::int64_t value = 0;
      at = read_integer(text, at, value);
      id = value;
    }
    return at;
  });
  return p <= text.end && skip_space(text, p) >= text.end;
}

}  // namespace

std::int64_t record_lines(std::string_view text, const std::vector<std::string>& keys, std::int64_t levels,
                          std::vector<RecordLine>& lines) {
  std::int64_t number = 0;
  for (std::size_t start = 0; start < text.size(); ++number) {
    const std::size_t end = text.find('\n', start);
    const std::string_view line = text.substr(start, end == std::string_view::npos ? end : end + 1 - start);
    if (!is_blank(line)) {
      lines.push_back({number, static_cast<std::int64_t>(start), static_cast<std::int64_t>(line.size()), false, {}});
      auto& made = lines.back();
      Text here(line.data(), line.size());
      try {
        made.plain = read_ids(here, keys, levels, made.ids);
      } catch (const ScanFailure&) {
        made.plain = false;
      }
    }
    start += line.size();
  }
  return number;
}

}  // namespace calque::json
