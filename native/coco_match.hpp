// COCO's matching by score, at all IoU thresholds and area ranges, as pycocotools decides it.
#pragma once

#include <cstdint>
#include <tuple>
#include <span>
#include <vector>

#include "boxes_tables.hpp"
#include "columns.hpp"

namespace calque {

using Mask = std::uint16_t;  // bit t: the statement holds at threshold t
inline constexpr std::size_t most_thresholds = 16;

struct CocoTruths {
    std::span<const double> areas;
    std::span<const std::uint8_t> crowd;
    std::span<const double> found_areas;  // the sizes of found rows that decide about area ranges, where not their areas
};

struct CocoSettings {
    std::span<const double> thresholds;
    std::span<const double> area_ranges;  // low and high of each
    std::int64_t max_detections;

    auto fields() { return std::tie(thresholds, area_ranges, max_detections); }
    std::size_t ranges() const { return area_ranges.size() / 2; }
    bool outside(double area, std::size_t range) const {
        return area < area_ranges[2 * range] || area > area_ranges[2 * range + 1];
    }
};

// What found and truth rows share, where it is known already: row f overlaps truth[offsets[f]] to truth[offsets[f + 1]],
// rows of its own page and label, by so much.
struct GivenOverlaps {
    std::span<const std::int64_t> offsets;
    std::span<const std::int32_t> truth;
    std::span<const double> overlap;
    std::span<const double> found_areas;

    auto fields() { return std::tie(offsets, truth, overlap, found_areas); }
};

// Tables of a row per box and a column per area range.
struct CocoMatch {
    Rows<std::int32_t> rank;
    Shaped<Rows<Mask>> matched, ignored;
    Shaped<Rows<std::uint8_t>> truth_ignored;
    Shaped<Rows<std::int32_t>> partners;  // by found row, range and threshold: the truth row, or -1; empty unless asked for

    auto fields() { return std::tie(rank, matched, ignored, truth_ignored, partners); }
};

CocoMatch coco_match(const Side& truth, const CocoTruths& extra, const Side& found, std::span<const double> scores,
                     const CocoSettings& settings, int jobs);

// The same with overlaps and areas that are not those of the boxes.
CocoMatch coco_match_given(const Side& truth, const CocoTruths& extra, const Side& found, std::span<const double> scores,
                           const GivenOverlaps& given, const CocoSettings& settings, bool partners, int jobs);

}  // namespace calque
