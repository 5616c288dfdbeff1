// Text to words: splitting at white space and numbering each distinct word, in one pass over UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <span>
#include <string_view>
#include <vector>

#include "json_columns.hpp"

namespace calque {

struct SplitWords {
    std::vector<std::int32_t> codes;
    std::vector<std::int64_t> offsets;  // where the words of each text begin
    json::Names vocabulary;

    auto fields() { return std::tie(codes, offsets, vocabulary.strings().bytes, vocabulary.strings().ends); }
};

// Words are numbered in the order in which they first occur. White space is what Python's str.split() takes for it.
SplitWords split_words(std::span<const std::string_view> texts);

}  // namespace calque
