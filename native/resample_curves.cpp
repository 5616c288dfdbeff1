// COCO's average precision for weighted documents: rows are sorted once, and each block of replicates walks them backwards.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "boxes_threads.hpp"
#include "resample.hpp"

namespace calque {

namespace {

constexpr std::size_t most_thresholds = 16;
using Counts = std::array<std::int64_t, lanes>;
using Shares = std::array<double, lanes>;

template <class Visit>
void each_bit(unsigned mask, Visit visit) {
    for (; mask; mask &= mask - 1) visit(static_cast<std::size_t>(std::countr_zero(mask)));
}

// One class in some replicates side by side. From the totals back to the first row: at each true positive the counts are
// those up to it, so its precision is known, and the highest so far is the envelope.
class Walk {
public:
    Walk(const WeightedCurves& curves, const Weights& weights, std::size_t begin, WeightedPrecision& out)
        : curves_(curves),
          weights_(weights),
          begin_(begin),
          width_(std::min(lanes, weights.replicates - begin)),
          every_((1u << curves.thresholds) - 1),
          need_(curves.recall_points.size()),
          out_(out) {}

    void draw(std::size_t k) {
        k_ = k;
        const auto first = static_cast<std::size_t>(curves_.class_offsets[k]),
                   last = static_cast<std::size_t>(curves_.class_offsets[k + 1]);
        if (!set_truths()) return;
        count(first, last);
        write_recall();
        for (std::size_t end = last; end > first;) {
            std::size_t start = end - 1;
            while (start > first && curves_.tied[start]) --start;
            step_over(start, end);
            end = start;
        }
        write_precision();
    }

private:
    // Whether any replicate has truths, and how many hits each recall point needs: a whole number, found by the very
    // division that pycocotools compares.
    bool set_truths() {
        bool any = false;
        for (std::size_t lane = 0; lane < width_; ++lane) {
            truths_[lane] = curves_.truths[k_ * weights_.replicates + begin_ + lane];
            any = any || truths_[lane] > 0;
        }
        if (!any) return false;
        for (std::size_t point = 0; point < need_.size(); ++point)
            for (std::size_t lane = 0; lane < width_; ++lane)
                need_[point][lane] = truths_[lane] > 0 ? hits_for(curves_.recall_points[point], truths_[lane]) : 0;
        return true;
    }

    static std::int64_t hits_for(double recall, std::int64_t truths) {
        const auto whole = static_cast<double>(truths);
        const auto reaches = [&](std::int64_t hits) { return static_cast<double>(hits) / whole >= recall; };
        auto hits = static_cast<std::int64_t>(std::max(recall * whole, 0.0));
        while (hits > 0 && reaches(hits - 1)) --hits;
        while (!reaches(hits) && hits <= truths) ++hits;
        return hits;
    }

    Counts weight_of(std::size_t row) const {
        Counts weight{};
        const std::int32_t* given = weights_.of(curves_.document[row]) + begin_;
        for (std::size_t lane = 0; lane < width_; ++lane) weight[lane] = given[lane];
        return weight;
    }

    // Rows that count at every threshold are counted once for all of them, the few others apart.
    void count(std::size_t first, std::size_t last) {
        shared_ = {};
        for (std::size_t t = 0; t < curves_.thresholds; ++t) {
            apart_[t] = hits_[t] = {};
            best_[t] = sum_[t] = {};
            for (std::size_t lane = 0; lane < width_; ++lane)
                next_[t][lane] = static_cast<std::int32_t>(curves_.recall_points.size()) - 1;
        }
        for (std::size_t row = first; row < last; ++row) add(row, weight_of(row), 1);
        for (std::size_t t = 0; t < curves_.thresholds; ++t) pass_unreached(t);
    }

    void add(std::size_t row, const Counts& weight, std::int64_t sign) {
        const unsigned ignored = curves_.ignored[row] & every_, counts = every_ & ~ignored;
        if (!ignored)
            for (std::size_t lane = 0; lane < lanes; ++lane) shared_[lane] += sign * weight[lane];
        else
            each_bit(counts, [&](std::size_t t) {
                for (std::size_t lane = 0; lane < lanes; ++lane) apart_[t][lane] += sign * weight[lane];
            });
        each_bit(curves_.matched[row] & counts, [&](std::size_t t) {
            for (std::size_t lane = 0; lane < lanes; ++lane) hits_[t][lane] += sign * weight[lane];
        });
    }

