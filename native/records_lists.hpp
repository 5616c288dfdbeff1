// Texts and lists of records: edit distances of chosen pairs, and partners that nobody else wants.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tables_texts.hpp"

namespace calque {

// The edit distance of the texts of each pair; pairs with the same first text on end are the fastest.
void edit_distances(const Texts& texts, std::span<const std::int32_t> first, std::span<const std::int32_t> second,
                    std::span<std::int32_t> distances);

// One field of list items: for each item the number of its value (below 0 where there is none), and how alike two values are,
// which is the product of whatever is given here.
struct ItemLeaf {
    std::span<const std::int32_t> truth, found;
    double weight;
    std::optional<std::span<const double>> truth_keys, found_keys;  // by value: alike where equal
    std::optional<Texts> texts;                                     // by value, the truth's first: the nearer the more alike
    std::size_t truth_texts;
    std::optional<std::span<const double>> scores;  // by pair of items, list after list
};

// Lists: where the items of each begin, and how many it has.
struct ItemRows {
    std::span<const std::int64_t> truth, heights, found, widths;
};

// For each list each item's best partner (seen from the shorter side), where no two want the same and each prefers its own by
// more than `slack`; -1 for the items of other lists.
void item_partners(const std::vector<ItemLeaf>& leaves, const ItemRows& lists, double slack, std::span<std::int32_t> partners,
                   std::span<std::uint8_t> settled);

}  // namespace calque
