// A file mapped into memory, which gives pages back as the scan leaves them behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace calque::json {

// The system refused; becomes OSError(errno, ..., filename).
struct SystemFailure {
  int code;
};

// Should another process cut the file short while it is mapped, the system ends this one (SIGBUS): the price of mapping.
class MappedFile {
 public:
  // Throws SystemFailure, or ScanFailure for what is no regular file (a pipe cannot be read twice).
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // The byte after the last one is readable and NUL; should the file grow meanwhile, a NUL follows within a page.
  const char* data() const { return data_; }
  std::size_t size() const { return size_; }

  // The pages before `at` will hardly be needed again (should they be, they come back from the file).
  void release_before(const char* at);

  // Whether the file is still as it was when it was mapped.
  bool unchanged() const;

 private:
  void map();

  int descriptor_ = -1;
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t reserved_ = 0;
  std::size_t released_ = 0;
  std::int64_t modified_seconds_ = 0;
  std::int64_t modified_nanoseconds_ = 0;
};

}  // namespace calque::json
