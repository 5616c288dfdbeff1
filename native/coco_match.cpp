// COCO's matching by score: bit masks take all thresholds in one pass, and area ranges with equal truths share a pass.
#include "coco_match.hpp"

#include <algorithm>

#include "boxes_groups.hpp"
#include "parallel.hpp"

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

// How much the rows of a group overlap: from their boxes.
class BoxOverlaps {
public:
    BoxOverlaps(const Side& truth, const CocoTruths& extra, const Side& found) : truth_(truth), extra_(extra), found_(found) {}

    void read(const Group& group) {
        truths_.clear();
        crowd_.clear();
        rows_ = group.truth;
        for (const std::int32_t row : group.truth) {
            truths_.push_back(truth_.box(static_cast<std::size_t>(row)));
            crowd_.push_back(extra_.crowd[static_cast<std::size_t>(row)]);
        }
    }

    double area(std::size_t row) const { return extra_.found_areas.empty() ? found_.box(row).area : extra_.found_areas[row]; }

    // Calls take(position of the truth, overlap) for every truth that a found row may reach at this threshold.
    template <class Take>
    void each(std::size_t row, double lowest, Take take) const {
        const Box found = found_.box(row);
        for (std::size_t i = 0; i < truths_.size(); ++i) {
            const double shared = shared_area(found_, static_cast<std::size_t>(rows_[i]), truths_[i], row, found);
            if (!(shared > 0) && lowest > 0) continue;
            take(static_cast<std::uint32_t>(i), crowd_[i] && shared > 0 ? shared / found.area : iou(shared, truths_[i], found));
        }
    }

private:
    const Side& truth_;
    const CocoTruths& extra_;
    const Side& found_;
    std::span<const std::int32_t> rows_;  // of the truths
    std::vector<Box> truths_;
    std::vector<std::uint8_t> crowd_;
};

// The same from a list that somebody else made.
class ListedOverlaps {
public:
    // Groups share no truth, so one table of positions serves all threads.
    ListedOverlaps(const GivenOverlaps& given, Rows<std::uint32_t>& positions) : given_(given), positions_(positions) {}

    void read(const Group& group) {
        for (std::size_t i = 0; i < group.truth.size(); ++i)
            positions_[static_cast<std::size_t>(group.truth[i])] = static_cast<std::uint32_t>(i);
    }

    double area(std::size_t row) const { return given_.found_areas[row]; }

    template <class Take>
    void each(std::size_t row, double, Take take) const {
        for (auto pair = static_cast<std::size_t>(given_.offsets[row]); pair < static_cast<std::size_t>(given_.offsets[row + 1]); ++pair)
            if (const std::uint32_t truth = positions_[static_cast<std::size_t>(given_.truth[pair])]; truth != left_out)
                take(truth, given_.overlap[pair]);
    }

    static constexpr std::uint32_t left_out = ~std::uint32_t{0};

private:
    const GivenOverlaps& given_;
    Rows<std::uint32_t>& positions_;
};

