// How far ahead of the scan a file is read.
#include "json_source.hpp"

#include <algorithm>

#include "json_text.hpp"

namespace calque::json {
namespace {

// From one heartbeat to the next, and then the longest row that is scanned without reading the whole file first.
constexpr std::size_t kAhead = static_cast<std::size_t>(Text::kStride) + (std::size_t{1} << 20);

// No number that is told of by its beginning is longer; of everything else the place is told at which it ended.
constexpr std::size_t kLongest = std::size_t{1} << 16;

}  // namespace

SourceFile::SourceFile(const std::string& path) : file_(path), window_(std::in_place, file_.size() + 1) {
  const std::size_t until = std::min(size(), kAhead);
  window_->slide(0, until);
  read_until(until);
  whole_ = read_ == size();
}

void SourceFile::scanned_to(const char* at) {
  if (whole_) return;
  const auto done = static_cast<std::size_t>(at - data());
  const std::size_t until = std::max(read_, std::min(size(), done + kAhead));
  window_->slide(done, until);
  forgotten_ = done;
  read_until(until);
}

bool SourceFile::held(std::int64_t offset) const {
  const auto at = static_cast<std::size_t>(offset);
  return whole_ || (at >= forgotten_ && at + kLongest < read_);
}

void SourceFile::read_whole() {
  window_.reset();
  window_.emplace(size() + 1);
  read_ = 0;
  read_until(size());
  whole_ = true;
}

void SourceFile::read_until(std::size_t until) {
  file_.read(read_, window_->data() + read_, until - read_);
  read_ = until;
  window_->data()[read_] = '\0';
}

}  // namespace calque::json
