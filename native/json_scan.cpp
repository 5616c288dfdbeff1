// Telling the kinds of file apart, and scanning one from its first byte to its last.
#include "json_scan.hpp"

#include "json_object.hpp"

namespace calque::json {

bool kind_from_name(std::string_view name, Kind& kind) {
  if (name == "auto") kind = Kind::automatic;
  else if (name == "coco_truth") kind = Kind::coco_truth;
  else if (name == "coco_results") kind = Kind::coco_results;
  else if (name == "snapshot") kind = Kind::snapshot;
  else return false;
  return true;
}

namespace {

bool names_coco_truth(std::string_view key) { return key == "images" || key == "annotations" || key == "categories"; }

bool names_snapshot(std::string_view key) { return key == "label_map" || key == "documents" || key == "predictions"; }

// Both kinds of object may begin with "info": only a key that one of them has decides.
Kind kind_of_object(Text& text, const char* p) {
  Kind kind = Kind::automatic;
  walk_object(text, p, [&](std::string_view key, const char*, const char* value) -> const char* {
    if (names_coco_truth(key)) kind = Kind::coco_truth;
    else if (names_snapshot(key)) kind = Kind::snapshot;
    else return skip_value(text, value);
    return nullptr;
  });
  if (kind == Kind::automatic) text.fail(p, "neither a COCO file nor a snapshot");
  return kind;
}

Kind kind_of_list(Text& text, const char* p) {
  const char* const first = skip_space(text, p + 1);
  if (*first == ']') return Kind::coco_results;
  bool found = false;
  if (*first == '{') {
    walk_object(text, first, [&](std::string_view key, const char*, const char* value) -> const char* {
      found = key == "image_id";
      return found ? nullptr : skip_value(text, value);
    });
  }
  if (!found) text.fail(first, "not a COCO results list");
  return Kind::coco_results;
}

// Reads as far as needed; the scan proper then starts over, which costs little: what decides stands near the start.
Kind sniff(Text& text, const char* p) {
  if (*p == '[') return kind_of_list(text, p);
  if (*p == '{') return kind_of_object(text, p);
  text.fail_expecting(p, "an array or an object");
}

template <class Table>
Tables scan_whole(Text& text, const char* p, const char* (*read)(Text&, const char*, Table&)) {
  Tables tables(std::in_place_type<Table>);
  p = skip_space(text, read(text, p, std::get<Table>(tables)));
  if (p != text.end) text.fail(p, "more text after the end of the value");
  return tables;
}

}  // namespace

Tables scan(Text& text, Kind kind) {
  if (text.begin == text.end) text.fail(text.begin, "empty file");
  if (past_word(text.begin, "\xEF\xBB\xBF") != nullptr) text.fail(text.begin, "starts with a byte-order mark");
  const char* const p = skip_space(text, text.begin);
  if (kind == Kind::automatic) kind = sniff(text, p);
  switch (kind) {
    case Kind::coco_truth: return scan_whole(text, p, scan_coco_truth);
    case Kind::snapshot: return scan_whole(text, p, scan_snapshot);
    default: return scan_whole(text, p, scan_coco_results);
  }
}

}  // namespace calque::json
