// COCO's precision-recall curves, one class at a time: only true positives raise a curve, so only they are kept.
#include "coco_accumulate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "parallel.hpp"

namespace calque {

namespace {

unsigned all_bits(std::size_t thresholds) { return (1u << thresholds) - 1; }

// Calls visit(row, true mask, false mask) for each row of a class that may count, best score first.
// Score order jumps all over the tables; fetching a block of rows before looking at any keeps many reads in flight.
template <class Visit>
void each_row(const Curves& curves, std::size_t k, Visit visit) {
    struct Fetched {
        std::int32_t rank;
        Mask matched, ignored;
    };
    std::array<Fetched, 256> block;
    const unsigned every = all_bits(curves.thresholds);
    const auto begin = static_cast<std::size_t>(curves.class_offsets[k]),
               end = static_cast<std::size_t>(curves.class_offsets[k + 1]);
    for (std::size_t start = begin; start < end; start += block.size()) {
        const auto rows = curves.order.subspan(start, std::min(block.size(), end - start));
        for (std::size_t i = 0; i < rows.size(); ++i)
            block[i] = {curves.rank[static_cast<std::size_t>(rows[i])], curves.matched[rows[i]],
                        curves.ignored[rows[i]]};
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (block[i].rank < 0 || block[i].rank >= curves.max_detections) continue;
            const unsigned matched = block[i].matched, counts = every & ~unsigned{block[i].ignored};
            visit(rows[i], matched & counts, ~matched & counts);
        }
    }
}

// A row that is not simply false at every threshold, and how many before it were.
struct Eventful {
    std::int32_t row;
    std::uint32_t false_everywhere;
    Mask true_mask, false_mask;
};

struct TruePositive {
    std::int32_t row;
    std::uint32_t false_before;
};

// One class at all thresholds; reused from class to class.
class ClassCurves {
public:
    ClassCurves(const Curves& curves, std::span<const double> scores, std::span<const double> recall_points,
                Accumulated& out)
        : curves_(curves), scores_(scores), recall_points_(recall_points), out_(out) {}

    void draw(std::size_t k) {
        collect(k);
        for (std::size_t t = 0; t < curves_.thresholds; ++t) {
            if (curves_.truths_at(t, k) <= 0) continue;
            const std::span<const TruePositive> hits = true_positives(t);
            raise_envelope(hits, curves_.true_before(t, k), curves_.false_before(t, k));
            read_off(hits, t, k);
        }
    }

private:
    // Most rows are false at every threshold: counting them once for all leaves a short list to walk for each.
    void collect(std::size_t k) {
        eventful_.clear();
        first_row_ = -1;
        const unsigned every = all_bits(curves_.thresholds);
        std::uint32_t false_everywhere = 0;
        each_row(curves_, k, [&](std::int32_t row, unsigned true_mask, unsigned false_mask) {
            if (first_row_ < 0) first_row_ = row;
            if (false_mask == every)
                ++false_everywhere;
            else if (true_mask | false_mask)
                eventful_.push_back(
                    {row, false_everywhere, static_cast<Mask>(true_mask), static_cast<Mask>(false_mask)});
        });
        if (hits_.size() <= eventful_.size()) hits_.resize(eventful_.size() + 1);
    }

    // Writes every row and keeps the place only of true ones: their pattern is noise, and a branch would be guessed
    // wrong.
    std::span<const TruePositive> true_positives(std::size_t t) {
        std::size_t hits = 0;
        std::uint32_t false_here = 0;
        for (const Eventful& event : eventful_) {
            hits_[hits] = {event.row, event.false_everywhere + false_here};
            hits += (event.true_mask >> t) & 1u;
            false_here += (event.false_mask >> t) & 1u;
        }
        return {hits_.data(), hits};
    }

    // The best precision at each true positive or after it; between two of them precision only falls.
    void raise_envelope(std::span<const TruePositive> hits, std::int64_t true_before, std::int64_t false_before) {
        envelope_.resize(std::max(envelope_.size(), hits.size()));
        double best = 0.0;
        for (std::size_t i = hits.size(); i-- > 0;) {
            const auto tp = static_cast<double>(true_before + static_cast<std::int64_t>(i) + 1);
            const auto fp = static_cast<double>(false_before + hits[i].false_before);
            best = std::max(best, tp / (fp + tp + std::numeric_limits<double>::epsilon()));
            envelope_[i] = best;
        }
    }

    void read_off(std::span<const TruePositive> hits, std::size_t t, std::size_t k) {
        const std::size_t classes = curves_.classes();
        const auto truths = static_cast<double>(curves_.truths_at(t, k));
        const auto before = static_cast<std::size_t>(curves_.true_before(t, k)), reached = before + hits.size();
        out_.recall[t * classes + k] = static_cast<double>(reached) / truths;
        for (std::size_t r = 0; r < recall_points_.size(); ++r) {
            const std::size_t at = (t * recall_points_.size() + r) * classes + k;
            const std::size_t needed = hits_for(recall_points_[r], truths, reached);
            const std::size_t missing = needed > before ? needed - before : 0;
            out_.precision[at] = out_.scores_at[at] = 0.0;
            if (first_row_ < 0 || missing > hits.size()) continue;
            if (!hits.empty()) out_.precision[at] = envelope_[missing ? missing - 1 : 0];
            out_.scores_at[at] = scores_[static_cast<std::size_t>(missing ? hits[missing - 1].row : first_row_)];
        }
    }

    // The fewest true positives with that recall; one more than there are, if none suffices.
    static std::size_t hits_for(double recall, double truths, std::size_t most) {
        const auto reaches = [&](std::size_t hits) { return static_cast<double>(hits) / truths >= recall; };
        // The product is off by a rounding at most; the quotient, which pycocotools compares, decides.
        const double guess = recall * truths;
        std::size_t hits = guess > 0 ? static_cast<std::size_t>(std::min(guess, static_cast<double>(most))) : 0;
        while (hits > 0 && reaches(hits - 1)) --hits;
        while (hits <= most && !reaches(hits)) ++hits;
        return hits;
    }

    const Curves& curves_;
    std::span<const double> scores_, recall_points_;
    Accumulated& out_;
    std::vector<Eventful> eventful_;
    std::vector<TruePositive> hits_;
    std::vector<double> envelope_;
    std::int32_t first_row_ = -1;
};

}  // namespace

Accumulated coco_accumulate(const Curves& curves, std::span<const double> scores, std::span<const double> recall_points,
                            int jobs) {
    const std::size_t ends = curves.thresholds * curves.classes(), cells = ends * recall_points.size();
    using Table = Shaped<std::vector<double>>;
    Accumulated out{Table(cells, -1.0), Table(ends, -1.0), Table(cells, -1.0)};
    out.precision.shape = out.scores_at.shape = {curves.thresholds, recall_points.size(), curves.classes()};
    out.recall.shape = {curves.thresholds, curves.classes()};
    in_threads(curves.classes(), jobs, [&](auto next) {
        ClassCurves drawn(curves, scores, recall_points, out);
        for (std::size_t k; (k = next()) < curves.classes();)
            if (curves.has_truths(k)) drawn.draw(k);
    });
    return out;
}

}  // namespace calque
