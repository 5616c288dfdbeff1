// Reading page rows line by line; whatever is unusual is left to the exact reader.
#include "json_pages.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "json_object.hpp"
#include "json_rows.hpp"
#include "json_values.hpp"

namespace calque::json {
namespace {

enum Key { doc_id, page_index, width, height, boxes, labels, scores, ids, crowd, area };
constexpr std::array<const char*, 10> kNames = {"doc_id", "page_index", "width", "height", "boxes",
                                                "labels", "scores",     "ids",   "crowd",  "area"};
constexpr unsigned kRequired = 1U << doc_id | 1U << boxes | 1U << labels;
constexpr std::size_t kMostOthers = 64;

// A number as Python's int() or float() reads it and NumPy stores it: an integer has no negative zero.
const char* read_number(const Text& text, const char* p, double& out) {
  const char* const after = read_double(text, p, out);
  if (out == 0.0 && after - p == 2) [[unlikely]] out = 0.0;  // "-0" is the only one
  return after;
}

const char* past_null(const Text& text, const char* p) {
  const char* const after = past_word(p, "null");
  if (after == nullptr) text.fail_expecting(p, "null");
  return after;
}

class PageLine {
 public:
  PageLine(Text& text, PageLines& pages) : text_(text), out_(pages) {}

  // From the brace that opens the line's object to the byte after it.
  const char* read(const char* p, std::int64_t line) {
    before_ = objects();
    seen_ = 0;
    given_ = 0;
    others_.clear();
    index_ = 0;
    size_ = {kNaN, kNaN};
    p = walk_object(text_, p, [this](std::string_view key, const char* key_at, const char* value) {
      return read_member(key, key_at, value);
    });
    end_page(p, line);
    return p;
  }

 private:
  std::size_t objects() const { return out_.boxes.size() / 4; }

  const char* read_member(std::string_view name, const char* key_at, const char* p) {
    if (name.data() != key_at + 1) text_.fail(key_at, "key with escapes");
    const int key = find_key(kNames, name);
    if (key == kUnknownKey) return skip_other(name, key_at, p);
    if ((seen_ & 1U << key) != 0) text_.fail(key_at, "duplicate key");
    seen_ |= 1U << key;
    if (*p == 'n' && key != doc_id) return past_null(text_, p);
    given_ |= 1U << key;
    switch (key) {
      case doc_id: return out_.document.read(text_, p, scratch_);
      case page_index: return read_index(p);
      case width: return read_side(p, size_[0]);
      case height: return read_side(p, size_[1]);
      default: return read_column(p, key);
    }
  }

  // What a document is known by, if anybody wants it; lists and objects are named in a note.
  const char* skip_other(std::string_view name, const char* key_at, const char* p) {
    if (*p == '[' || *p == '{') text_.fail(p, "neither a column nor a scalar");
    if (others_.size() == kMostOthers) text_.fail(key_at, "very many keys");
    for (const std::string_view other : others_) {
      if (other == name) text_.fail(key_at, "duplicate key");
    }
    others_.push_back(name);
    out_.has_others |= *p != 'n';
    return skip_value(text_, p);
  }

  const char* read_index(const char* p) {
    const char* const after = read_integer(text_, p, index_);
    if (index_ < 0) text_.fail(p, "negative page index");
    return after;
  }

  const char* read_side(const char* p, double& side) {
    const char* const after = read_double(text_, p, side);
    if (!(side > 0.0 && std::isfinite(side))) text_.fail(p, "not a size");
    return after;
  }

  const char* read_column(const char* p, int key) {
    switch (key) {
      case boxes: return read_list(p, [this](const char* at) { return read_corners(at); });
      case labels: return read_list(p, [this](const char* at) { return read_label(at); });
      case scores: return read_numbers(p, out_.scores);
      case ids: return read_list(p, [this](const char* at) { return read_id(at); });
      case crowd: return read_crowd(p);
      default: return read_numbers(p, out_.area);
    }
  }

  // `read` takes an entry and returns where it ends.
  template <class Read>
  const char* read_list(const char* p, Read&& read) {
    if (*p != '[') text_.fail_expecting(p, "an array");
    p = skip_space(text_, p + 1);
    if (*p == ']') return p + 1;
    for (;;) {
      p = skip_space(text_, read(p));
      if (*p == ']') return p + 1;
      if (*p != ',') text_.fail_expecting(p, "',' or ']'");
      p = skip_space(text_, p + 1);
    }
  }

  const char* read_corners(const char* p) {
    if (*p != '[') text_.fail_expecting(p, "an array of four numbers");
    double* const box = out_.boxes.extend(4);
    for (int i = 0; i < 4; ++i) {
      p = skip_space(text_, read_number(text_, skip_space(text_, p + 1), box[i]));
      if (*p != (i < 3 ? ',' : ']')) text_.fail_expecting(p, "four numbers");
    }
    return p + 1;
  }