    // Recall points beyond the last hit have no precision.
    void pass_unreached(std::size_t t) {
        for (std::size_t lane = 0; lane < width_; ++lane)
            while (next_[t][lane] >= 0 && need_[static_cast<std::size_t>(next_[t][lane])][lane] > hits_[t][lane])
                --next_[t][lane];
    }

    // Rows that tie within a document stand in each of its copies in their order: first, second, first, second.
    void step_over(std::size_t start, std::size_t end) {
        const Counts weight = weight_of(start);
        const std::int64_t most = *std::max_element(weight.begin(), weight.end());
        if (most == 0) return;
        if (end - start == 1 || most == 1 || alike(start, end)) {
            for (std::size_t row = end; row-- > start;) back(row, weight);
            return;
        }
        for (std::int64_t copy = most; copy > 0; --copy) {
            Counts one{};
            for (std::size_t lane = 0; lane < lanes; ++lane) one[lane] = weight[lane] >= copy;
            for (std::size_t row = end; row-- > start;) back(row, one);
        }
    }

    bool alike(std::size_t start, std::size_t end) const {
        for (std::size_t row = start + 1; row < end; ++row)
            if (curves_.matched[row] != curves_.matched[start] || curves_.ignored[row] != curves_.ignored[start]) return false;
        return true;
    }

    // A replicate that lacks the document passes a point that its curve has anyway: the one after the row before.
    void back(std::size_t row, const Counts& weight) {
        const unsigned counts = every_ & ~unsigned{curves_.ignored[row]};
        each_bit(curves_.matched[row] & counts, [&](std::size_t t) {
            Shares& best = best_[t];
            Counts& hits = hits_[t];
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                const auto all = static_cast<double>(shared_[lane] + apart_[t][lane]);
                const double precision = static_cast<double>(hits[lane]) / (all + std::numeric_limits<double>::epsilon());
                best[lane] = precision > best[lane] ? precision : best[lane];
            }
            for (std::size_t lane = 0; lane < width_; ++lane) cross(t, lane, hits[lane] - weight[lane]);
        });
        add(row, weight, -1);
    }

    // Every recall point that the hits reach with this row, and not without it.
    void cross(std::size_t t, std::size_t lane, std::int64_t before) {
        while (next_[t][lane] >= 0 && need_[static_cast<std::size_t>(next_[t][lane])][lane] > before) {
            sum_[t][lane] += best_[t][lane];
            --next_[t][lane];
        }
    }

    void write_recall() {
        each_end([&](std::size_t t, std::size_t lane, std::size_t at) {
            out_.recall[at] = static_cast<double>(hits_[t][lane]) / static_cast<double>(truths_[lane]);
        });
    }

    void write_precision() {
        each_end([&](std::size_t t, std::size_t lane, std::size_t at) {
            for (; next_[t][lane] >= 0; --next_[t][lane]) sum_[t][lane] += best_[t][lane];
            out_.precision[at] = sum_[t][lane] / static_cast<double>(curves_.recall_points.size());
        });
    }

    template <class Visit>
    void each_end(Visit visit) {
        for (std::size_t t = 0; t < curves_.thresholds; ++t)
            for (std::size_t lane = 0; lane < width_; ++lane)
                if (truths_[lane] > 0) visit(t, lane, (t * curves_.classes() + k_) * weights_.replicates + begin_ + lane);
    }

    const WeightedCurves& curves_;
    const Weights& weights_;
    const std::size_t begin_, width_;
    const unsigned every_;
    std::vector<Counts> need_;
    WeightedPrecision& out_;
    std::size_t k_ = 0;
    Counts truths_{}, shared_{};
    std::array<Counts, most_thresholds> apart_{}, hits_{};
    std::array<Shares, most_thresholds> best_{}, sum_{};
    std::array<std::array<std::int32_t, lanes>, most_thresholds> next_{};
};

}  // namespace

WeightedPrecision weighted_precision(const WeightedCurves& curves, const Weights& weights, int jobs) {
    const std::size_t cells = curves.thresholds * curves.classes() * weights.replicates;
    WeightedPrecision out{std::vector<double>(cells, -1.0), std::vector<double>(cells, -1.0)};
    const std::size_t pieces = (weights.replicates + lanes - 1) / lanes;
    in_threads(pieces, jobs, [&](auto next) {
        for (std::size_t piece; (piece = next()) < pieces;) {
            Walk walk(curves, weights, piece * lanes, out);
            for (std::size_t k = 0; k < curves.classes(); ++k) walk.draw(k);
        }
    });
    return out;
}

}  // namespace calque
