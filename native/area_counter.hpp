// The areas that rows cover together, where rows are more than boxes.
#pragma once

#include <cstddef>
#include <memory>

#include "coverage_states.hpp"
#include "boxes_tables.hpp"

namespace calque {

// One for each thread; reused from one union to the next.
class AreaCounter {
public:
    AreaCounter() = default;
    AreaCounter(const AreaCounter&) = delete;
    AreaCounter& operator=(const AreaCounter&) = delete;
    virtual ~AreaCounter() = default;

    // All rows until the next call are of this page.
    virtual void begin(std::size_t page) = 0;
    virtual void clear() = 0;
    virtual void add_truth(std::size_t row, Part part) = 0;
    virtual void add_found(std::size_t row) = 0;
    virtual void measure(StateAreas& sums) = 0;
};

// Null where rows are boxes.
std::unique_ptr<AreaCounter> area_counter(const Side& truth, const Side& found);

}  // namespace calque
