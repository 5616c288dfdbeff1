// Room on a disk for what is about to be written.
#pragma once

#include <cstdint>

namespace calque {

// Sets aside room for a file of so many bytes, which is empty and open for writing. A wish: where the system or its file
// system has no quick way to do so, nothing happens, and whoever writes hears whether there is room.
void reserve_room(int descriptor, std::int64_t bytes);

}  // namespace calque
