// Poisson weights from Philox4x64-10: every document has a stream of its own, and any place in it can be had at once.
#include <array>

#include "boxes_threads.hpp"
#include "resample.hpp"

namespace calque {

namespace {

using Four = std::array<std::uint64_t, 4>;

struct Product {
    std::uint64_t high, low;
};

Product product(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t half = 0xffffffffu, a0 = a & half, a1 = a >> 32, b0 = b & half, b1 = b >> 32;
    const std::uint64_t low = a0 * b0, one = a1 * b0 + (low >> 32), other = a0 * b1 + (one & half);
    return {a1 * b1 + (one >> 32) + (other >> 32), (other << 32) | (low & half)};
}

// Salmon and others, "Parallel random numbers: as easy as 1, 2, 3" (2011); NumPy's Philox gives the same numbers.
Four philox(std::uint64_t counter, std::uint64_t key0, std::uint64_t key1) {
    Four x{counter, 0, 0, 0};
    for (int round = 0; round < 10; ++round) {
        const Product first = product(0xD2E7470EE14C6C93u, x[0]), second = product(0xCA5A826395121157u, x[2]);
        x = {second.high ^ x[1] ^ key0, second.low, first.high ^ x[3] ^ key1, first.low};
        key0 += 0x9E3779B97F4A7C15u;
        key1 += 0xBB67AE8584CAA73Bu;
    }
    return x;
}

std::int32_t weight(std::uint64_t drawn, std::span<const std::uint64_t> thresholds) {
    std::int32_t count = 0;
    for (const std::uint64_t threshold : thresholds) {
        if (drawn < threshold) break;
        ++count;
    }
    return count;
}

}  // namespace

std::vector<std::int32_t> poisson_weights(std::span<const std::int64_t> keys, std::span<const std::uint64_t> thresholds,
                                          std::uint64_t seed, std::uint64_t first, std::size_t replicates, int jobs) {
    constexpr std::size_t documents_at_once = 64;
    std::vector<std::int32_t> weights(keys.size() * replicates);
    const std::size_t pieces = (keys.size() + documents_at_once - 1) / documents_at_once;
    in_threads(pieces, jobs, [&](auto next) {
        for (std::size_t piece; (piece = next()) < pieces;) {
            const std::size_t end = std::min(keys.size(), (piece + 1) * documents_at_once);
            for (std::size_t document = piece * documents_at_once; document < end; ++document) {
                const auto key = static_cast<std::uint64_t>(keys[document]);
                std::int32_t* out = weights.data() + document * replicates;
                Four drawn{};
                for (std::size_t replicate = 0; replicate < replicates; ++replicate) {
                    const std::uint64_t place = first + replicate;
                    // The counter begins at 1, and each of its values gives four numbers.
                    if (replicate == 0 || place % 4 == 0) drawn = philox(place / 4 + 1, seed, key);
                    out[replicate] = weight(drawn[place % 4], thresholds);
                }
            }
        }
    });
    return weights;
}

}  // namespace calque
