// COCO's matching by score: bit masks take all thresholds in one pass, and area ranges with equal truths share a pass.
#include "coco_match.hpp"

#include <algorithm>

#include "boxes_groups.hpp"
#include "boxes_threads.hpp"

namespace calque {

namespace {

struct Candidate {
    double overlap;
    std::uint32_t truth;  // position in the group
    Mask mask;

    bool operator<(const Candidate& other) const {
        return overlap != other.overlap ? overlap > other.overlap : truth > other.truth;
    }
};

struct Ranked {
    std::uint64_t key;
    std::int32_t row;

    bool operator<(const Ranked& other) const { return key != other.key ? key < other.key : row < other.row; }
};

// A found box that reaches at least one truth: its candidates, best first, and what it matched in one pass.
struct Contender {
    std::size_t row, first, last;
    Mask matched, to_ignored;
};

class Matcher {
public:
    Matcher(const Side& truth, const CocoTruth& extra, const Side& found, std::span<const double> scores,
            const CocoSettings& settings, CocoMatch& out)
        : truth_(truth),
          extra_(extra),
          found_(found),
          scores_(scores),
          settings_(settings),
          out_(out),
          every_(static_cast<Mask>((1u << settings.thresholds.size()) - 1)) {
        if (!settings.thresholds.empty())
            lowest_ = *std::min_element(settings.thresholds.begin(), settings.thresholds.end());
    }

    void match(const Group& group) {
        rank(group);
        read_truths(group);
        candidates_.clear();
        contenders_.clear();
        for (const Ranked& found : ranked_) compare(static_cast<std::size_t>(found.row));
        if (!contenders_.empty())
            for (std::size_t range = 0; range < settings_.ranges(); ++range) match_range(group, range);
    }

private:
    void rank(const Group& group) {
        ranked_.clear();
        for (const std::int32_t row : group.found)
            ranked_.push_back({falling_key(scores_[static_cast<std::size_t>(row)]), row});
        if (ranked_.size() > 1) std::sort(ranked_.begin(), ranked_.end());
        for (std::size_t i = 0; i < ranked_.size(); ++i)
            out_.rank[static_cast<std::size_t>(ranked_[i].row)] = static_cast<std::int32_t>(i);
        const auto most = static_cast<std::size_t>(std::max<std::int64_t>(settings_.max_detections, 0));
        if (ranked_.size() > most) ranked_.resize(most);
    }

    void read_truths(const Group& group) {
        truths_.clear();
        rows_.clear();
        crowd_.clear();
        for (const std::int32_t row : group.truth) {
            const auto at = static_cast<std::size_t>(row);
            truths_.push_back(truth_.box(at));
            rows_.push_back(at);
            crowd_.push_back(extra_.crowd[at]);
            for (std::size_t range = 0; range < settings_.ranges(); ++range)
                out_.truth_ignored[at * settings_.ranges() + range] =
                    extra_.crowd[at] || settings_.outside(extra_.areas[at], range);
        }
    }

    // Lists the truths that a found box reaches; as long as it matches none, its size alone decides whether it is
    // ignored.
    void compare(std::size_t row) {
        const Box found = found_.box(row);
        const std::size_t first = candidates_.size();
        for (std::size_t i = 0; i < truths_.size(); ++i) {
            const double shared = shared_area(found_, rows_[i], truths_[i], row, found);
            if (!(shared > 0) && lowest_ > 0) continue;
            const double overlap = crowd_[i] && shared > 0 ? shared / found.area : iou(shared, truths_[i], found);
            if (overlap >= lowest_) candidates_.push_back({overlap, static_cast<std::uint32_t>(i), reached(overlap)});
        }
        if (candidates_.size() > first) {
            if (candidates_.size() > first + 1)
                std::sort(candidates_.begin() + static_cast<std::ptrdiff_t>(first), candidates_.end());
            contenders_.push_back({row, first, candidates_.size(), 0, 0});
        }
        const double size = extra_.found_areas.empty() ? found.area : extra_.found_areas[row];
        for (std::size_t range = 0; range < settings_.ranges(); ++range)
            if (settings_.outside(size, range)) out_.ignored[row * settings_.ranges() + range] = every_;
    }

    Mask reached(double overlap) const {
        unsigned mask = 0;
        for (std::size_t t = 0; t < settings_.thresholds.size(); ++t)
            mask |= unsigned{overlap >= settings_.thresholds[t]} << t;
        return static_cast<Mask>(mask);
    }

