// Files are read as they were when they were opened, or not at all: longer, shorter or other ones are an error.
#include <chrono>
#include <filesystem>
#include <fstream>

#include "json_job.hpp"
#include "self_test.hpp"

using namespace calque::json;
namespace fs = std::filesystem;

namespace {

const std::string kRow = R"({"image_id": 17, "category_id": 3, "bbox": [12.34, 5.6, 100.25, 33.0], "score": 0.873})";

// Longer than what is read at once, so that most of it is still to be read when the file has been opened.
std::string many_rows(const std::string& odd_one = kRow) {
  std::string text = "[" + kRow;
  while (text.size() < (std::size_t{12} << 20)) text += ", " + kRow;
  return text + ", " + odd_one + ", " + kRow + "]";
}

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::uint64_t digest(CocoResults& results) { return Digest().of(results.image_id.integers()).of(results.bbox).of(results.score).value(); }

std::uint64_t digest(CocoTruth& truth) { return Digest().of(truth.images.width).of(truth.annotations.bbox).value(); }

std::uint64_t digest(Snapshot& snapshot) { return Digest().of(snapshot.objects.bbox).value(); }

std::uint64_t digest(Tables tables) {
  return std::visit([](auto& table) { return digest(table); }, tables);
}

std::uint64_t scanned(const std::string& text) {
  Text whole(text.c_str(), text.size());
  return digest(scan(whole, Kind::automatic));
}

const std::atomic<bool> kGoOn{false};

void check_same(const fs::path& path, const std::string& text, const char* what) {
  write(path, text);
  File file(path.string());
  require(digest(scan_file(file, Kind::automatic, kGoOn)) == scanned(text), what);
}

// Opens the file, changes it, and only then scans it.
template <class Change>
void check_changed(const fs::path& path, const std::string& text, const char* what, Change change) {
  write(path, text);
  File file(path.string());
  change();
  try {
    scan_file(file, Kind::automatic, kGoOn);
  } catch (const ScanFailure& failure) {
    require(failure.message == kChanged, std::string(what) + ": " + failure.message);
    return;
  }
  require(false, what);
}

}  // namespace

void check_files(const std::string& folder) {
  const fs::path path = fs::path(folder) / "rows.json";
  const std::string text = many_rows();
  check_same(path, text, "a file reads as its bytes do");
  check_same(path, many_rows(R"({"note": ")" + std::string(5 << 20, 'x') + "\", " + kRow.substr(1)), "a row of 5 MB is read");
  const std::string truth = R"(, "categories": [], "images": [{"id": 17, "width": 3, "height": 4}], "annotations": )" + text + "}";
  check_same(path, R"({"info": ")" + std::string(9 << 20, 'x') + "\"" + truth, "what decides the kind may stand far behind");
  check_same(path, R"({"info": [0)" + std::string(9 << 20, ' ') + ", 1" + std::string(9 << 20, ' ') + "]" + truth, "blanks");
  for (const std::string& start : {text, "[" + kRow + "]" + std::string(100, ' ')}) {
    check_changed(path, start, "cut short", [&] { fs::resize_file(path, start.size() / 2); });
    check_changed(path, start, "emptied", [&] { fs::resize_file(path, 0); });
    check_changed(path, start, "grown", [&] { std::ofstream(path, std::ios::binary | std::ios::app) << ' '; });
    check_changed(path, start, "written anew", [&] {
      write(path, start);
      fs::last_write_time(path, fs::last_write_time(path) + std::chrono::hours(1));
    });
  }
  fs::remove(path);
  // Whether a char has a sign differs from processor to processor, and must not show.
  const std::string names = R"({"categories": [], "annotations": [], "images": [{"id": 1, "file_name": "dätä \u00e9\ud83d\ude00 漢字 and some more.png"}]})";
  Text named(names.c_str(), names.size());
  Tables tables = scan(named, Kind::automatic);
  std::printf("names %016llx\n",
              static_cast<unsigned long long>(Digest().of(std::get<CocoTruth>(tables).images.file_name.strings.bytes).value()));
  std::printf("scan %016llx\n", static_cast<unsigned long long>(scanned(text)));
}
