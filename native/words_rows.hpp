// Rows of the longest-common-subsequence table as bits: bit i is 0 where the row rises between reference words i and i + 1.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace calque {

using Word = std::int32_t;
using Bits = std::uint64_t;

constexpr Bits all_ones = ~Bits{0};
constexpr std::size_t block_bits = 64;

inline std::size_t blocks_for(std::size_t words) { return (words + block_bits - 1) / block_bits; }

// Which words of a reference are where: for each word the blocks that hold it, in order, each with a mask.
class WordIndex {
   public:
    explicit WordIndex(std::size_t vocabulary) : slot_of_(vocabulary, -1) {}

    void build(std::span<const Word> reference);

    struct Marks {
        const std::uint32_t* blocks;
        const Bits* masks;
        std::size_t size;
    };

    Marks marks(Word word) const {
        const std::int32_t slot = slot_of_[static_cast<std::size_t>(word)];
        if (slot < 0) return {nullptr, nullptr, 0};
        const std::size_t begin = starts_[static_cast<std::size_t>(slot)];
        return {blocks_.data() + begin, masks_.data() + begin, starts_[static_cast<std::size_t>(slot) + 1] - begin};
    }

    // The last position before `end` that holds the word, or -1.
    std::int64_t last_before(Word word, std::int64_t end) const;

   private:
    std::vector<std::int32_t> slot_of_;  // by word; -1 when the reference does not have it
    std::vector<Word> words_;            // the words that the reference has, to clean slot_of_ up again
    std::vector<std::size_t> starts_;
    std::vector<std::uint32_t> blocks_;
    std::vector<Bits> masks_;
};

// One row of the table. Blocks from `top` on have never been touched: all ones.
struct Row {
    std::vector<Bits> bits;
    std::size_t top = 0;

    void reset(std::size_t blocks) {
        bits.assign(blocks, all_ones);
        top = 0;
    }
};

// Calls `before(block, bits)` for a block about to change, so that the caller can undo it.
template <class Before>
bool carry_through(Row& row, std::size_t at, std::size_t end, Before& before) {
    for (std::size_t block = at; block < std::min(end, row.top); ++block) {
        const Bits bits = row.bits[block];
        if (bits != all_ones) {
            before(block, bits);
            row.bits[block] = bits | (bits + 1);
            return false;
        }
    }
    return true;
}

// The row after one more word, in its first `limit` blocks. Only blocks that hold the word change, and those a carry reaches.
template <class Before>
void advance(Row& row, const WordIndex::Marks& marks, std::size_t limit, Before before) {
    bool carry = false;
    std::size_t reached = 0;
    for (std::size_t i = 0; i < marks.size; ++i) {
        const std::size_t block = marks.blocks[i];
        if (block >= limit) break;
        if (carry) carry = carry_through(row, reached, block, before);
        reached = block + 1;
        const Bits bits = row.bits[block];
        const Bits used = bits & marks.masks[i];
        if (used == 0 && !carry) continue;
        const Bits sum = bits + used;
        const Bits carried = sum + (carry ? 1 : 0);
        const Bits changed = carried | (bits ^ used);
        carry = sum < bits || carried < sum;
        if (changed != bits) {
            before(block, bits);
            row.bits[block] = changed;
            row.top = std::max(row.top, block + 1);
        }
    }
    if (carry) carry_through(row, reached, limit, before);
}

inline void advance(Row& row, const WordIndex::Marks& marks, std::size_t limit) {
    advance(row, marks, limit, [](std::size_t, Bits) {});
}

// How often the row rises in whole blocks [from, to).
std::int64_t rises(const Bits* bits, std::size_t from, std::size_t to);

// How often the row rises before a position.
inline std::int64_t rises_before(const Bits* bits, std::size_t position) {
    const std::size_t whole = position / block_bits;
    const std::size_t rest = position % block_bits;
    const std::int64_t counted = rises(bits, 0, whole);
    return rest == 0 ? counted : counted + std::popcount(~bits[whole] & ((Bits{1} << rest) - 1));
}

// The highest position below `end` at which the row rises, or -1.
inline std::int64_t last_rise(const Row& row, std::int64_t end) {
    if (end <= 0) return -1;
    auto block = static_cast<std::size_t>(end - 1) / block_bits;
    const auto rest = static_cast<std::size_t>(end) % block_bits;
    Bits risen = ~row.bits[block] & (rest == 0 ? all_ones : (Bits{1} << rest) - 1);
    while (risen == 0) {
        if (block == 0) return -1;
        risen = ~row.bits[--block];
    }
    return static_cast<std::int64_t>(block * block_bits + block_bits - 1) - std::countl_zero(risen);
}

// `row` becomes the pointwise maximum of itself and `other`, in the first `limit` blocks.
void take_maximum(Row& row, const Row& other, std::size_t limit);

}  // namespace calque
