// Blocks of memory for columns: from the heap while they are small, from the system when they are large.
#include <cstdlib>
#include <cstring>
#include <new>

#include "json_columns.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace calque::json {

#if defined(__linux__)
namespace {

// glibc would do the same with realloc, but raises its own limit as a process goes on, and then copies.
constexpr std::size_t kLarge = std::size_t{1} << 18;

void* map_block(std::size_t bytes) {
  void* const block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) throw std::bad_alloc();
  return block;
}

}  // namespace

void* resize_block(void* block, std::size_t old_bytes, std::size_t new_bytes) {
  if (new_bytes < kLarge) {
    void* const grown = std::realloc(block, new_bytes);
    if (grown == nullptr) throw std::bad_alloc();
    return grown;
  }
  if (old_bytes >= kLarge) {
    void* const moved = mremap(block, old_bytes, new_bytes, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) throw std::bad_alloc();
    return moved;
  }
  void* const mapped = map_block(new_bytes);
  if (old_bytes != 0) std::memcpy(mapped, block, old_bytes);
  std::free(block);
  return mapped;
}

void free_block(void* block, std::size_t bytes) noexcept {
  if (bytes >= kLarge) munmap(block, bytes);
  else std::free(block);
}

#else

void* resize_block(void* block, std::size_t, std::size_t new_bytes) {
  void* const grown = std::realloc(block, new_bytes);
  if (grown == nullptr) throw std::bad_alloc();
  return grown;
}

void free_block(void* block, std::size_t) noexcept { std::free(block); }

#endif

}  // namespace calque::json
