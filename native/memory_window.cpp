// On Linux pages are moved from behind the window to its front; other systems keep the whole block.
#include "memory_window.hpp"

#include <algorithm>
#include <cstdint>

#include "memory.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace calque {

namespace {

// The size of a large page on most processors; where pages are smaller it is a multiple of theirs, which is all that counts.
constexpr std::size_t piece = std::size_t{1} << 21;

}  // namespace

// One piece more than asked for, so that the pieces can begin where large pages do.
Window::Window(std::size_t bytes) : bytes_(bytes > piece ? (bytes / piece + 2) * piece : bytes) {
    block_ = zero_block(bytes_, true);
    data_ = static_cast<char*>(block_);
    if (bytes_ > bytes) data_ += (piece - reinterpret_cast<std::uintptr_t>(block_) % piece) % piece;
}

Window::~Window() { free_zero_block(block_, bytes_); }

#if defined(__linux__)

namespace {

bool move_pages([[maybe_unused]] char* from, [[maybe_unused]] char* to) {
#if defined(MREMAP_DONTUNMAP)
    // Zeros stay behind; kernels before 5.7 refuse.
    return mremap(from, piece, piece, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to) != MAP_FAILED;
#else
    return false;
#endif
}

}  // namespace

void Window::slide(std::size_t keep, std::size_t until) {
    const std::size_t needed = (until / piece + 1) * piece;
    // What lies behind waits until it is needed in front: what is kept may lag, and then be given up all at once.
    for (; front_ < needed; front_ += piece) {
        if (back_ + piece > keep) continue;
        if (!move_pages(data_ + back_, data_ + front_)) madvise(data_ + back_, piece, MADV_DONTNEED);
        back_ += piece;
    }
}

#else

void Window::slide(std::size_t, std::size_t) {}

#endif

}  // namespace calque
