// A file in memory, read a little ahead of the scan and forgotten behind it. Somebody else may read along.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>

#include "json_file.hpp"
#include "memory_window.hpp"

namespace calque::json {

class SourceFile {
 public:
  // Opens the file and reads its beginning. Throws as File does.
  explicit SourceFile(const std::string& path);

  // As long as the file, and one byte more. A NUL follows what was read so far, and no JSON token contains one: a scan that
  // comes to the end of it, or goes back to what was forgotten, fails.
  const char* data() const { return window_->data(); }
  std::size_t size() const { return file_.size(); }

  // Reads on, and forgets what lies before `at`.
  void scanned_to(const char* at);

  // From now on everything is there and stays, at another place: for a row that is longer than what is read ahead, and for
  // a second look.
  void read_whole();
  // Whether a token at this place was there to be scanned, from its beginning to its end: to read more would change nothing.
  bool held(std::int64_t offset) const;

  // The scan is over: nothing more is read for it.
  void scan_ended();

  bool unchanged() const { return file_.unchanged(); }

  // Hands all bytes of the file to `take`, in order and some at a time, in the caller's thread, which is not the one that
  // scans. What was read for the scan comes from memory and is not forgotten before it is taken; the rest is read from the
  // file. One thread at a time. Throws as File does.
  using Take = std::function<void(const char* data, std::size_t count)>;
  void read_along(const Take& take);

 private:
  static constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();
  // Who reads along is woken when so much is there: seldom, and while it is still near the processor.
  static constexpr std::size_t kTogether = std::size_t{1} << 21;

  void read_until(std::size_t until);
  const char* next_in_memory(std::size_t from, std::size_t& count);
  bool worth_taking() const { return ended_ || (along_ != kNobody && read_ >= std::min(size(), along_ + kTogether)); }

  File file_;
  // The thread that scans changes these, under the lock; it alone looks at them without.
  std::unique_ptr<Window> window_, before_;  // `before_` may still be looked at by who reads along
  std::size_t forgotten_ = 0, read_ = 0;
  bool whole_ = false, ended_ = false;

  std::size_t along_ = kNobody;  // how far who reads along has come
  std::mutex turn_;
  std::condition_variable more_;
};

}  // namespace calque::json
