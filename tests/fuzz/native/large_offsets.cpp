// A text of more than four gigabytes made of one block of blanks mapped again and again: offsets and spans stay exact.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "json_scan.hpp"

using namespace calque::json;

namespace {

constexpr std::size_t kBlock = std::size_t{64} << 20;
constexpr std::size_t kBlocks = 66;  // 4.125 GiB
constexpr std::size_t kTail = 4096;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::exit(1);
}

// Blanks, then `tail`, which ends just before a NUL.
const char* make_text(const std::string& head, const std::string& tail) {
  const int file = memfd_create("blanks", 0);
  require(file >= 0 && ftruncate(file, kBlock) == 0, "memfd");
  void* const block = mmap(nullptr, kBlock, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  require(block != MAP_FAILED, "block");
  std::memset(block, ' ', kBlock);
  munmap(block, kBlock);
  void* const all = mmap(nullptr, kBlock * kBlocks + kTail, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(all != MAP_FAILED, "reserve");
  char* const text = static_cast<char*>(all);
  for (std::size_t i = 0; i < kBlocks; ++i) {
    void* const at = mmap(text + i * kBlock, kBlock, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0);
    require(at != MAP_FAILED, "map");
  }
  close(file);
  std::memcpy(text, head.data(), head.size());
  std::memcpy(text + kBlock * kBlocks, tail.c_str(), tail.size() + 1);
  return text;
}

void drop(const char* text) { munmap(const_cast<char*>(text), kBlock * kBlocks + kTail); }

}  // namespace

int main() {
  const std::string row = R"({"image_id": 1, "category_id": 2, "bbox": [1, 2, 3, 4]})";
  constexpr auto far = static_cast<std::int64_t>(kBlock * kBlocks);

  const std::string tail = R"(], "categories": [{"id": 1}]})";
  const char* data = make_text(R"({"images": [{"id": 1}], "annotations": [)" + row, tail);
  Text truth_text(data, kBlock * kBlocks + tail.size());
  const auto truth = std::get<CocoTruth>(scan(truth_text, Kind::automatic));
  require(truth.annotations.rows == 1, "one annotation");
  require(truth.categories_span->start == far + 17, "start of the span");
  require(truth.categories_span->end == far + 28, "end of the span");
  require(std::string(data + truth.categories_span->start, data + truth.categories_span->end) == R"([{"id": 1}])", "span");
  drop(data);

  const std::string broken = ", " + row + ", 7]";
  data = make_text("[" + row, broken);
  Text results_text(data, kBlock * kBlocks + broken.size());
  try {
    scan(results_text, Kind::coco_results);
    require(false, "an error");
  } catch (const ScanFailure& failure) {
    require(failure.offset == far + static_cast<std::int64_t>(broken.size()) - 2, "offset of the error");
  }
  drop(data);

  // One string that is longer than four gigabytes, skipped.
  data = make_text(R"([{"category_id": 2, "bbox": [1, 2, 3, 4], "skipped": ")", "\", \"image_id\": 3}]");
  Text string_text(data, kBlock * kBlocks + 18);
  require(std::get<CocoResults>(scan(string_text, Kind::coco_results)).rows == 1, "a long string");
  drop(data);
  std::puts("offsets beyond 2^32 are exact");
  return 0;
}
