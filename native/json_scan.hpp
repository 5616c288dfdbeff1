// The scanner's front door: a text and a kind in, tables out.
#pragma once

#include <string_view>

#include "json_tables.hpp"
#include "json_text.hpp"

namespace calque::json {

enum class Kind { automatic, coco_truth, coco_results, snapshot };

// Null-terminated name -> kind; false when there is no such kind.
bool kind_from_name(std::string_view name, Kind& kind);

// Throws ScanFailure, ScanStopped (from the heartbeat) or std::bad_alloc.
Tables scan(Text& text, Kind kind);

// One per kind; `p` is at the first byte that is not blank, the result is where the top-level value ends.
const char* scan_coco_results(Text& text, const char* p, CocoResults& results);
const char* scan_coco_truth(Text& text, const char* p, CocoTruth& truth);
const char* scan_snapshot(Text& text, const char* p, Snapshot& snapshot);

}  // namespace calque::json
