// Which boxes of a page overlap, whatever their labels, and the area that several boxes cover together.
#pragma once

#include <cstdint>
#include <tuple>
#include <span>
#include <vector>

#include "boxes_tables.hpp"
#include "interrupt.hpp"

namespace calque {

struct PageBox {
    Box box;
    std::size_t row;
};

// The pairs of one page that count and share some area, whatever their labels; reused from page to page.
class PageOverlaps {
public:
    // Calls visit(truth, found, shared area) for each, by found row and then truth row.
    template <class Visit>
    void each(const Side& truth, const Side& found, std::size_t page, Visit visit) {
        if (found.shared.given()) return each_shared(truth, found, page, visit);
        truths_.clear();
        for_each_counting(truth, page, [&](std::size_t row) { truths_.push_back({truth.box(row), row}); });
        if (truths_.empty()) return;
        hits_.resize(truths_.size() + 1);
        for_each_counting(found, page, [&](std::size_t row) {
            interrupts_.tick(truths_.size());
            const PageBox here{found.box(row), row};
            const std::size_t hits = list_hits(here.box);
            for (std::size_t i = 0; i < hits; ++i) {
                const PageBox& there = truths_[hits_[i]];
                const double shared = intersection(there.box, here.box);
                if (shared > 0) visit(there, here, shared);
            }
        });
    }

private:
    template <class Visit>
    static void each_shared(const Side& truth, const Side& found, std::size_t page, Visit visit) {
        for_each_counting(found, page, [&](std::size_t row) {
            const PageBox here{found.box(row), row};
            for (auto i = found.shared.offsets[row]; i < found.shared.offsets[row + 1]; ++i) {
                const auto pair = static_cast<std::size_t>(i);
                const auto with = static_cast<std::size_t>(found.shared.truths[pair]);
                if (truth.roles[with] == Role::counts) visit(PageBox{truth.box(with), with}, here, found.shared.areas[pair]);
            }
        });
    }

    template <class Visit>
    static void for_each_counting(const Side& side, std::size_t page, Visit visit) {
        const auto end = static_cast<std::size_t>(side.offsets[page + 1]);
        for (auto row = static_cast<std::size_t>(side.offsets[page]); row < end; ++row)
            if (side.roles[row] == Role::counts) visit(row);
    }

    // Writes every truth and keeps the place only of those that meet the box: which they are is noise, and a branch would
    // be guessed wrong.
    std::size_t list_hits(const Box& box) {
        std::size_t hits = 0;
        for (std::size_t i = 0; i < truths_.size(); ++i) {
            hits_[hits] = static_cast<std::uint32_t>(i);
            hits += static_cast<std::size_t>(touch(truths_[i].box, box));
        }
        return hits;
    }

    std::vector<PageBox> truths_;
    std::vector<std::uint32_t> hits_;
    InterruptTicker interrupts_;
};

// The area that boxes (x1, y1, x2, y2) cover together; reused from one union to the next.
class UnionArea {
public:
    double of(std::span<const double> boxes);

private:
    struct Span {
        double from, to;
    };
    static double covered(std::vector<Span>& spans);

    std::vector<double> edges_;
    std::vector<Span> spans_;
};

// Pairs that share some area, by found row and then truth row.
struct Overlaps {
    std::vector<std::int32_t> truth, found;
    std::vector<double> shared;

    auto fields() { return std::tie(truth, found, shared); }
};

Overlaps overlapping_pairs(const Side& truth, const Side& found, int jobs);

}  // namespace calque
