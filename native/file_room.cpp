// Only Linux is asked, and not by posix_fallocate, which writes to every block where the file system knows no better.
#include "file_room.hpp"

#if defined(__linux__)
#include <fcntl.h>
#endif

namespace calque {

void reserve_room([[maybe_unused]] int descriptor, [[maybe_unused]] std::int64_t bytes) {
#if defined(__linux__)
    [[maybe_unused]] const int refused = fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes));
#endif
}

}  // namespace calque
