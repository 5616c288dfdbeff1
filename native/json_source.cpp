// How far ahead of the scan a file is read.
#include "json_source.hpp"

#include <algorithm>
#include <vector>

#include "json_text.hpp"

namespace calque::json {
namespace {

// From one heartbeat to the next, and then the longest row that is scanned without reading the whole file first.
constexpr std::size_t kAhead = static_cast<std::size_t>(Text::kStride) + (std::size_t{1} << 20);

// No number that is told of by its beginning is longer; of everything else the place is told at which it ended.
constexpr std::size_t kLongest = std::size_t{1} << 16;

// What is not in memory is read in pieces that stay near the processor.
constexpr std::size_t kAtOnce = std::size_t{1} << 18;

}  // namespace

SourceFile::SourceFile(const std::string& path) : file_(path), window_(std::make_unique<Window>(file_.size() + 1)) {
  const std::size_t until = std::min(size(), kAhead);
  window_->slide(0, until);
  read_until(until);
  whole_ = read_ == size();
}

void SourceFile::scanned_to(const char* at) {
  if (whole_) return;
  const auto done = static_cast<std::size_t>(at - data());
  const std::size_t until = std::max(read_, std::min(size(), done + kAhead));
  {
    const std::lock_guard lock(turn_);
    forgotten_ = std::min(done, along_);
  }
  window_->slide(forgotten_, until);
  read_until(until);
}

bool SourceFile::held(std::int64_t offset) const {
  const auto at = static_cast<std::size_t>(offset);
  return whole_ || (at >= forgotten_ && at + kLongest < read_);
}

void SourceFile::read_whole() {
  if (whole_) return;
  {
    const std::lock_guard lock(turn_);
    before_ = std::move(window_);
    window_ = std::make_unique<Window>(size() + 1);
    forgotten_ = read_ = 0;
  }
  read_until(size());
  whole_ = true;
}

void SourceFile::scan_ended() {
  const std::lock_guard lock(turn_);
  ended_ = true;
  more_.notify_one();
}

void SourceFile::read_until(std::size_t until) {
  file_.read(read_, window_->data() + read_, until - read_);
  window_->data()[until] = '\0';
  const std::lock_guard lock(turn_);
  read_ = until;
  if (worth_taking()) more_.notify_one();
}

void SourceFile::read_along(const Take& take) {
  // Whatever ends this: the scan need hold nothing back any more.
  const std::shared_ptr<void> leaving(nullptr, [this](void*) {
    const std::lock_guard lock(turn_);
    along_ = kNobody;
  });
  std::vector<char> piece;
  std::size_t count = 0;
  for (std::size_t at = 0; at < size(); at += count) {
    const char* data = next_in_memory(at, count);
    if (data == nullptr) {
      count = std::min(size() - at, kAtOnce);
      piece.resize(kAtOnce);
      file_.read(at, piece.data(), count);
      data = piece.data();
    }
    take(data, count);
  }
}

// Where the byte at `from` is in memory, with how many after it; null when it is there no longer, or will never be.
const char* SourceFile::next_in_memory(std::size_t from, std::size_t& count) {
  std::unique_lock lock(turn_);
  if (from < forgotten_) return nullptr;
  along_ = from;
  more_.wait(lock, [this] { return worth_taking(); });
  if (read_ <= from) return nullptr;
  count = read_ - from;
  return window_->data() + from;
}

}  // namespace calque::json
