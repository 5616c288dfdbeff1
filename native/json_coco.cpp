// COCO files: ground truth (images, annotations, categories) and lists of results.
#include "json_object.hpp"
#include "json_rows.hpp"
#include "json_scan.hpp"
#include "json_values.hpp"

namespace calque::json {

const char* read_flag(const Text& text, const char* p, std::uint8_t& flag) {
  if (*p == 't' || *p == 'f') {
    flag = *p == 't';
    const char* const after = past_word(p, flag != 0 ? "true" : "false");
    if (after == nullptr) text.fail_expecting(p, "0 or 1");
    return after;
  }
  double value = 0.0;
  const char* const after = read_double(text, p, value);
  if (value != 0.0 && value != 1.0) text.fail(p, "expected 0 or 1");
  flag = value == 1.0;
  return after;
}

namespace {

// Turned boxes are rare: the exact reader takes them.
constexpr const char* turned_box = "a turned box";

// What stands in "segmentation" is only skipped: where it stands is kept. Null and an empty list are no mask.
const char* read_mask_span(Text& text, const char* p, MaskSpans& spans, std::size_t row) {
  const char* const after = skip_value(text, p);
  const bool nothing = *p == 'n' || (*p == '[' && *skip_space(text, p + 1) == ']');
  if (!nothing) spans.push(row, {p - text.begin, after - text.begin});
  return after;
}

// A row needs a box, or a mask that has one.
template <class Rows>
void settle_box(const Text& text, const char* at, Rows& out, bool has_box) {
  if (has_box) [[likely]] return;
  if (out.masks.starts.size() != out.rows + 1) text.fail(at, "missing key 'bbox'");
  std::fill_n(out.bbox.extend(4), 4, 0.0);
  out.boxless.pad(out.rows, 0);
  out.boxless.push(1);
}

class ResultsTable {
 public:
  enum Key { image_id, category_id, bbox, score, obb, segmentation };
  static constexpr std::array<const char*, 6> names = {"image_id", "category_id", "bbox", "score", "obb", "segmentation"};
  static constexpr unsigned required = 1U << image_id | 1U << category_id;

  explicit ResultsTable(CocoResults& results) : out_(results) {}

  static int key_of(std::string_view key) { return find_key(names, key); }
  static const char* name_of(int key) { return names[static_cast<std::size_t>(key)]; }
  void unknown(const Text&, const char*) {}

  const char* read(Text& text, const char* p, int key) {
    switch (key) {
      case image_id: return out_.image_id.read(text, p, scratch_);
      case category_id: return out_.category_id.read(text, p, scratch_);
      case bbox: return read_box(text, p, out_.bbox);
      case obb: text.fail(p, turned_box);
      case segmentation: return read_mask_span(text, p, out_.masks, out_.rows);
      default: return read_sparse_number(text, p, out_.score, out_.rows);
    }
  }

  void end_row(const Text& text, const char* at, unsigned seen) {
    settle_box(text, at, out_, (seen & 1U << bbox) != 0);
    ++out_.rows;
  }

  Layout layout;

 private:
  CocoResults& out_;
  std::string scratch_;
};

class ImagesTable {
 public:
  enum Key { id, width, height, file_name, doc_id, doc_name };
  static constexpr std::array<const char*, 6> names = {"id", "width", "height", "file_name", "doc_id", "doc_name"};
  static constexpr unsigned required = 1U << id;

  explicit ImagesTable(Images& images) : out_(images) {}

  static int key_of(std::string_view key) { return find_key(names, key); }
  static const char* name_of(int key) { return names[static_cast<std::size_t>(key)]; }
  void unknown(const Text&, const char*) {}

  const char* read(Text& text, const char* p, int key) {
    switch (key) {
      case id: return out_.id.read(text, p, scratch_);
      case width: return read_sparse_number(text, p, out_.width, out_.rows);
      case height: return read_sparse_number(text, p, out_.height, out_.rows);
      case file_name: return read_name(text, p, out_.file_name);
      case doc_name: return read_name(text, p, out_.doc_name);
      default: return read_doc_id(text, p);
    }
  }

  void end_row(const Text&, const char*, unsigned) { ++out_.rows; }

  Layout layout;

 private:
  const char* read_name(const Text& text, const char* p, OptionalStrings& column) {
    std::string_view value;
    p = read_string(text, p, scratch_, value);
    column.push(out_.rows, value);
    return p;
  }

  // A string, or an integer of any size, kept as its decimal text.
  const char* read_doc_id(const Text& text, const char* p) {
    out_.doc_id_is_int.pad(out_.rows, 0);
    if (*p == '"') {
      out_.doc_id_is_int.push(0);
      return read_name(text, p, out_.doc_id);
    }
    Decimal decimal;
    const char* const after = read_decimal(text, p, decimal);
    if (after == nullptr || !decimal.integer) text.fail(p, "expected a string or an integer");
    if (after - p - decimal.negative > kMaxIntegerDigits) text.fail(p, "integer with too many digits");
    std::string_view digits(p, static_cast<std::size_t>(after - p));
    if (digits == "-0") digits = "0";
    out_.doc_id.push(out_.rows, digits);
    out_.doc_id_is_int.push(1);
    return after;
  }

