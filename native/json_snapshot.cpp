// Snapshot files, version 1.3: strict, every key known.
#include <algorithm>
#include <string_view>
#include <vector>

#include "json_object.hpp"
#include "json_rows.hpp"
#include "json_scan.hpp"
#include "json_values.hpp"

namespace calque::json {
namespace {

// Reads a string that must not be empty.
const char* read_filled(const Text& text, const char* p, std::string& scratch, std::string_view& value) {
  const char* const after = read_string(text, p, scratch, value);
  if (value.empty()) text.fail(p, "empty string");
  return after;
}

const char* read_filled(const Text& text, const char* p, std::string& scratch, StringColumn& column) {
  std::string_view value;
  p = read_filled(text, p, scratch, value);
  column.push(value);
  return p;
}

const char* read_filled(const Text& text, const char* p, std::string& scratch, NameColumn& column) {
  std::string_view value;
  const char* const after = read_filled(text, p, scratch, value);
  column.push(text, p, value);
  return after;
}

[[noreturn]] void fail_unknown(const Text& text, const char* key_at) { text.fail(key_at, "unknown key"); }

class DocumentsTable {
 public:
  enum Key { doc_id, doc_name, doc_path };
  static constexpr std::array<const char*, 3> names = {"doc_id", "doc_name", "doc_path"};
  static constexpr unsigned required = 1U << doc_id | 1U << doc_name | 1U << doc_path;

  explicit DocumentsTable(Documents& documents) : out_(documents) {}

  static int key_of(std::string_view key) { return find_key(names, key); }
  static const char* name_of(int key) { return names[static_cast<std::size_t>(key)]; }
  void unknown(const Text& text, const char* key_at) { fail_unknown(text, key_at); }

  const char* read(Text& text, const char* p, int key) {
    switch (key) {
      case doc_id: return read_filled(text, p, scratch_, out_.doc_id);
      case doc_name: return read_filled(text, p, scratch_, out_.doc_name);
      default: return read_filled(text, p, scratch_, out_.doc_path);
    }
  }

  void end_row(const Text&, const char*, unsigned) { ++out_.rows; }

  Layout layout;

 private:
  Documents& out_;
  std::string scratch_;
};

class ObjectsTable {
 public:
  enum Key { id, label, bbox, score, attributes };
  static constexpr std::array<const char*, 5> names = {"id", "label", "bbox", "score", "attributes"};
  static constexpr unsigned required = 1U << id | 1U << label | 1U << bbox;

  explicit ObjectsTable(Objects& objects) : out_(objects) {}

  static int key_of(std::string_view key) { return find_key(names, key); }
  static const char* name_of(int key) { return names[static_cast<std::size_t>(key)]; }
  void unknown(const Text& text, const char* key_at) { fail_unknown(text, key_at); }

  const char* read(Text& text, const char* p, int key) {
    switch (key) {
      case id: return read_filled(text, p, scratch_, out_.id);
      case label: return read_filled(text, p, scratch_, out_.label);
      case bbox: return read_box(text, p, out_.bbox);
      case score: return read_score(text, p);
      default:
        if (*p != '{') text.fail_expecting(p, "an object");
        return skip_value(text, p);
    }
  }

  void end_row(const Text&, const char*, unsigned) {
    out_.page.push(page);
    ++out_.rows;
  }

  std::size_t rows() const { return out_.rows; }

  // Whether two rows from `first` on have the same id.
  bool repeats_an_id(std::size_t first) {
    ids_.clear();
    for (std::size_t row = first; row < out_.rows; ++row) ids_.push_back(out_.id[row]);
    std::sort(ids_.begin(), ids_.end());
    return std::adjacent_find(ids_.begin(), ids_.end()) != ids_.end();
  }

  Layout layout;
  std::int32_t page = 0;  // the page that the next rows belong to

 private:
  const char* read_score(const Text& text, const char* p) {
    double value = kNaN;
    bool given = false;
    p = read_optional_number(text, p, value, given);
    out_.score.pad(out_.rows, kNaN);
    out_.score_state.pad(out_.rows, 0);
    out_.score.push(value);
    out_.score_state.push(given ? 2 : 1);
    return p;
  }

  Objects& out_;
  std::string scratch_;
  std::vector<std::string_view> ids_;
};

class PagesTable {
 public:
  enum Key { page_id, doc_id, page_index, objects };
  static constexpr std::array<const char*, 4> names = {"page_id", "doc_id", "page_index", "objects"};
  static constexpr unsigned required = 1U << page_id | 1U << doc_id | 1U << page_index | 1U << objects;

