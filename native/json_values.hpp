// The kinds of value that rows hold: boxes, optional numbers, flags.
#pragma once

#include "json_columns.hpp"

namespace calque::json {

// Exactly four numbers in an array.
inline const char* read_box(const Text& text, const char* p, Column<double>& boxes) {
  if (*p != '[') [[unlikely]] text.fail_expecting(p, "an array of four numbers");
  double* const box = boxes.extend(4);
  for (int i = 0; i < 4; ++i) {
    p = skip_space(text, p + 1);
    p = skip_space(text, read_double(text, p, box[i]));
    if (*p != (i < 3 ? ',' : ']')) [[unlikely]] text.fail_expecting(p, i < 3 ? "',' and four numbers" : "']' after four numbers");
  }
  return p + 1;
}

// A number, or null, which leaves `out` alone and `given` false.
inline const char* read_optional_number(const Text& text, const char* p, double& out, bool& given) {
  given = *p != 'n';
  if (given) [[likely]] return read_double(text, p, out);
  const char* const after = past_word(p, "null");
  if (after == nullptr) text.fail_expecting(p, "a number or null");
  return after;
}

// The same for columns where NaN says "absent": a NaN in the file itself is not something to take for that.
inline const char* read_number_or_nan(const Text& text, const char* p, double& out, bool& given) {
  if (*p == 'N') [[unlikely]] text.fail(p, "NaN");
  return read_optional_number(text, p, out, given);
}

// A number into row `row` of a column whose other rows are NaN.
inline const char* read_sparse_number(const Text& text, const char* p, Column<double>& column, std::size_t row) {
  double value = kNaN;
  bool given = false;
  p = read_number_or_nan(text, p, value, given);
  if (given) {
    column.pad(row, kNaN);
    column.push(value);
  }
  return p;
}

// 0, 1, false, true, or a number that equals 0 or 1.
const char* read_flag(const Text& text, const char* p, std::uint8_t& flag);

}  // namespace calque::json
