// A file that is open for reading, and whether it is still what it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

namespace calque::json {

// The system refused; becomes OSError(errno, ..., filename).
struct SystemFailure {
  int code;
};

class File {
 public:
  // Throws SystemFailure, or ScanFailure for what is no regular file (a pipe cannot be read twice).
  explicit File(const std::string& path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // How long the file was when it was opened.
  std::size_t size() const { return size_; }

  // Reads all of `count` bytes at `from`, in any thread. Throws SystemFailure, or ScanFailure when the file ends before.
  void read(std::size_t from, char* to, std::size_t count) const;

  // Whether the file is still as it was when it was opened.
  bool unchanged() const;

 private:
  int descriptor_ = -1;
  mutable std::mutex turn_;  // where to read from one place takes two calls
  std::size_t size_ = 0;
  std::int64_t modified_seconds_ = 0;
  std::int64_t modified_nanoseconds_ = 0;
};

inline constexpr const char* kChanged = "the file changed while it was read";

}  // namespace calque::json
