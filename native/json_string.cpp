// Strings with escapes or bytes beyond ASCII.
#include "json_string.hpp"

namespace calque::json {
namespace {

bool is_tail(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

// Past the well-formed UTF-8 sequence at `p` (a byte of 0x80 or more): no overlong forms, no surrogates, nothing over U+10FFFF.
const char* skip_sequence(const Text& text, const char* p) {
  const auto lead = static_cast<unsigned char>(*p);
  const auto second = static_cast<unsigned char>(p[1]);
  if (lead >= 0xC2 && lead <= 0xDF) {
    if (is_tail(p[1])) return p + 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = lead == 0xED ? 0x9F : 0xBF;
    if (second >= low && second <= high && is_tail(p[2])) return p + 3;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
    if (second >= low && second <= high && is_tail(p[2]) && is_tail(p[3])) return p + 4;
  }
  text.fail(p, "invalid UTF-8");
}

// Past everything that stands for itself: ends at a quote or a backslash.
const char* skip_verbatim(const Text& text, const char* p) {
  for (;;) {
    p = skip_plain(text, p);
    if (*p == '"' || *p == '\\') return p;
    if (static_cast<unsigned char>(*p) < ' ') {
      if (p == text.end) text.fail(p, "the text ends inside a string");
      text.fail(p, "control character in a string");
    }
    do {
      p = skip_sequence(text, p);
    } while (static_cast<unsigned char>(*p) >= 0x80);
  }
}

unsigned hex_unit(const Text& text, const char* p) {
  unsigned unit = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = p[i];
    unsigned digit;
    if (c >= '0' && c <= '9') digit = static_cast<unsigned>(c - '0');
    else if (c >= 'a' && c <= 'f') digit = static_cast<unsigned>(c - 'a' + 10);
    else if (c >= 'A' && c <= 'F') digit = static_cast<unsigned>(c - 'A' + 10);
    else text.fail(p, "invalid \\u escape");
    unit = unit * 16 + digit;
  }
  return unit;
}

// What an escape stands for; advances `p` (at the backslash) past it.
unsigned read_escape(const Text& text, const char*& p) {
  const char* const start = p;
  p += 2;
  switch (start[1]) {
    case '"': return '"';
    case '\\': return '\\';
    case '/': return '/';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'u': break;
    default: text.fail(start, "invalid escape");
  }
  const unsigned unit = hex_unit(text, p);
  p += 4;
  if ((unit & 0xFC00U) != 0xD800U || p[0] != '\\' || p[1] != 'u') return unit;
  const unsigned next = hex_unit(text, p + 2);
  if ((next & 0xFC00U) != 0xDC00U) return unit;
  p += 6;
  return 0x10000U + ((unit & 0x3FFU) << 10) + (next & 0x3FFU);
}

void append_utf8(std::string& out, unsigned point) {
  const auto tail = [point](unsigned shift) { return static_cast<char>(0x80U | ((point >> shift) & 0x3FU)); };
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xC0U | (point >> 6));
    out += tail(0);
  } else if (point < 0x10000) {
    out += static_cast<char>(0xE0U | (point >> 12));
    out += tail(6);
    out += tail(0);
  } else {
    out += static_cast<char>(0xF0U | (point >> 18));
    out += tail(12);
    out += tail(6);
    out += tail(0);
  }
}

}  // namespace

const char* read_string_rare(const Text& text, const char* p, const char* from, std::string& scratch, std::string_view& value) {
  const char* piece = p + 1;
  p = skip_verbatim(text, from);
  if (*p == '"') {
    value = std::string_view(piece, static_cast<std::size_t>(p - piece));
    return p + 1;
  }
  scratch.clear();
  while (*p == '\\') {
    scratch.append(piece, static_cast<std::size_t>(p - piece));
    append_utf8(scratch, read_escape(text, p));
    piece = p;
    p = skip_verbatim(text, p);
  }
  scratch.append(piece, static_cast<std::size_t>(p - piece));
  value = scratch;
  return p + 1;
}

const char* skip_string(const Text& text, const char* p) {
  p = skip_verbatim(text, p + 1);
  while (*p == '\\') {
    read_escape(text, p);
    p = skip_verbatim(text, p);
  }
  return p + 1;
}

}  // namespace calque::json
