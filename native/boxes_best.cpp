// The found box that each truth overlaps most: many truths may share one, and the first wins a tie.
#include "boxes_best.hpp"

#include "boxes_groups.hpp"
#include "parallel.hpp"

namespace calque {

namespace {

void match_page(const Side& truth, const Side& found, std::size_t page, std::vector<Box>& boxes, BestMatch& out) {
    InterruptTicker interrupts;
    const auto first = static_cast<std::size_t>(found.offsets[page]), last = static_cast<std::size_t>(found.offsets[page + 1]);
    boxes.clear();
    for (std::size_t row = first; row < last; ++row) boxes.push_back(found.box(row));
    for (auto t = static_cast<std::size_t>(truth.offsets[page]); t < static_cast<std::size_t>(truth.offsets[page + 1]); ++t) {
        if (truth.roles[t] != Role::counts) continue;
        interrupts.tick(last - first);
        const Box box = truth.box(t);
        for (std::size_t row = first; row < last; ++row) {
            if (found.roles[row] != Role::counts) continue;
            const double shared = shared_area(found, t, box, row, boxes[row - first]);
            if (!(shared > 0)) continue;
            const double overlap = iou(shared, box, boxes[row - first]);
            if (overlap > out.iou[t]) {
                out.iou[t] = overlap;
                out.match[t] = static_cast<std::int32_t>(row);
            }
        }
    }
}

}  // namespace

BestMatch match_best(const Side& truth, const Side& found, int jobs) {
    BestMatch out{std::vector<std::int32_t>(truth.rows(), -1), std::vector<double>(truth.rows())};
    const auto cuts = page_shares(truth, found);
    in_threads(cuts.size() - 1, jobs, [&](auto next) {
        std::vector<Box> boxes;
        for (std::size_t share; (share = next()) < cuts.size() - 1;)
            for (std::size_t page = cuts[share]; page < cuts[share + 1]; ++page) match_page(truth, found, page, boxes, out);
    });
    return out;
}

}  // namespace calque
