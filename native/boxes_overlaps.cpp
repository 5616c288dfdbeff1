// Overlapping pairs by a plain loop over each page, and exact union areas slab by slab.
#include "boxes_overlaps.hpp"

#include <algorithm>

#include "boxes_groups.hpp"
#include "parallel.hpp"

namespace calque {

namespace {

template <class T>
void append(std::vector<T>& all, const std::vector<T>& part) {
    all.insert(all.end(), part.begin(), part.end());
}

bool is_solid(const double* box) { return box[0] < box[2] && box[1] < box[3]; }

}  // namespace

// The length that some spans cover together; sorts them.
double UnionArea::covered(std::vector<Span>& spans) {
    std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.from < b.from; });
    double length = 0, from = 0, to = 0;
    bool open = false;
    for (const Span& span : spans) {
        if (open && span.from <= to) {
            to = std::max(to, span.to);
            continue;
        }
        if (open) length += to - from;
        from = span.from;
        to = span.to;
        open = true;
    }
    return open ? length + (to - from) : 0.0;
}

// The plane is cut at every left and right edge; within such a slab the union is a matter of heights alone.
double UnionArea::of(std::span<const double> boxes) {
    edges_.clear();
    for (std::size_t at = 0; at < boxes.size(); at += 4)
        if (is_solid(&boxes[at])) edges_.insert(edges_.end(), {boxes[at], boxes[at + 2]});
    std::sort(edges_.begin(), edges_.end());
    edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
    double sum = 0;
    InterruptTicker interrupts;
    for (std::size_t i = 1; i < edges_.size(); ++i) {
        interrupts.tick(boxes.size());
        spans_.clear();
        for (std::size_t at = 0; at < boxes.size(); at += 4)
            if (is_solid(&boxes[at]) && boxes[at] <= edges_[i - 1] && edges_[i] <= boxes[at + 2])
                spans_.push_back({boxes[at + 1], boxes[at + 3]});
        sum += (edges_[i] - edges_[i - 1]) * covered(spans_);
    }
    return sum;
}

Overlaps overlapping_pairs(const Side& truth, const Side& found, int jobs) {
    const auto cuts = page_shares(truth, found);
    std::vector<Overlaps> parts(cuts.size() - 1);
    in_threads(parts.size(), jobs, [&](auto next) {
        PageOverlaps overlaps;
        for (std::size_t share; (share = next()) < parts.size();)
            for (std::size_t page = cuts[share]; page < cuts[share + 1]; ++page)
                overlaps.each(truth, found, page, [&](const PageBox& there, const PageBox& here, double shared) {
                    parts[share].truth.push_back(static_cast<std::int32_t>(there.row));
                    parts[share].found.push_back(static_cast<std::int32_t>(here.row));
                    parts[share].shared.push_back(shared);
                });
    });
    Overlaps out;
    std::size_t pairs = 0;
    for (const Overlaps& part : parts) pairs += part.truth.size();
    out.truth.reserve(pairs);
    out.found.reserve(pairs);
    out.shared.reserve(pairs);
    for (const Overlaps& part : parts) {
        append(out.truth, part.truth);
        append(out.found, part.found);
        append(out.shared, part.shared);
    }
    return out;
}

}  // namespace calque
