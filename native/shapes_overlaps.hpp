// What outlines share, exactly: rings and boxes of one page, whatever their labels.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "boxes_tables.hpp"
#include "area_counter.hpp"
#include "columns.hpp"
#include "polygons_clip.hpp"
#include "shapes_slabs.hpp"

namespace calque {

// The rows of one side of a page as shapes; reused from page to page.
class PageShapes {
public:
    struct Row {
        std::size_t row;
        Box box;     // as it was read
        bool ring;   // whether it is more than a box
        Shape shape; // of boxes too
    };

    // Rows that are left out are passed over.
    void read(const Side& side, std::size_t page, Slabs& slabs);

    const std::vector<Row>& rows() const { return rows_; }

private:
    std::vector<Point> points_;
    std::vector<Row> rows_;
};

// The area of each row, and what each found row shares with each truth of its page.
struct Measured {
    Rows<double> truth_areas, found_areas;
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> truths;
    std::vector<double> shared;

    auto fields() { return std::tie(truth_areas, found_areas, offsets, truths, shared); }
};

Measured shape_overlaps(const Side& truth, const Side& found, int jobs);

// The pairs of consecutive pages, to be put end to end in the order of their pages.
struct PagePairs {
    std::vector<std::int32_t> counts, truths;  // of each found row its number of pairs, then their truths
    std::vector<double> shared;
};
void put_together(const std::vector<PagePairs>& parts, Measured& out);

}  // namespace calque