  Images& out_;
  std::string scratch_;
};

class AnnotationsTable {
 public:
  enum Key { image_id, category_id, bbox, id, area, iscrowd, ignore, score, obb, segmentation };
  static constexpr std::array<const char*, 10> names = {"image_id", "category_id", "bbox",  "id",  "area",
                                                        "iscrowd",  "ignore",      "score", "obb", "segmentation"};
  static constexpr unsigned required = 1U << image_id | 1U << category_id;

  explicit AnnotationsTable(Annotations& annotations) : out_(annotations) {}

  static int key_of(std::string_view key) { return find_key(names, key); }
  static const char* name_of(int key) { return names[static_cast<std::size_t>(key)]; }
  void unknown(const Text&, const char*) {}

  const char* read(Text& text, const char* p, int key) {
    switch (key) {
      case image_id: return out_.image_id.read(text, p, scratch_);
      case category_id: return out_.category_id.read(text, p, scratch_);
      case bbox: return read_box(text, p, out_.bbox);
      case id: return out_.id.read(text, p, scratch_);
      case area: return read_sparse_number(text, p, out_.area, out_.rows);
      case iscrowd: return read_row_flag(text, p, out_.iscrowd);
      case ignore: return read_row_flag(text, p, out_.ignore);
      case obb: text.fail(p, turned_box);
      case segmentation: return read_mask_span(text, p, out_.masks, out_.rows);
      default: return read_sparse_number(text, p, out_.score, out_.rows);
    }
  }

  void end_row(const Text& text, const char* at, unsigned seen) {
    settle_box(text, at, out_, (seen & 1U << bbox) != 0);
    ++out_.rows;
    const std::size_t ids = out_.id.size();
    if (ids != 0 && ids != out_.rows) [[unlikely]] text.fail(at, "only some annotations have an id");
  }

  Layout layout;

 private:
  const char* read_row_flag(const Text& text, const char* p, Column<std::uint8_t>& column) {
    column.pad(out_.rows, 0);
    if (*p == 'n') [[unlikely]] {  // null counts as absent
      const char* const after = past_word(p, "null");
      if (after == nullptr) text.fail_expecting(p, "0 or 1");
      return after;
    }
    return read_flag(text, p, *column.extend(1));
  }

  Annotations& out_;
  std::string scratch_;
};

const char* read_images(Text& text, const char* p, Images& images) {
  ImagesTable table(images);
  p = RowReader(text, table).read(p);
  images.width.pad(images.rows, kNaN);
  images.height.pad(images.rows, kNaN);
  images.file_name.finish(images.rows);
  images.doc_id.finish(images.rows);
  images.doc_name.finish(images.rows);
  if (images.doc_id.any()) images.doc_id_is_int.pad(images.rows, 0);
  return p;
}

const char* read_annotations(Text& text, const char* p, Annotations& annotations) {
  AnnotationsTable table(annotations);
  p = RowReader(text, table).read(p);
  annotations.area.pad(annotations.rows, kNaN);
  annotations.iscrowd.pad(annotations.rows, 0);
  annotations.ignore.pad(annotations.rows, 0);
  if (!annotations.score.empty()) annotations.score.pad(annotations.rows, kNaN);
  annotations.masks.finish(annotations.rows);
  if (!annotations.boxless.empty()) annotations.boxless.pad(annotations.rows, 0);
  return p;
}

}  // namespace

const char* scan_coco_results(Text& text, const char* p, CocoResults& results) {
  ResultsTable table(results);
  p = RowReader(text, table).read(p);
  results.score.pad(results.rows, kNaN);
  results.masks.finish(results.rows);
  if (!results.boxless.empty()) results.boxless.pad(results.rows, 0);
  return p;
}

const char* scan_coco_truth(Text& text, const char* p, CocoTruth& truth) {
  Names keys;
  const auto member = [&](std::string_view key, const char* key_at, const char* value) {
    const auto known = static_cast<std::int32_t>(keys.size());
    if (keys.code_of(key, false) < known) text.fail(key_at, "duplicate key");
    std::optional<Span> unused;
    auto& span = key == "images"        ? truth.images_span
                 : key == "annotations" ? truth.annotations_span
                 : key == "categories"  ? truth.categories_span
                 : key == "info"        ? truth.info_span
                                        : unused;
    const char* const after = key == "images"        ? read_images(text, value, truth.images)
                              : key == "annotations" ? read_annotations(text, value, truth.annotations)
                                                     : skip_value(text, value);
    span = Span{value - text.begin, after - text.begin};
    return after;
  };
  const char* const after = walk_object(text, p, member);
  if (!truth.images_span) text.fail(p, "missing key 'images'");
  if (!truth.annotations_span) text.fail(p, "missing key 'annotations'");
  if (!truth.categories_span) text.fail(p, "missing key 'categories'");
  return after;
}

}  // namespace calque::json
