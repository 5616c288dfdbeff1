// COCO's average precision for weighted documents: rows are sorted once, and each block of replicates walks them backwards.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "parallel.hpp"
#include "resample.hpp"
#include "resample_lanes.hpp"

namespace calque {

namespace {

constexpr std::size_t most_thresholds = 16;

template <class Visit>
void each_bit(unsigned mask, Visit visit) {
    for (; mask; mask &= mask - 1) visit(static_cast<std::size_t>(std::countr_zero(mask)));
}

// The fewest hits with that recall: a whole number, found by the very division that pycocotools compares.
std::int64_t hits_for(double recall, std::int64_t truths) {
    const auto whole = static_cast<double>(truths);
    const double product = std::clamp(recall * whole, 0.0, 0x1p53);  // nobody has more hits than that
    const auto below = static_cast<std::int64_t>(product);
    const double beyond = product - static_cast<double>(below);
    // Far from any whole number rounding cannot matter, and no division is needed.
    if (truths < 100'000'000 && beyond > 1e-6 && beyond < 1 - 1e-6) return below + 1;
    const auto reaches = [&](std::int64_t hits) { return static_cast<double>(hits) / whole >= recall; };
    std::int64_t hits = below;
    while (hits > 0 && reaches(hits - 1)) --hits;
    while (!reaches(hits) && hits <= truths) ++hits;
    return hits;
}

// One class in some replicates side by side. From the totals back to the first row: at each true positive the counts are
// those up to it, so its precision is known, and the highest so far is the envelope.
template <class Weight, class Count>
class Walk {
public:
    Walk(const WeightedCurves& curves, const Weights& weights, std::size_t begin, WeightedPrecision& out)
        : curves_(curves),
          replicates_(weights.replicates),
          begin_(begin),
          width_(std::min(lanes, weights.replicates - begin)),
          every_((1u << curves.thresholds) - 1),
          weights_(block_of<Weight>(weights, begin, width_)),
          need_(curves.recall_points.size() + 1),
          out_(out) {}

    void draw(std::size_t k) {
        k_ = k;
        const auto first = static_cast<std::size_t>(curves_.class_offsets[k]),
                   last = static_cast<std::size_t>(curves_.class_offsets[k + 1]);
        last_ = last;
        interrupts_.tick(last - first);
        if (!set_truths()) return;
        if (first < last) set_needs();
        count(first, last);
        write_recall();
        if (curves_.recall_points.empty()) return;
        for (std::size_t end = last; end > first;) {
            std::size_t start = end - 1;
            while (start > first && curves_.tied[start]) --start;
            step_over(start, end);
            end = start;
        }
        write_precision();
    }

private:
    // Whether any replicate has truths.
    bool set_truths() {
        bool any = false;
        truths_ = {};
        for (std::size_t lane = 0; lane < width_; ++lane) {
            truths_[lane] = curves_.truths[k_ * replicates_ + begin_ + lane];
            any = any || truths_[lane] > 0;
        }
        return any;
    }

    // How many hits each recall point needs. The points are numbered from 1: before the first one nothing is needed, and
    // the walk stops there.
    void set_needs() {
        need_[0].fill(std::numeric_limits<Count>::min());
        for (std::size_t point = 0; point + 1 < need_.size(); ++point)
            for (std::size_t lane = 0; lane < lanes; ++lane)
                need_[point + 1][lane] =
                    truths_[lane] > 0 ? needed(curves_.recall_points[point], truths_[lane]) : std::numeric_limits<Count>::min();
    }

    // More than can be counted is never reached.
    static Count needed(double recall, std::int64_t truths) {
        return static_cast<Count>(std::min<std::int64_t>(hits_for(recall, truths), std::numeric_limits<Count>::max()));
    }

    Lanes<Count> weight_of(std::size_t row) const {
        return widened<Count>(weights_[static_cast<std::size_t>(curves_.document[row])]);
    }

