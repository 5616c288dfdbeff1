// Word sequences side by side: length of the longest common subsequence, one such alignment, and words in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "words_rows.hpp"

namespace calque {

// Documents one after the other: words, and where each document begins.
struct Sequences {
    std::span<const Word> words;
    std::span<const std::int64_t> offsets;

    std::size_t documents() const { return offsets.size() - 1; }
    std::span<const Word> document(std::size_t i) const {
        const auto begin = static_cast<std::size_t>(offsets[i]);
        return words.subspan(begin, static_cast<std::size_t>(offsets[i + 1]) - begin);
    }
};

// For each reference word the position of its partner in the predicted document, or -1.
std::vector<std::int32_t> lcs_partners(const Sequences& reference, const Sequences& predicted, std::size_t vocabulary,
                                       std::size_t log_limit, int jobs);

}  // namespace calque
