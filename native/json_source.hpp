// A file in memory, read a little ahead of the scan and forgotten behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

  bool unchanged() const { return file_.unchanged(); }

 private:
  void read_until(std::size_t until);

  File file_;
  std::optional<Window> window_;
  std::size_t forgotten_ = 0, read_ = 0;
  bool whole_ = false;
};

}  // namespace calque::json