  const char* read_label(const char* p) {
    std::string_view label;
    const char* const after = read_string(text_, p, scratch_, label);
    out_.labels.push(text_, p, label);
    return after;
  }

  const char* read_id(const char* p) {
    if (*p == '"') {
      std::string_view id;
      p = read_string(text_, p, scratch_, id);
      out_.text_ids.push(id);
      return p;
    }
    std::int64_t& id = *out_.integer_ids.extend(1);
    const char* const after = read_integer(text_, p, id);
    // The exact reader spells out ids whose magnitude needs more than 63 bits.
    if (id == std::numeric_limits<std::int64_t>::min()) text_.fail(p, "id beyond 63 bits");
    return after;
  }

  const char* read_numbers(const char* p, Column<double>& column) {
    return read_nullable(p, column, kNaN, [this](const char* at, double& value) { return read_number(text_, at, value); });
  }

  const char* read_crowd(const char* p) {
    return read_nullable(p, out_.crowd, std::uint8_t{0}, [this](const char* at, std::uint8_t& flag) { return read_truth(at, flag); });
  }

  // Values or nulls, for which `absent` stands. The column begins with the first value in it: until then all are null.
  template <class T, class Read>
  const char* read_nullable(const char* p, Column<T>& column, T absent, Read&& read) {
    std::size_t row = before_;
    p = read_list(p, [&](const char* at) {
      T value = absent;
      const bool null = *at == 'n';
      at = null ? past_null(text_, at) : read(at, value);
      if (!null || !column.empty()) {
        column.pad(row, absent);
        column.push(value);
      }
      ++row;
      return at;
    });
    if (nullable_ != kNoList && nullable_ != row) text_.fail(p, "lists of several lengths");
    nullable_ = row;
    return p;
  }

  // A boolean or an integer; unlike COCO's flags never a float.
  const char* read_truth(const char* p, std::uint8_t& flag) {
    if (*p == 't' || *p == 'f') return read_flag(text_, p, flag);
    std::int64_t value = 0;
    const char* const after = read_integer(text_, p, value);
    flag = value != 0;
    return after;
  }

  bool given(Key key) const { return (given_ & 1U << key) != 0; }

  void end_page(const char* at, std::int64_t line) {
    const std::size_t rows = objects();
    const std::size_t named = out_.integer_ids.size() + out_.text_ids.size();
    const bool one_kind = out_.integer_ids.empty() || out_.text_ids.size() == 0;
    const bool ids_fit = one_kind && (named == rows || (named == 0 && !given(ids)));
    const bool fits = (seen_ & kRequired) == kRequired && out_.labels.codes.size() == rows && ids_fit &&
                      (nullable_ == kNoList || nullable_ == rows);
    if (!fits) text_.fail(at, "keys or lengths that do not fit");
    nullable_ = kNoList;
    out_.lacks_scores |= rows != before_ && !given(scores);
    out_.line.push(line);
    out_.page_index.push(index_);
    out_.sizes.append(size_.data(), 2);
    out_.counts.push(static_cast<std::int64_t>(rows - before_));
  }

  static constexpr std::size_t kNoList = static_cast<std::size_t>(-1);

  Text& text_;
  PageLines& out_;
  std::string scratch_;
  std::vector<std::string_view> others_;
  std::size_t before_ = 0;          // objects of the pages before
  std::size_t nullable_ = kNoList;  // objects up to the end of this page's lists with nulls
  unsigned seen_ = 0;               // keys
  unsigned given_ = 0;              // keys whose value is not null
  std::int64_t index_ = 0;
  std::array<double, 2> size_{};
};

// Past blanks up to the end of the line, but not beyond.
const char* skip_blanks(const char* p) {
  while (*p == ' ' || *p == '\t' || *p == '\r') ++p;
  return p;
}

}  // namespace

void scan_pages(Text& text, PageLines& pages) {
  PageLine page(text, pages);
  std::int64_t line = 0;
  for (const char* p = text.begin; p != text.end; ++line) {
    const void* const found = std::memchr(p, '\n', static_cast<std::size_t>(text.end - p));
    const char* const end = found == nullptr ? text.end : static_cast<const char*>(found);
    p = skip_blanks(p);
    if (p != end) p = skip_blanks(page.read(p, line));
    // An object that goes on in the next line ends beyond this one.
    if (p != end) text.fail(end, "a line that is not one object");
    p = found == nullptr ? end : end + 1;
  }
  const std::size_t rows = pages.boxes.size() / 4;
  if (!pages.scores.empty()) pages.scores.pad(rows, kNaN);
  if (!pages.area.empty()) pages.area.pad(rows, kNaN);
  if (!pages.crowd.empty()) pages.crowd.pad(rows, 0);
}

}  // namespace calque::json
