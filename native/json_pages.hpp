// Page rows: lines of JSON, each a page with its objects as lists, into columns.
#pragma once

#include "json_columns.hpp"
#include "json_text.hpp"

namespace calque::json {

// Columns with one entry a page, then columns with one entry an object, in the order of the pages.
struct PageLines {
  Column<std::int64_t> line;  // from 0
  IdColumn document;
  Column<std::int64_t> page_index;
  Column<double> sizes;  // width and height; NaN: not given
  Column<std::int64_t> counts;

  Column<double> boxes;
  NameColumn labels;
  // Empty when no object has one.
  Column<double> scores;
  Column<double> area;
  Column<std::uint8_t> crowd;
  Column<std::int64_t> integer_ids;
  StringColumn text_ids;

  bool lacks_scores = false;  // a page has objects and no list of scores
  bool has_others = false;    // a page has a value under another key
};

// Reads whole lines. Throws ScanFailure at the first thing that is not plainly a page, for the exact reader to look at: what
// passes means exactly what that reader makes of it.
void scan_pages(Text& text, PageLines& pages);

}  // namespace calque::json
