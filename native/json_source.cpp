// Mapping files: POSIX only.
#include "json_source.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "json_text.hpp"

namespace calque::json {
namespace {

std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

#if defined(__APPLE__)
const timespec& modified(const struct stat& status) { return status.st_mtimespec; }
#else
const timespec& modified(const struct stat& status) { return status.st_mtim; }
#endif

// Looked at before opening, because opening a pipe may wait for ever.
void require_regular(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) throw SystemFailure{EISDIR};
  if (!S_ISREG(status.st_mode)) throw ScanFailure{"not a regular file", 0};
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) throw SystemFailure{errno};
  require_regular(status);
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) throw SystemFailure{errno};
  try {
    if (fstat(descriptor_, &status) != 0) throw SystemFailure{errno};
    require_regular(status);
    if (static_cast<std::uint64_t>(status.st_size) > std::numeric_limits<std::ptrdiff_t>::max() / 2) throw SystemFailure{EFBIG};
    size_ = static_cast<std::size_t>(status.st_size);
    modified_seconds_ = modified(status).tv_sec;
    modified_nanoseconds_ = modified(status).tv_nsec;
    map();
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

// The file lies over the front of a larger mapping of zeros, so that a NUL follows it even when it fills its last page.
void MappedFile::map() {
  const std::size_t page = page_size();
  reserved_ = (size_ / page + 2) * page;
  void* const zeros = mmap(nullptr, reserved_, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (zeros == MAP_FAILED) throw SystemFailure{errno};
  data_ = static_cast<char*>(zeros);
  if (size_ == 0) return;
  if (mmap(zeros, size_, PROT_READ, MAP_PRIVATE | MAP_FIXED, descriptor_, 0) == MAP_FAILED) {
    const int code = errno;
    munmap(zeros, reserved_);
    throw SystemFailure{code};
  }
  madvise(zeros, size_, MADV_SEQUENTIAL);
}

MappedFile::~MappedFile() {
  munmap(data_, reserved_);
  close(descriptor_);
}

void MappedFile::release_before(const char* at) {
  const std::size_t page = page_size();
  const std::size_t done = static_cast<std::size_t>(at - data_) / page * page;
  if (done <= released_) return;
  madvise(data_ + released_, done - released_, MADV_DONTNEED);
  released_ = done;
}

bool MappedFile::unchanged() const {
  struct stat status;
  return fstat(descriptor_, &status) == 0 && static_cast<std::size_t>(status.st_size) == size_ &&
         modified(status).tv_sec == modified_seconds_ && modified(status).tv_nsec == modified_nanoseconds_;
}

}  // namespace calque::json
