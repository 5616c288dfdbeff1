// Deals documents into two halves by a hash of their names.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace calque {

// For each seed and each name (values[offsets[i]] .. values[offsets[i + 1]]) the lowest bit of BLAKE2b with 8 bytes of
// "seed:name", read as one number with the highest byte first.
std::vector<std::uint8_t> hashed_halves(std::span<const std::uint8_t> values, std::span<const std::int64_t> offsets,
                                        std::span<const std::int64_t> seeds);

}  // namespace calque
