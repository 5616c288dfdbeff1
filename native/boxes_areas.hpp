// How much area of each page and label is missing, doubled, out of place or made up.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "boxes_tables.hpp"
#include "columns.hpp"

namespace calque {

// The area of the truths and of the predictions, then of what is missing, doubled, trespassing, in excess and excused.
inline constexpr std::size_t area_kinds = 7;

// A row for each page and label that has a truth that counts or a found box, by page and label.
struct PageAreas {
    std::vector<std::int32_t> page, label;
    Shaped<std::vector<double>> areas;  // area_kinds numbers a row

    auto fields() { return std::tie(page, label, areas); }
};

PageAreas page_areas(const Side& truth, const Side& found, int jobs);

}  // namespace calque
