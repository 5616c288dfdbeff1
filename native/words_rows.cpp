// Building the index of a reference, counting rises, and the maximum of two rows.
#include "words_rows.hpp"

namespace calque {

void WordIndex::build(std::span<const Word> reference) {
    for (const Word word : words_) slot_of_[static_cast<std::size_t>(word)] = -1;
    words_.clear();
    std::vector<std::uint32_t> last_block;
    std::vector<std::size_t> counts;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const auto block = static_cast<std::uint32_t>(i / block_bits);
        std::int32_t& slot = slot_of_[static_cast<std::size_t>(reference[i])];
        if (slot < 0) {
            slot = static_cast<std::int32_t>(words_.size());
            words_.push_back(reference[i]);
            last_block.push_back(block);
            counts.push_back(1);
        } else if (last_block[static_cast<std::size_t>(slot)] != block) {
            last_block[static_cast<std::size_t>(slot)] = block;
            ++counts[static_cast<std::size_t>(slot)];
        }
    }
    starts_.assign(words_.size() + 1, 0);
    for (std::size_t slot = 0; slot < words_.size(); ++slot) starts_[slot + 1] = starts_[slot] + counts[slot];
    blocks_.assign(starts_.back(), 0);
    masks_.assign(starts_.back(), 0);
    std::vector<std::size_t> filled(starts_.begin(), starts_.end() - 1);
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const auto block = static_cast<std::uint32_t>(i / block_bits);
        const auto slot = static_cast<std::size_t>(slot_of_[static_cast<std::size_t>(reference[i])]);
        std::size_t& at = filled[slot];
        if (at > starts_[slot] && blocks_[at - 1] == block) {
            masks_[at - 1] |= Bits{1} << (i % block_bits);
        } else {
            blocks_[at] = block;
            masks_[at++] = Bits{1} << (i % block_bits);
        }
    }
}

std::int64_t WordIndex::last_before(Word word, std::int64_t end) const {
    const Marks found = marks(word);
    if (found.size == 0 || end <= 0) return -1;
    const auto last = static_cast<std::uint32_t>(static_cast<std::size_t>(end - 1) / block_bits);
    auto at = static_cast<std::size_t>(std::upper_bound(found.blocks, found.blocks + found.size, last) - found.blocks);
    while (at-- > 0) {
        Bits mask = found.masks[at];
        const auto rest = static_cast<std::size_t>(end) % block_bits;
        if (found.blocks[at] == last && rest != 0) mask &= (Bits{1} << rest) - 1;
        if (mask != 0) {
            const std::size_t highest = block_bits - 1 - static_cast<std::size_t>(std::countl_zero(mask));
            return static_cast<std::int64_t>(found.blocks[at] * block_bits + highest);
        }
    }
    return -1;
}

namespace {

std::int64_t rises_portable(const Bits* bits, std::size_t from, std::size_t to) {
    std::int64_t count = 0;
    for (std::size_t block = from; block < to; ++block) count += std::popcount(~bits[block]);
    return count;
}

#if defined(__x86_64__) && defined(__GNUC__)
// Portable builds know no population count instruction; every processor of the last fifteen years has one.
__attribute__((target("popcnt"))) std::int64_t rises_counted(const Bits* bits, std::size_t from, std::size_t to) {
    std::int64_t count = 0;
    for (std::size_t block = from; block < to; ++block) count += __builtin_popcountll(~bits[block]);
    return count;
}
#endif

}  // namespace

std::int64_t rises(const Bits* bits, std::size_t from, std::size_t to) {
#if defined(__x86_64__) && defined(__GNUC__)
    static const bool counted = __builtin_cpu_supports("popcnt") != 0;
    if (counted) return rises_counted(bits, from, to);
#endif
    return rises_portable(bits, from, to);
}

void take_maximum(Row& row, const Row& other, std::size_t limit) {
    std::int64_t ahead = 0;  // how far `row` is above `other` where the walk stands
    const std::size_t end = std::min(limit, std::max(row.top, other.top));
    for (std::size_t block = 0; block < end; ++block) {
        const Bits mine = ~row.bits[block];
        const Bits theirs = ~other.bits[block];
        Bits differing = mine ^ theirs;
        Bits result = mine & theirs;
        while (differing != 0) {
            const Bits bit = differing & (0 - differing);
            differing ^= bit;
            const bool rises_mine = (mine & bit) != 0;
            if (ahead == 0 || (ahead > 0) == rises_mine) result |= bit;
            ahead += rises_mine ? 1 : -1;
        }
        row.bits[block] = ~result;
    }
    row.top = std::max(row.top, std::min(limit, other.top));
}

}  // namespace calque