    // Rows that count at every threshold are counted once for all of them, the few others apart.
    void count(std::size_t first, std::size_t last) {
        shared_ = {};
        any_apart_ = false;
        for (std::size_t t = 0; t < curves_.thresholds; ++t) {
            apart_[t] = hits_[t] = {};
            best_[t] = sum_[t] = {};
        }
        up_to_.fill({});
        for (std::size_t row = first; row < last; ++row) add(row, weight_of(row));
        Lanes<Count> beyond{};
        for (std::size_t t = curves_.thresholds; t-- > 0;) {
            add_to(beyond, up_to_[t]);
            add_to(hits_[t], beyond);
        }
        if (first == last) next_ = {};
        for (std::size_t t = 0; t < curves_.thresholds && first < last; ++t)
            for (std::size_t lane = 0; lane < lanes; ++lane) set_next(t, lane, last_reached(lane, hits_[t][lane]));
    }

    // The last recall point that so many hits reach; those beyond it have no precision.
    std::int32_t last_reached(std::size_t lane, Count hits) const {
        std::size_t reached = 0, beyond = need_.size();
        while (beyond - reached > 1) {
            const std::size_t middle = (reached + beyond) / 2;
            (need_[middle][lane] > hits ? beyond : reached) = middle;
        }
        return static_cast<std::int32_t>(reached);
    }

    void set_next(std::size_t t, std::size_t lane, std::int32_t point) {
        next_[t][lane] = point;
        next_need_[t][lane] = need_[static_cast<std::size_t>(point)][lane];
    }

    unsigned counts_of(std::size_t row) const { return every_ & ~unsigned{curves_.ignored[row]}; }

    void add(std::size_t row, const Lanes<Count>& weight) {
        const unsigned counts = counts_of(row), hit = curves_.matched[row] & counts;
        if (counts == every_) {
            add_to(shared_, weight);
        } else {
            any_apart_ = true;
            each_bit(counts, [&](std::size_t t) { add_to(apart_[t], weight); });
        }
        if (!hit) return;
        // What is hit at one threshold is hit at all lower ones, as a rule: one sum then serves all of them.
        if ((hit & (hit + 1)) == 0)
            add_to(up_to_[static_cast<std::size_t>(std::bit_width(hit)) - 1], weight);
        else
            each_bit(hit, [&](std::size_t t) { add_to(hits_[t], weight); });
    }

    // Rows that tie within a document stand in each of its copies in their order: first, second, first, second.
    void step_over(std::size_t start, std::size_t end) {
        const Lanes<Count> weight = weight_of(start);
        if (end - start == 1) return back(start, weight, fresh(start));
        const Count most = *std::max_element(weight.begin(), weight.end());
        if (most <= 1 || alike(start, end)) {
            for (std::size_t row = end; row-- > start;) back(row, weight, fresh(row));
            return;
        }
        for (Count copy = most; copy > 0; --copy) {
            interrupts_.tick(end - start);
            Lanes<Count> one;
            for (std::size_t lane = 0; lane < lanes; ++lane) one[lane] = weight[lane] >= copy;
            for (std::size_t row = end; row-- > start;) back(row, one, every_);
        }
    }

    bool alike(std::size_t start, std::size_t end) const {
        for (std::size_t row = start + 1; row < end; ++row)
            if (curves_.matched[row] != curves_.matched[start] || curves_.ignored[row] != curves_.ignored[start]) return false;
        return true;
    }

    // The thresholds at which the row that comes next is no hit. Among hits in a row precision rises from each to the next,
    // so that only the last of them can be the highest, whichever of them a replicate has.
    unsigned fresh(std::size_t row) const {
        return row + 1 < last_ ? ~(curves_.matched[row + 1] & counts_of(row + 1)) : every_;
    }

    // A replicate that lacks the document passes a point that its curve has anyway: the one after the row before.
    // ``fresh`` are the thresholds at which this row can raise the highest precision.
    void back(std::size_t row, const Lanes<Count>& weight, unsigned fresh) {
        const unsigned counts = counts_of(row), hit = curves_.matched[row] & counts;
        if (hit & fresh) {
            Lanes<double> all = not_zero(shared_);
            each_bit(hit & fresh, [&](std::size_t t) {
                if (any_apart_) {
                    Lanes<Count> both = shared_;
                    add_to(both, apart_[t]);
                    all = not_zero(both);
                }
                raise_to(best_[t], hits_[t], all);
            });
        }
        each_bit(hit, [&](std::size_t t) { cross(t, weight); });
        if (counts == every_)
            take_from(shared_, weight);
        else
            each_bit(counts, [&](std::size_t t) { take_from(apart_[t], weight); });
    }