    void match_range(const Group& group, std::size_t range) {
        const std::size_t twin = first_range_like(group, range);
        if (twin == range)
            take_by_score(group, range);
        else
            copy_matches(twin);
        for (const Contender& contender : contenders_) {
            const std::size_t at = contender.row * settings_.ranges() + range;
            out_.matched[at] = contender.matched;
            out_.ignored[at] = static_cast<Mask>(contender.to_ignored | (out_.ignored[at] & ~contender.matched));
        }
    }

    void copy_matches(std::size_t range) {
        for (Contender& contender : contenders_) {
            const std::size_t at = contender.row * settings_.ranges() + range;
            contender.matched = out_.matched[at];
            contender.to_ignored = out_.ignored[at] & contender.matched;
        }
    }

    // The first range that ignores the same truths: its matches are this range's too.
    std::size_t first_range_like(const Group& group, std::size_t range) const {
        const std::size_t ranges = settings_.ranges();
        for (std::size_t earlier = 0; earlier < range; ++earlier)
            if (std::all_of(group.truth.begin(), group.truth.end(), [&](std::int32_t row) {
                    const std::uint8_t* flags = &out_.truth_ignored[static_cast<std::size_t>(row) * ranges];
                    return flags[earlier] == flags[range];
                }))
                return earlier;
        return range;
    }

    // Truths that count go first, whatever the overlap; a crowd is never used up.
    void take_by_score(const Group& group, std::size_t range) {
        const std::size_t ranges = settings_.ranges();
        const auto is_ignored = [&](std::uint32_t truth) {
            return out_.truth_ignored[static_cast<std::size_t>(group.truth[truth]) * ranges + range] != 0;
        };
        taken_.assign(truths_.size(), 0);
        for (Contender& contender : contenders_) {
            unsigned matched = 0, to_ignored = 0;
            for (const bool ignored : {false, true})
                for (std::size_t c = contender.first; c < contender.last; ++c) {
                    const Candidate& candidate = candidates_[c];
                    if (is_ignored(candidate.truth) != ignored) continue;
                    const unsigned take = candidate.mask & ~matched & ~unsigned{taken_[candidate.truth]};
                    matched |= take;
                    if (ignored) to_ignored |= take;
                    if (!crowd_[candidate.truth])
                        taken_[candidate.truth] = static_cast<Mask>(taken_[candidate.truth] | take);
                }
            contender.matched = static_cast<Mask>(matched);
            contender.to_ignored = static_cast<Mask>(to_ignored);
        }
    }

    const Side& truth_;
    const CocoTruth& extra_;
    const Side& found_;
    std::span<const double> scores_;
    const CocoSettings& settings_;
    CocoMatch& out_;
    Mask every_;
    double lowest_ = std::numeric_limits<double>::infinity();
    std::vector<Ranked> ranked_;
    std::vector<Box> truths_;
    std::vector<std::size_t> rows_;  // of the truths
    std::vector<std::uint8_t> crowd_;
    std::vector<Candidate> candidates_;
    std::vector<Contender> contenders_;
    std::vector<Mask> taken_;
};

}  // namespace

CocoMatch coco_match(const Side& truth, const CocoTruth& extra, const Side& found, std::span<const double> scores,
                     CocoSettings settings, int jobs) {
    // pycocotools' ceiling: a box equal to its truth passes a threshold of 1 in spite of rounding.
    for (double& threshold : settings.thresholds) threshold = std::min(threshold, 1 - 1e-10);
    const std::size_t ranges = settings.ranges();
    CocoMatch out{Rows<std::int32_t>(found.rows(), -1), Rows<Mask>(found.rows() * ranges), Rows<Mask>(found.rows() * ranges),
                  Rows<std::uint8_t>(truth.rows() * ranges, 1)};
    const LabelNumbers numbers(truth, found);
    const auto cuts = page_shares(truth, found);
    in_threads(cuts.size() - 1, jobs, [&](auto next) {
        PageGroups groups(numbers);
        Matcher matcher(truth, extra, found, scores, settings, out);
        for (std::size_t share; (share = next()) < cuts.size() - 1;)
            for (std::size_t page = cuts[share]; page < cuts[share + 1]; ++page)
                for (const Group& group : groups.of(truth, found, page)) matcher.match(group);
    });
    return out;
}

}  // namespace calque