  PagesTable(Pages& pages, ObjectsTable& objects_table) : out_(pages), objects_(objects_table) {}

  static int key_of(std::string_view key) { return find_key(names, key); }
  static const char* name_of(int key) { return names[static_cast<std::size_t>(key)]; }
  void unknown(const Text& text, const char* key_at) { fail_unknown(text, key_at); }

  const char* read(Text& text, const char* p, int key) {
    switch (key) {
      case page_id: return read_filled(text, p, scratch_, out_.page_id);
      case doc_id: return read_filled(text, p, scratch_, out_.doc);
      case page_index: return read_index(text, p);
      default: return read_objects(text, p);
    }
  }

  void end_row(const Text&, const char*, unsigned) { ++out_.rows; }

  Layout layout;

 private:
  const char* read_index(const Text& text, const char* p) {
    std::int64_t& index = *out_.page_index.extend(1);
    const char* const after = read_integer(text, p, index);
    if (index < 0) text.fail(p, "negative page index");
    return after;
  }

  const char* read_objects(Text& text, const char* p) {
    if (out_.rows > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) text.fail(p, "more than 2^31 pages");
    objects_.page = static_cast<std::int32_t>(out_.rows);
    const std::size_t first = objects_.rows();
    const char* const after = RowReader(text, objects_).read(p);
    if (objects_.repeats_an_id(first)) text.fail(p, "an id occurs twice on one page");
    return after;
  }

  Pages& out_;
  ObjectsTable& objects_;
  std::string scratch_;
};

bool is_label_number(std::string_view key) {
  if (key.empty() || key[0] == '0') return false;
  return std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
}

const char* read_label_map(Text& text, const char* p, Snapshot& snapshot) {
  Names keys;
  std::string scratch;
  const auto member = [&](std::string_view key, const char* key_at, const char* value) {
    if (!is_label_number(key)) text.fail(key_at, "expected a positive number as a label's key");
    const auto known = static_cast<std::int32_t>(keys.size());
    if (keys.code_of(key, false) < known) text.fail(key_at, "duplicate key");
    std::string_view name;
    const char* const after = read_filled(text, value, scratch, name);
    snapshot.label_map.emplace_back(key, name);
    return after;
  };
  const char* const after = walk_object(text, p, member);
  if (snapshot.label_map.empty()) text.fail(p, "empty label map");
  return after;
}

const char* read_documents(Text& text, const char* p, Documents& documents) {
  DocumentsTable table(documents);
  const char* const after = RowReader(text, table).read(p);
  if (documents.rows == 0) text.fail(p, "no documents");
  return after;
}

const char* read_pages(Text& text, const char* p, Snapshot& snapshot) {
  ObjectsTable objects(snapshot.objects);
  PagesTable pages(snapshot.pages, objects);
  p = RowReader(text, pages).read(p);
  snapshot.objects.score.pad(snapshot.objects.rows, kNaN);
  snapshot.objects.score_state.pad(snapshot.objects.rows, 0);
  return p;
}

}  // namespace

const char* scan_snapshot(Text& text, const char* p, Snapshot& snapshot) {
  static constexpr std::array<const char*, 4> names = {"label_map", "info", "documents", "predictions"};
  unsigned seen = 0;
  const auto member = [&](std::string_view name, const char* key_at, const char* value) -> const char* {
    const int key = find_key(names, name);
    if (key == kUnknownKey) fail_unknown(text, key_at);
    if ((seen & 1U << key) != 0) text.fail(key_at, "duplicate key");
    seen |= 1U << key;
    switch (key) {
      case 0: return read_label_map(text, value, snapshot);
      case 2: return read_documents(text, value, snapshot.documents);
      case 3: return read_pages(text, value, snapshot);
      default: break;
    }
    if (*value != '{') text.fail_expecting(value, "an object");
    const char* const after = skip_value(text, value);
    snapshot.info_span = Span{value - text.begin, after - text.begin};
    return after;
  };
  const char* const after = walk_object(text, p, member);
  for (std::size_t key = 0; key < names.size(); ++key) {
    if ((seen & 1U << key) == 0) text.fail(p, std::string("missing key '") + names[key] + "'");
  }
  return after;
}

}  // namespace calque::json
