// What the systems call differently stands in one place each; files are read, never mapped, so that one that is cut short
// is an error and not the end of the process.
#include "json_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "json_text.hpp"

#if defined(_WIN32)
#include <io.h>

#include <filesystem>
#else
#include <unistd.h>
#endif

namespace calque::json {
namespace {

// Below what any system reads in one call.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;

#if defined(_WIN32)

using Status = struct _stat64;

std::wstring wide(const std::string& path) {
  try {
    return std::filesystem::path(reinterpret_cast<const char8_t*>(path.c_str())).wstring();
  } catch (const std::exception&) {
    throw SystemFailure{ENOENT};  // half of a surrogate pair: no file has such a name
  }
}

bool look_at(const std::string& path, Status& status) { return _wstat64(wide(path).c_str(), &status) == 0; }
bool look_at(int descriptor, Status& status) { return _fstat64(descriptor, &status) == 0; }
int open_to_read(const std::string& path) { return _wopen(wide(path).c_str(), _O_RDONLY | _O_BINARY | _O_NOINHERIT); }
void close_again(int descriptor) { _close(descriptor); }
bool is_folder(const Status& status) { return (status.st_mode & _S_IFMT) == _S_IFDIR; }
bool is_regular(const Status& status) { return (status.st_mode & _S_IFMT) == _S_IFREG; }
std::int64_t nanoseconds(const Status&) { return 0; }

std::int64_t read_some(int descriptor, std::size_t from, char* to, std::size_t count) {
  if (_lseeki64(descriptor, static_cast<std::int64_t>(from), SEEK_SET) < 0) return -1;
  return _read(descriptor, to, static_cast<unsigned>(count));
}

#else

using Status = struct stat;

bool look_at(const std::string& path, Status& status) { return stat(path.c_str(), &status) == 0; }
bool look_at(int descriptor, Status& status) { return fstat(descriptor, &status) == 0; }
int open_to_read(const std::string& path) { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }
void close_again(int descriptor) { close(descriptor); }
bool is_folder(const Status& status) { return S_ISDIR(status.st_mode); }
bool is_regular(const Status& status) { return S_ISREG(status.st_mode); }

#if defined(__APPLE__)
std::int64_t nanoseconds(const Status& status) { return status.st_mtimespec.tv_nsec; }
#else
std::int64_t nanoseconds(const Status& status) { return status.st_mtim.tv_nsec; }
#endif

std::int64_t read_some(int descriptor, std::size_t from, char* to, std::size_t count) {
  return pread(descriptor, to, count, static_cast<off_t>(from));
}

#endif

// Looked at before opening, because opening a pipe may wait for ever.
void require_regular(const Status& status) {
  if (is_folder(status)) throw SystemFailure{EISDIR};
  if (!is_regular(status)) throw ScanFailure{"not a regular file", 0};
}

}  // namespace

File::File(const std::string& path) {
  Status status;
  if (!look_at(path, status)) throw SystemFailure{errno};
  require_regular(status);
  descriptor_ = open_to_read(path);
  if (descriptor_ < 0) throw SystemFailure{errno};
  try {
    if (!look_at(descriptor_, status)) throw SystemFailure{errno};
    require_regular(status);
    if (static_cast<std::uint64_t>(status.st_size) > std::numeric_limits<std::ptrdiff_t>::max() / 2) throw SystemFailure{EFBIG};
    size_ = static_cast<std::size_t>(status.st_size);
    modified_seconds_ = status.st_mtime;
    modified_nanoseconds_ = nanoseconds(status);
  } catch (...) {
    close_again(descriptor_);
    throw;
  }
}

File::~File() { close_again(descriptor_); }

void File::read(std::size_t from, char* to, std::size_t count) const {
  const std::lock_guard lock(turn_);
  while (count > 0) {
    const std::int64_t got = read_some(descriptor_, from, to, std::min(count, kMostAtOnce));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw SystemFailure{errno};
    if (got == 0) throw ScanFailure{kChanged, 0};
    from += static_cast<std::size_t>(got);
    to += got;
    count -= static_cast<std::size_t>(got);
  }
}

bool File::unchanged() const {
  Status status;
  return look_at(descriptor_, status) && static_cast<std::size_t>(status.st_size) == size_ &&
         status.st_mtime == modified_seconds_ && nanoseconds(status) == modified_nanoseconds_;
}

}  // namespace calque::json
