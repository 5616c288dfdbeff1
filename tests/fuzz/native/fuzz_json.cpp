// libFuzzer target over the scanner's core: no crash, no overread, columns of equal length, numbers as strtod reads them.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "json_keys.hpp"
#include "json_number.hpp"
#include "json_pages.hpp"
#include "json_scan.hpp"

using namespace calque::json;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const StringColumn& column, std::size_t rows) {
  require(column.size() == rows && column.ends[0] == 0);
  for (std::size_t i = 0; i < rows; ++i) require(column.ends[i] <= column.ends[i + 1]);
  require(static_cast<std::size_t>(column.ends[rows]) == column.bytes.size());
}

void check(const OptionalStrings& column, std::size_t rows) {
  if (!column.any()) return;
  check(column.strings, rows);
  require(column.present.size() == rows);
}

void check(NameColumn& column, std::size_t rows) {
  require(column.codes.size() == rows);
  for (std::size_t i = 0; i < rows; ++i) require(static_cast<std::size_t>(column.codes[i]) < column.names.size());
}

void check(IdColumn& column, std::size_t rows) {
  if (column.named() != nullptr) check(*column.named(), rows);
  require(column.size() == rows);
}

void check(CocoResults& results) {
  check(results.image_id, results.rows);
  check(results.category_id, results.rows);
  require(results.bbox.size() == 4 * results.rows && results.score.size() == results.rows);
}

void check(CocoTruth& truth) {
  Images& images = truth.images;
  check(images.id, images.rows);
  require(images.width.size() == images.rows && images.height.size() == images.rows);
  check(images.file_name, images.rows);
  check(images.doc_id, images.rows);
  check(images.doc_name, images.rows);
  require(!images.doc_id.any() || images.doc_id_is_int.size() == images.rows);
  Annotations& annotations = truth.annotations;
  const std::size_t rows = annotations.rows;
  if (annotations.id.size() != 0) check(annotations.id, rows);
  check(annotations.image_id, rows);
  check(annotations.category_id, rows);
  require(annotations.bbox.size() == 4 * rows && annotations.area.size() == rows);
  require(annotations.iscrowd.size() == rows && annotations.ignore.size() == rows);
  require(annotations.score.empty() || annotations.score.size() == rows);
}

void check(Snapshot& snapshot) {
  check(snapshot.documents.doc_id, snapshot.documents.rows);
  check(snapshot.documents.doc_name, snapshot.documents.rows);
  check(snapshot.documents.doc_path, snapshot.documents.rows);
  check(snapshot.pages.page_id, snapshot.pages.rows);
  check(snapshot.pages.doc, snapshot.pages.rows);
  require(snapshot.pages.page_index.size() == snapshot.pages.rows);
  Objects& objects = snapshot.objects;
  require(objects.page.size() == objects.rows && objects.bbox.size() == 4 * objects.rows);
  check(objects.id, objects.rows);
  check(objects.label, objects.rows);
  require(objects.score.size() == objects.rows && objects.score_state.size() == objects.rows);
}

// A whole number literal means the same to us and to strtod; the three ways of passing over it end at the same place.
void check_number(const Text& text) {
  double value = 0.0;
  const char* after = nullptr;
  try {
    after = read_double(text, text.begin, value);
  } catch (const ScanFailure&) {
    return;
  }
  require(skip_number(text, text.begin) == after);
  if (*text.begin == 'N') return require(std::isnan(value));
  const std::string literal(text.begin, after);
  const double expected = std::strtod(literal.c_str(), nullptr);
  require(std::memcmp(&value, &expected, sizeof value) == 0);
}

void check(PageLines& pages) {
  const std::size_t rows = pages.boxes.size() / 4, count = pages.line.size();
  check(pages.document, count);
  require(pages.page_index.size() == count && pages.sizes.size() == 2 * count && pages.counts.size() == count);
  std::int64_t objects = 0;
  for (std::size_t i = 0; i < count; ++i) objects += pages.counts[i];
  require(static_cast<std::size_t>(objects) == rows && pages.boxes.size() == 4 * rows);
  check(pages.labels, rows);
  for (const std::size_t size : {pages.scores.size(), pages.area.size(), pages.crowd.size(), pages.integer_ids.size(),
                                 pages.text_ids.size()}) {
    require(size == 0 || size == rows);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // An allocation of exactly the text and its NUL, so that the sanitizer sees every byte read too far.
  const auto copy = std::make_unique<char[]>(size);
  std::memcpy(copy.get(), data + 1, size - 1);
  copy[size - 1] = '\0';
  Text text(copy.get(), size - 1);
  if (data[0] % 7 == 4) {
    check_number(text);
    return 0;
  }
  try {
    if (data[0] % 7 == 6) {
      repeats_a_key(text);
      return 0;
    }
    if (data[0] % 7 == 5) {
      PageLines pages;
      scan_pages(text, pages);
      check(pages);
      return 0;
    }
    Tables tables = scan(text, static_cast<Kind>(data[0] % 7));
    std::visit([](auto& table) { check(table); }, tables);
  } catch (const ScanFailure& failure) {
    require(failure.offset >= 0 && failure.offset <= static_cast<std::int64_t>(size));
  }
  return 0;
}