    // Take the row from the hits, and pass every recall point that they reach with it and not without it; most rows of
    // most replicates reach none.
    void cross(std::size_t t, const Lanes<Count>& weight) {
        Lanes<Count>& left = hits_[t];
        take_from(left, weight);
        each_bit(where_more(next_need_[t], left), [&](std::size_t lane) {
            const Count before = left[lane];
            std::int32_t point = next_[t][lane];
            double sum = sum_[t][lane];
            const double best = best_[t][lane];
            do {
                sum += best;
                --point;
            } while (need_[static_cast<std::size_t>(point)][lane] > before);
            sum_[t][lane] = sum;
            set_next(t, lane, point);
        });
    }

    void write_recall() {
        each_end([&](std::size_t t, std::size_t lane, std::size_t at) {
            out_.recall[at] = static_cast<double>(hits_[t][lane]) / static_cast<double>(truths_[lane]);
        });
    }

    void write_precision() {
        each_end([&](std::size_t t, std::size_t lane, std::size_t at) {
            // Points that need no hit at all are reached by the first row, whatever it is.
            for (std::int32_t point = next_[t][lane]; point > 0; --point) sum_[t][lane] += best_[t][lane];
            out_.precision[at] = sum_[t][lane] / static_cast<double>(curves_.recall_points.size());
        });
    }

    template <class Visit>
    void each_end(Visit visit) {
        for (std::size_t t = 0; t < curves_.thresholds; ++t)
            for (std::size_t lane = 0; lane < width_; ++lane)
                if (truths_[lane] > 0) visit(t, lane, (t * curves_.classes() + k_) * replicates_ + begin_ + lane);
    }

    const WeightedCurves& curves_;
    const std::size_t replicates_, begin_, width_;
    const unsigned every_;
    const std::vector<Lanes<Weight>> weights_;
    std::vector<Lanes<Count>> need_;
    WeightedPrecision& out_;
    std::size_t k_ = 0, last_ = 0;
    InterruptTicker interrupts_;
    bool any_apart_ = false;
    Lanes<std::int64_t> truths_{};
    Lanes<Count> shared_{};
    std::array<Lanes<Count>, most_thresholds> apart_{}, hits_{}, next_need_{};
    std::array<Lanes<Count>, most_thresholds> up_to_{};  // rows that are hits at every threshold up to this one, and no other
    std::array<Lanes<double>, most_thresholds> best_{}, sum_{};
    std::array<Lanes<std::int32_t>, most_thresholds> next_{};
};

template <class Weight, class Count>
void walk_all(const WeightedCurves& curves, const Weights& weights, WeightedPrecision& out, int jobs) {
    const std::size_t pieces = (weights.replicates + lanes - 1) / lanes;
    in_threads(pieces, jobs, [&](auto next) {
        for (std::size_t piece; (piece = next()) < pieces;) {
            Walk<Weight, Count> walk(curves, weights, piece * lanes, out);
            for (std::size_t k = 0; k < curves.classes(); ++k) walk.draw(k);
        }
    });
}

}  // namespace

WeightedPrecision weighted_precision(const WeightedCurves& curves, const Weights& weights, int jobs) {
    const std::size_t cells = curves.thresholds * curves.classes() * weights.replicates;
    WeightedPrecision out{Shaped<std::vector<double>>(cells, -1.0), Shaped<std::vector<double>>(cells, -1.0)};
    out.precision.shape = out.recall.shape = {curves.thresholds, curves.classes(), weights.replicates};
    const std::span<const std::int32_t> given{weights.first, weights.documents * weights.replicates};
    const std::int64_t heaviest = given.empty() ? 0 : *std::max_element(given.begin(), given.end());
    const std::int64_t truths = curves.truths.empty() ? 0 : *std::max_element(curves.truths.begin(), curves.truths.end());
    const std::int64_t most = std::max(heaviest * static_cast<std::int64_t>(curves.document.size()), truths);
    if (most >= std::numeric_limits<std::int32_t>::max() / 2)
        walk_all<std::int32_t, std::int64_t>(curves, weights, out, jobs);
    else if (heaviest <= std::numeric_limits<std::uint8_t>::max())
        walk_all<std::uint8_t, std::int32_t>(curves, weights, out, jobs);
    else
        walk_all<std::int32_t, std::int32_t>(curves, weights, out, jobs);
    return out;
}

}  // namespace calque
