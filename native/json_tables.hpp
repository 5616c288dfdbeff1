// What a scan yields: the columns of each kind of file.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "json_columns.hpp"

namespace calque::json {

// Where a value stands in the file, in bytes.
struct Span {
  std::int64_t start;
  std::int64_t end;
};

// Where the masks of rows stand in the file; equal ends for rows without any. Empty when no row has one.
struct MaskSpans {
  void push(std::size_t row, Span span) {
    starts.pad(row, 0);
    ends.pad(row, 0);
    starts.push(span.start);
    ends.push(span.end);
  }
  void finish(std::size_t rows) {
    if (starts.empty()) return;
    starts.pad(rows, 0);
    ends.pad(rows, 0);
  }

  Column<std::int64_t> starts;
  Column<std::int64_t> ends;
};

struct Images {
  std::size_t rows = 0;
  IdColumn id;
  Column<double> width;
  Column<double> height;
  OptionalStrings file_name;
  OptionalStrings doc_id;
  OptionalStrings doc_name;
  Column<std::uint8_t> doc_id_is_int;
};

struct Annotations {
  std::size_t rows = 0;
  IdColumn id;
  IdColumn image_id;
  IdColumn category_id;
  Column<double> bbox;
  Column<double> area;
  Column<std::uint8_t> iscrowd;
  Column<std::uint8_t> ignore;
  Column<double> score;
  MaskSpans masks;
  Column<std::uint8_t> boxless;  // rows without a box, which is then that of their mask
};

struct CocoTruth {
  Images images;
  Annotations annotations;
  std::optional<Span> images_span;
  std::optional<Span> annotations_span;
  std::optional<Span> categories_span;
  std::optional<Span> info_span;
};

struct CocoResults {
  std::size_t rows = 0;
  IdColumn image_id;
  IdColumn category_id;
  Column<double> bbox;
  Column<double> score;
  MaskSpans masks;
  Column<std::uint8_t> boxless;
};

struct Documents {
  std::size_t rows = 0;
  StringColumn doc_id;
  StringColumn doc_name;
  StringColumn doc_path;
};

struct Objects {
  std::size_t rows = 0;
  Column<std::int32_t> page;
  StringColumn id;
  NameColumn label;
  Column<double> bbox;
  Column<double> score;
  Column<std::uint8_t> score_state;  // 0 absent, 1 null, 2 a number
};

struct Pages {
  std::size_t rows = 0;
  StringColumn page_id;
  NameColumn doc;
  Column<std::int64_t> page_index;
};

struct Snapshot {
  std::vector<std::pair<std::string, std::string>> label_map;
  std::optional<Span> info_span;
  Documents documents;
  Pages pages;
  Objects objects;
};

using Tables = std::variant<CocoResults, CocoTruth, Snapshot>;

}  // namespace calque::json
