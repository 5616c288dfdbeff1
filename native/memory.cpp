// Blocks of memory: from the heap while they are small, from the system when they are large.
#include "memory.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace calque {

namespace {

void* zeros_from_heap(std::size_t bytes) {
    void* const block = std::calloc(std::max<std::size_t>(bytes, 1), 1);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}

}  // namespace

#if defined(__linux__)
namespace {

// glibc would do the same with realloc, but raises its own limit as a process goes on, and then copies.
constexpr std::size_t large = std::size_t{1} << 18;

// From here on a block is worth pages of 2 MB: touching a small page for the first time costs more than filling it.
constexpr std::size_t huge = std::size_t{1} << 22;
[[maybe_unused]] constexpr std::size_t large_page = std::size_t{1} << 21;

void* advised(void* block, [[maybe_unused]] std::size_t bytes) {
    if (block == MAP_FAILED) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
    if (bytes >= huge) madvise(block, bytes, MADV_HUGEPAGE);  // a wish: it may be refused
#endif
    return block;
}

void* map_block(std::size_t bytes, int more = 0) {
    return advised(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more, -1, 0), bytes);
}

}  // namespace

void* resize_block(void* block, std::size_t old_bytes, std::size_t new_bytes) {
    if (new_bytes < large) {
        void* const grown = std::realloc(block, new_bytes);
        if (grown == nullptr) throw std::bad_alloc();
        return grown;
    }
    if (old_bytes >= large) return advised(mremap(block, old_bytes, new_bytes, MREMAP_MAYMOVE), new_bytes);
    void* const mapped = map_block(new_bytes);
    if (old_bytes != 0) std::memcpy(mapped, block, old_bytes);
    std::free(block);
    return mapped;
}

void free_block(void* block, std::size_t bytes) noexcept {
    if (bytes >= large)
        munmap(block, bytes);
    else
        std::free(block);
}

void* zero_block(std::size_t bytes, bool stays_empty) {
    return bytes >= huge ? map_block(bytes, stays_empty ? MAP_NORESERVE : 0) : zeros_from_heap(bytes);
}

void free_zero_block(void* block, std::size_t bytes) noexcept {
    if (bytes >= huge)
        munmap(block, bytes);
    else
        std::free(block);
}

#else

void* resize_block(void* block, std::size_t, std::size_t new_bytes) {
    void* const grown = std::realloc(block, new_bytes);
    if (grown == nullptr) throw std::bad_alloc();
    return grown;
}

void free_block(void* block, std::size_t) noexcept { std::free(block); }

void* zero_block(std::size_t bytes, bool) { return zeros_from_heap(bytes); }

void free_zero_block(void* block, std::size_t) noexcept { std::free(block); }

#endif

#if defined(__linux__) && defined(__GLIBC__) && defined(MADV_HUGEPAGE)
namespace {

// What a short command needs in all. Of it only what is used takes memory, 2 MB at a time.
constexpr int heap_ahead = 32 << 20;
constexpr int usual_step = 1 << 20;

// Lets the heap grow by one long piece, in pages of 2 MB: small ones cost a short command more than what is written to them.
void grow_in_large_pages() {
    const auto end = [] { return reinterpret_cast<std::uintptr_t>(sbrk(0)); };
    const std::uintptr_t before = end();
    mallopt(M_TOP_PAD, heap_ahead);
    void* volatile asked = std::malloc(usual_step);  // the heap grows when it is asked
    std::free(asked);
    mallopt(M_TOP_PAD, usual_step);
    const std::uintptr_t first = (before + large_page - 1) / large_page * large_page;
    if (end() > first) madvise(reinterpret_cast<void*>(first), end() - first, MADV_HUGEPAGE);  // a wish: it may be refused
}

}  // namespace
#else
namespace {

[[maybe_unused]] void grow_in_large_pages() {}

}  // namespace
#endif

void keep_freed_memory() {
#if defined(__GLIBC__)
    mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that glibc would raise it to by itself
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    mallopt(M_ARENA_MAX, 1);  // else each thread has a heap of its own, and takes anew what another has freed
    grow_in_large_pages();
#endif
}

}  // namespace calque
