// Ordered trees of any depth: the cheapest way to turn one into the other (Zhang and Shasha).
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <span>
#include <vector>

#include "tables_rows.hpp"
#include "tables_texts.hpp"

namespace calque {

// Trees one after the other, each with its children before their parents: for each node a label, a text (-1 for none)
// and the first node of all that it holds, counted from the beginning of its tree.
struct Trees {
    std::span<const std::int64_t> offsets;
    std::span<const std::int32_t> labels, texts, firsts;

    auto fields() { return std::tie(offsets, labels, texts, firsts); }
    std::size_t size(std::size_t tree) const { return static_cast<std::size_t>(offsets[tree + 1] - offsets[tree]); }
};

std::vector<double> tree_distances(const Trees& truth, const Trees& found, const TablePairs& pairs, const Texts& texts, int jobs);

}  // namespace calque
