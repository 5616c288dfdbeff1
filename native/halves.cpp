// BLAKE2b (RFC 7693) of short texts, for as many seeds as there are splits.
#include "halves.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

namespace calque {

namespace {

constexpr std::size_t block_size = 128;
constexpr std::uint64_t digest_size = 8;
constexpr std::array<std::uint64_t, 8> start{0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                             0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
constexpr std::uint8_t order[12][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
};

using State = std::array<std::uint64_t, 8>;

std::uint64_t word(const std::uint8_t* at) {
    std::uint64_t value = 0;
    for (int byte = 7; byte >= 0; --byte) value = value << 8 | at[byte];
    return value;
}

void mix(std::uint64_t& a, std::uint64_t& b, std::uint64_t& c, std::uint64_t& d, std::uint64_t x, std::uint64_t y) {
    a += b + x;
    d = std::rotr(d ^ a, 32);
    c += d;
    b = std::rotr(b ^ c, 24);
    a += b + y;
    d = std::rotr(d ^ a, 16);
    c += d;
    b = std::rotr(b ^ c, 63);
}

void take_block(State& state, const std::uint8_t* block, std::uint64_t bytes, bool last) {
    std::array<std::uint64_t, 16> m, v;
    for (std::size_t i = 0; i < 16; ++i) m[i] = word(block + 8 * i);
    std::copy(state.begin(), state.end(), v.begin());
    std::copy(start.begin(), start.end(), v.begin() + 8);
    v[12] ^= bytes;
    if (last) v[14] = ~v[14];
    for (const auto& at : order) {
        mix(v[0], v[4], v[8], v[12], m[at[0]], m[at[1]]);
        mix(v[1], v[5], v[9], v[13], m[at[2]], m[at[3]]);
        mix(v[2], v[6], v[10], v[14], m[at[4]], m[at[5]]);
        mix(v[3], v[7], v[11], v[15], m[at[6]], m[at[7]]);
        mix(v[0], v[5], v[10], v[15], m[at[8]], m[at[9]]);
        mix(v[1], v[6], v[11], v[12], m[at[10]], m[at[11]]);
        mix(v[2], v[7], v[8], v[13], m[at[12]], m[at[13]]);
        mix(v[3], v[4], v[9], v[14], m[at[14]], m[at[15]]);
    }
    for (std::size_t i = 0; i < 8; ++i) state[i] ^= v[i] ^ v[i + 8];
}

// The last byte of the digest decides; the text has room for a whole last block.
std::uint8_t half(const std::vector<std::uint8_t>& text, std::size_t size) {
    State state = start;
    state[0] ^= 0x01010000 ^ digest_size;
    std::size_t done = 0;
    for (; size - done > block_size; done += block_size) take_block(state, &text[done], done + block_size, false);
    take_block(state, &text[done], size, true);
    return static_cast<std::uint8_t>(state[0] >> 56 & 1);
}

}  // namespace

std::vector<std::uint8_t> hashed_halves(std::span<const std::uint8_t> values, std::span<const std::int64_t> offsets,
                                        std::span<const std::int64_t> seeds) {
    const std::size_t names = offsets.size() - 1;
    std::vector<std::uint8_t> out(seeds.size() * names), text;
    for (std::size_t seed = 0; seed < seeds.size(); ++seed) {
        const std::string before = std::to_string(seeds[seed]) + ":";
        for (std::size_t i = 0; i < names; ++i) {
            const auto begin = static_cast<std::size_t>(offsets[i]), length = static_cast<std::size_t>(offsets[i + 1]) - begin;
            const std::size_t size = before.size() + length;
            text.assign((size / block_size + 1) * block_size, 0);
            std::memcpy(text.data(), before.data(), before.size());
            if (length) std::memcpy(text.data() + before.size(), values.data() + begin, length);
            out[seed * names + i] = half(text, size);
        }
    }
    return out;
}

}  // namespace calque
