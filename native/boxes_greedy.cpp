// Greedy 1:1 matching by IoU, one group of equal label on one page at a time.
#include "boxes_greedy.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "boxes_groups.hpp"
#include "parallel.hpp"

namespace calque {

namespace {

struct Candidate {
    double iou;
    std::uint64_t score_key;
    std::int32_t truth, found;

    bool operator<(const Candidate& other) const {
        if (iou != other.iou) return iou > other.iou;
        return std::tie(score_key, found, truth) < std::tie(other.score_key, other.found, other.truth);
    }
};

// What one thread needs; it writes only to the rows of its own pages.
class Matcher {
public:
    Matcher(const Side& truth, const Side& found, std::span<const double> scores, double threshold, GreedyMatch& out)
        : truth_(truth), found_(found), scores_(scores), threshold_(threshold), out_(out) {}

    void match(const Group& group) {
        if (group.truth.empty() || group.found.empty()) return;
        truths_.clear();
        for (const std::int32_t row : group.truth)
            truths_.push_back(truth_.box(static_cast<std::size_t>(row)));
        candidates_.clear();
        for (const std::int32_t row : group.found) compare(group, row);
        if (candidates_.size() > 1) std::sort(candidates_.begin(), candidates_.end());
        for (const Candidate& candidate : candidates_) take_if_free(candidate);
    }

private:
    void compare(const Group& group, std::int32_t row) {
        interrupts_.tick(truths_.size());
        const auto found_row = static_cast<std::size_t>(row);
        const Box found = found_.box(found_row);
        for (std::size_t i = 0; i < truths_.size(); ++i) {
            const std::int32_t truth_row = group.truth[i];
            const double shared = shared_area(found_, static_cast<std::size_t>(truth_row), truths_[i], found_row, found);
            if (!(shared > 0)) continue;
            if (truth_.roles[static_cast<std::size_t>(truth_row)] == Role::absorbs) {
                const double absorbed = share(shared, found.area);
                if (absorbed > out_.absorbed[found_row]) out_.absorbed[found_row] = absorbed;
                continue;
            }
            const double overlap = iou(shared, truths_[i], found);
            if (overlap >= threshold_)
                candidates_.push_back({overlap, falling_key(scores_[found_row]), truth_row, row});
        }
    }

    void take_if_free(const Candidate& candidate) {
        const auto truth = static_cast<std::size_t>(candidate.truth), found = static_cast<std::size_t>(candidate.found);
        if (out_.truth_match[truth] >= 0 || out_.found_match[found] >= 0) return;
        out_.truth_match[truth] = candidate.found;
        out_.found_match[found] = candidate.truth;
        measure(truth, found, candidate.iou);
    }

    void measure(std::size_t truth_row, std::size_t found_row, double overlap) {
        const Box truth = truth_.box(truth_row), found = found_.box(found_row);
        const double shared = shared_area(found_, truth_row, truth, found_row, found);
        const double width = truth.right - truth.left, height = truth.bottom - truth.top;
        out_.iou[truth_row] = out_.found_iou[found_row] = overlap;
        out_.coverage[truth_row] = share(shared, truth.area);
        out_.purity[truth_row] = share(shared, found.area);
        double* const edges = out_.edges.data() + 4 * truth_row;
        edges[0] = (found.left - truth.left) / width;
        edges[1] = (found.top - truth.top) / height;
        edges[2] = (truth.right - found.right) / width;
        edges[3] = (truth.bottom - found.bottom) / height;
    }

    const Side& truth_;
    const Side& found_;
    std::span<const double> scores_;
    double threshold_;
    GreedyMatch& out_;
    std::vector<Box> truths_;
    std::vector<Candidate> candidates_;
    InterruptTicker interrupts_;
};

}  // namespace

GreedyMatch match_greedy(const Side& truth, const Side& found, std::span<const double> scores, double threshold,
                         int jobs) {
    constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
    const auto column = [&](std::size_t size) { return Rows<double>(size, nothing); };
    GreedyMatch out{Rows<std::int32_t>(truth.rows(), -1), Rows<std::int32_t>(found.rows(), -1), Rows<double>(found.rows()),
                    column(truth.rows()), column(truth.rows()), column(truth.rows()),
                    Shaped<Rows<double>>(4 * truth.rows(), nothing), column(found.rows())};
    out.edges.shape = {truth.rows(), 4};
    const LabelNumbers numbers(truth, found);
    const auto cuts = page_shares(truth, found);
    in_threads(cuts.size() - 1, jobs, [&](auto next) {
        PageGroups groups(numbers);
        Matcher matcher(truth, found, scores, threshold, out);
        for (std::size_t share; (share = next()) < cuts.size() - 1;)
            for (std::size_t page = cuts[share]; page < cuts[share + 1]; ++page)
                for (const Group& group : groups.of(truth, found, page)) matcher.match(group);
    });
    return out;
}

}  // namespace calque
