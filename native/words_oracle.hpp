// The path through a lattice of words that shares most with a reference, exactly, with bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <span>
#include <vector>

#include "words_rows.hpp"

namespace calque {

// Nodes are numbered so that every edge leads upwards; node 0 is the start, and every node lies on some path to a final.
struct Lattice {
    std::span<const std::int32_t> from;
    std::span<const std::int32_t> to;
    std::span<const std::int64_t> offsets;  // where the words of each edge begin
    std::span<const Word> words;
    std::span<const std::uint8_t> final_nodes;

    std::size_t nodes() const { return final_nodes.size(); }
    std::size_t edges() const { return from.size(); }
    std::span<const Word> words_of(std::size_t edge) const {
        const auto begin = static_cast<std::size_t>(offsets[edge]);
        return words.subspan(begin, static_cast<std::size_t>(offsets[edge + 1]) - begin);
    }
};

struct BestPath {
    std::int64_t matches = 0;
    std::vector<std::int32_t> edges;

    auto fields() { return std::tie(matches, edges); }
};

// Most matches, then fewest words, then the lowest edge numbers from the start on. `row_limit` bounds how many rows of the
// table are held at once beside those that edges still need.
BestPath best_path(std::span<const Word> reference, const Lattice& lattice, std::size_t vocabulary, std::size_t row_limit);

}  // namespace calque