template <class Overlaps>
class Matcher {
public:
    Matcher(Overlaps overlaps, const CocoTruths& extra, std::span<const double> scores, const CocoSettings& settings,
            CocoMatch& out)
        : overlaps_(std::move(overlaps)),
          extra_(extra),
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
        for (const Ranked& found : ranked_) {
            interrupts_.tick(group.truth.size());
            compare(static_cast<std::size_t>(found.row));
        }
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
        overlaps_.read(group);
        for (const std::int32_t row : group.truth) {
            const auto at = static_cast<std::size_t>(row);
            for (std::size_t range = 0; range < settings_.ranges(); ++range)
                out_.truth_ignored[at * settings_.ranges() + range] =
                    extra_.crowd[at] || settings_.outside(extra_.areas[at], range);
        }
    }

    // Lists the truths that a found box reaches; as long as it matches none, its size alone decides whether it is
    // ignored.
    void compare(std::size_t row) {
        const double area = overlaps_.area(row);
        const std::size_t first = candidates_.size();
        overlaps_.each(row, lowest_, [&](std::uint32_t truth, double overlap) {
            if (overlap >= lowest_) candidates_.push_back({overlap, truth, reached(overlap)});
        });
        if (candidates_.size() > first) {
            if (candidates_.size() > first + 1)
                std::sort(candidates_.begin() + static_cast<std::ptrdiff_t>(first), candidates_.end());
            contenders_.push_back({row, first, candidates_.size(), 0, 0});
        }
        for (std::size_t range = 0; range < settings_.ranges(); ++range)
            if (settings_.outside(area, range)) out_.ignored[row * settings_.ranges() + range] = every_;
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
            copy_matches(twin, range);
        for (const Contender& contender : contenders_) {
            const std::size_t at = contender.row * settings_.ranges() + range;
            out_.matched[at] = contender.matched;
            out_.ignored[at] = static_cast<Mask>(contender.to_ignored | (out_.ignored[at] & ~contender.matched));
        }
    }

    void copy_matches(std::size_t twin, std::size_t range) {
        for (Contender& contender : contenders_) {
            const std::size_t at = contender.row * settings_.ranges() + twin;
            contender.matched = out_.matched[at];
            contender.to_ignored = out_.ignored[at] & contender.matched;
            if (out_.partners.size()) std::copy_n(partners(contender.row, twin), settings_.thresholds.size(), partners(contender.row, range));
        }
    }

    std::int32_t* partners(std::size_t row, std::size_t range) {
        return &out_.partners[(row * settings_.ranges() + range) * settings_.thresholds.size()];
    }

    void note_partners(std::size_t row, std::size_t range, unsigned take, std::int32_t truth) {
        for (std::size_t t = 0; t < settings_.thresholds.size(); ++t)
            if ((take >> t) & 1u) partners(row, range)[t] = truth;
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
        taken_.assign(group.truth.size(), 0);
        for (Contender& contender : contenders_) {
            unsigned matched = 0, to_ignored = 0;
            for (const bool ignored : {false, true})
                for (std::size_t c = contender.first; c < contender.last; ++c) {
                    const Candidate& candidate = candidates_[c];
                    if (is_ignored(candidate.truth) != ignored) continue;
                    const unsigned take = candidate.mask & ~matched & ~unsigned{taken_[candidate.truth]};
                    matched |= take;
                    if (ignored) to_ignored |= take;
                    const std::int32_t truth = group.truth[candidate.truth];
                    if (take && out_.partners.size()) note_partners(contender.row, range, take, truth);
                    if (!extra_.crowd[static_cast<std::size_t>(truth)])
                        taken_[candidate.truth] = static_cast<Mask>(taken_[candidate.truth] | take);
                }
            contender.matched = static_cast<Mask>(matched);
            contender.to_ignored = static_cast<Mask>(to_ignored);
        }
    }

    Overlaps overlaps_;
    const CocoTruths& extra_;
    std::span<const double> scores_;
    const CocoSettings& settings_;
    CocoMatch& out_;
    Mask every_;
    double lowest_ = std::numeric_limits<double>::infinity();
    std::vector<Ranked> ranked_;
    std::vector<Candidate> candidates_;
    std::vector<Contender> contenders_;
    std::vector<Mask> taken_;
    InterruptTicker interrupts_;
};

template <class Overlaps>
CocoMatch match_all(const Overlaps& overlaps, const Side& truth, const CocoTruths& extra, const Side& found,
                    std::span<const double> scores, CocoSettings settings, bool partners, int jobs) {
    // pycocotools' ceiling: a box equal to its truth passes a threshold of 1 in spite of rounding.
    std::vector<double> thresholds(settings.thresholds.begin(), settings.thresholds.end());
    for (double& threshold : thresholds) threshold = std::min(threshold, 1 - 1e-10);
    settings.thresholds = thresholds;
    const std::size_t ranges = settings.ranges(), kept = partners ? found.rows() : 0;
    using Masks = Shaped<Rows<Mask>>;
    CocoMatch out{Rows<std::int32_t>(found.rows(), -1), Masks(found.rows() * ranges), Masks(found.rows() * ranges),
                  Shaped<Rows<std::uint8_t>>(truth.rows() * ranges, 1),
                  Shaped<Rows<std::int32_t>>(kept * ranges * thresholds.size(), -1)};
    out.matched.shape = out.ignored.shape = {found.rows(), ranges};
    out.truth_ignored.shape = {truth.rows(), ranges};
    out.partners.shape = {kept, ranges, thresholds.size()};
    const LabelNumbers numbers(truth, found);
    const auto cuts = page_shares(truth, found);
    in_threads(cuts.size() - 1, jobs, [&](auto next) {
        PageGroups groups(numbers);
        Matcher<Overlaps> matcher(overlaps, extra, scores, settings, out);
        for (std::size_t share; (share = next()) < cuts.size() - 1;)
            for (std::size_t page = cuts[share]; page < cuts[share + 1]; ++page)
                for (const Group& group : groups.of(truth, found, page)) matcher.match(group);
    });
    return out;
}

}  // namespace

CocoMatch coco_match(const Side& truth, const CocoTruths& extra, const Side& found, std::span<const double> scores,
                     const CocoSettings& settings, int jobs) {
    return match_all(BoxOverlaps(truth, extra, found), truth, extra, found, scores, settings, false, jobs);
}

CocoMatch coco_match_given(const Side& truth, const CocoTruths& extra, const Side& found, std::span<const double> scores,
                           const GivenOverlaps& given, const CocoSettings& settings, bool partners, int jobs) {
    Rows<std::uint32_t> positions(truth.rows(), ListedOverlaps::left_out);
    return match_all(ListedOverlaps(given, positions), truth, extra, found, scores, settings, partners, jobs);
}

}  // namespace calque
