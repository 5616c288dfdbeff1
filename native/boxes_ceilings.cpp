// What several systems could reach together on boxes: edges recombined, the largest pairing, who is near whom.
#include "boxes_ceilings.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "boxes_groups.hpp"
#include "boxes_overlaps.hpp"
#include "parallel.hpp"

namespace calque {

namespace {

double overlap(const Box& truth, const Sides& at) {
    const Box box{at[0], at[1], at[2], at[3], (at[2] - at[0]) * (at[3] - at[1])};
    return iou(intersection(truth, box), truth, box);
}

// The boxes that systems have for one truth, as far as their edges matter.
class Nearest {
public:
    explicit Nearest(const Box& truth) : truth_(truth), edges_{truth.left, truth.top, truth.right, truth.bottom} {
        below_.fill(-std::numeric_limits<double>::infinity());
        above_.fill(std::numeric_limits<double>::infinity());
    }

    void add(const Box& box) {
        const Sides sides{box.left, box.top, box.right, box.bottom};
        for (std::size_t side = 0; side < 4; ++side) {
            if (sides[side] <= edges_[side]) below_[side] = std::max(below_[side], sides[side]);
            if (sides[side] >= edges_[side]) above_[side] = std::min(above_[side], sides[side]);
        }
    }

    // Only the nearest edge on either side of the truth's can win: IoU rises as an edge moves towards it.
    double recombined() const {
        double best = 0;
        for (unsigned choice = 0; choice < 16; ++choice) {
            Sides sides;
            bool there = true;
            for (std::size_t side = 0; side < 4; ++side) {
                sides[side] = choice >> side & 1 ? above_[side] : below_[side];
                there = there && std::isfinite(sides[side]);
            }
            if (there) best = std::max(best, overlap(truth_, sides));
        }
        return best;
    }

    // With edges on both sides of the truth's a mean can have the truth's own.
    double mean() const {
        Sides sides;
        for (std::size_t side = 0; side < 4; ++side)
            sides[side] = !std::isfinite(below_[side]) ? above_[side] : !std::isfinite(above_[side]) ? below_[side] : edges_[side];
        return overlap(truth_, sides);
    }

private:
    Box truth_;
    Sides edges_, below_, above_;
};

struct Best {
    double iou = 0;
    std::int32_t row = -1;
};

// The best box of each system for each truth of a page, and what edges of several could reach; reused from page to page.
class Reach {
public:
    Reach(const Side& truth, const Side& found, std::span<const std::uint8_t> systems) : truth_(truth), found_(found), systems_(systems) {}

    void begin(std::size_t page) {
        first_ = static_cast<std::size_t>(truth_.offsets[page]);
        best_.assign((static_cast<std::size_t>(truth_.offsets[page + 1]) - first_) * most_systems, {});
    }

    void add(std::size_t truth, std::size_t found, double share) {
        if (truth_.labels[truth] != found_.labels[found]) return;
        Best& here = best_[(truth - first_) * most_systems + systems_[found]];
        if (share > here.iou) here = {share, static_cast<std::int32_t>(found)};
    }

    void hand_over(Contacts& out) const {
        for (std::size_t at = 0; at < best_.size(); at += most_systems) {
            const std::size_t row = first_ + at / most_systems;
            const auto each = std::span(best_).subspan(at, most_systems);
            const Best any = *std::min_element(each.begin(), each.end(), [](const Best& one, const Best& other) {
                return one.iou != other.iou ? one.iou > other.iou : one.row < other.row;
            });
            out.nearest[row] = any.row;
            if (any.row < 0) continue;
            Nearest nearest(truth_.box(row));
            for (const Best& best : each)
                if (best.row >= 0) nearest.add(found_.box(static_cast<std::size_t>(best.row)));
            double* reached = &out.reached[3 * row];
            reached[0] = any.iou;
            reached[1] = std::max(any.iou, nearest.recombined());
            reached[2] = std::max(reached[1], nearest.mean());
        }
    }

private:
    const Side& truth_;
    const Side& found_;
    std::span<const std::uint8_t> systems_;
    std::size_t first_ = 0;
    std::vector<Best> best_;
};

// One problem: truths are placed one after the other, and those before them may have to move on.
class Matching {
public:
    Matching(std::size_t truths, std::size_t founds)
        : offsets_(truths + 1), holder_(founds), seen_(founds), came_(founds), held_(truths) {}

    void solve(std::span<const Edge> edges, int bit, std::vector<std::uint16_t>& matched) {
        std::fill(offsets_.begin(), offsets_.end(), 0);
        for (const Edge& edge : edges)
            if (edge.problems >> bit & 1) ++offsets_[static_cast<std::size_t>(edge.truth) + 1];
        for (std::size_t row = 1; row < offsets_.size(); ++row) offsets_[row] += offsets_[row - 1];
        wanted_.resize(offsets_.back());
        ends_.assign(offsets_.begin(), offsets_.end() - 1);
        for (const Edge& edge : edges)
            if (edge.problems >> bit & 1) wanted_[ends_[static_cast<std::size_t>(edge.truth)]++] = edge.found;
        std::fill(holder_.begin(), holder_.end(), -1);
        std::fill(seen_.begin(), seen_.end(), -1);
        std::fill(held_.begin(), held_.end(), -1);
        for (std::size_t row = 0; row + 1 < offsets_.size(); ++row)
            if (offsets_[row] < offsets_[row + 1] && place(static_cast<std::int32_t>(row)))
                matched[row] = static_cast<std::uint16_t>(matched[row] | 1u << bit);
    }

private:
    bool place(std::int32_t first) {
        line_.assign(1, first);
        for (std::size_t at = 0; at < line_.size(); ++at) {
            const auto row = static_cast<std::size_t>(line_[at]);
            interrupts_.tick(offsets_[row + 1] - offsets_[row]);
            for (std::size_t i = offsets_[row]; i < offsets_[row + 1]; ++i) {
                const auto box = static_cast<std::size_t>(wanted_[i]);
                if (seen_[box] == first) continue;
                seen_[box] = first;
                came_[box] = line_[at];
                if (holder_[box] < 0) {
                    move(static_cast<std::int32_t>(box), first);
                    return true;
                }
                line_.push_back(holder_[box]);
            }
        }
        return false;
    }

    void move(std::int32_t box, std::int32_t first) {
        for (;;) {
            const std::int32_t row = came_[static_cast<std::size_t>(box)];
            const std::int32_t before = std::exchange(held_[static_cast<std::size_t>(row)], box);
            holder_[static_cast<std::size_t>(box)] = row;
            if (row == first) return;
            box = before;
        }
    }

    std::vector<std::size_t> offsets_, ends_;
    std::vector<std::int32_t> wanted_, holder_, seen_, came_, held_, line_;
    InterruptTicker interrupts_;
};

}  // namespace

std::vector<std::uint16_t> match_most(std::span<const std::int32_t> truth, std::span<const std::int32_t> found,
                                      std::span<const std::uint16_t> problems, std::size_t truths, std::size_t founds) {
    std::vector<Edge> edges;
    edges.reserve(truth.size());
    std::uint16_t there = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        edges.push_back({truth[i], found[i], problems[i]});
        there = static_cast<std::uint16_t>(there | problems[i]);
    }
    std::vector<std::uint16_t> matched(truths);
    Matching matching(truths, founds);
    for (int bit = 0; bit < most_systems; ++bit)
        if (there >> bit & 1) matching.solve(edges, bit, matched);
    return matched;
}

Contacts contacts(const Side& truth, const Side& found, std::span<const std::uint8_t> systems, double threshold, int jobs) {
    Contacts all;
    all.truth_best.assign(truth.rows(), 0);
    all.found_best.assign(found.rows(), 0);
    all.nearest.assign(truth.rows(), -1);
    all.reached.assign(3 * truth.rows(), 0);
    all.reached.shape = {truth.rows(), 3};
    const auto cuts = page_shares(truth, found);
    std::vector<Contacts> parts(cuts.size() - 1);
    in_threads(parts.size(), jobs, [&](auto next) {
        PageOverlaps overlaps;
        Reach reach(truth, found, systems);
        for (std::size_t share; (share = next()) < parts.size();)
            for (std::size_t page = cuts[share]; page < cuts[share + 1]; ++page) {
                reach.begin(page);
                overlaps.each(truth, found, page, [&](const PageBox& there, const PageBox& here, double shared) {
                    const double overlap = iou(shared, there.box, here.box);
                    if (overlap > all.truth_best[there.row]) all.truth_best[there.row] = overlap;
                    if (overlap > all.found_best[here.row]) all.found_best[here.row] = overlap;
                    reach.add(there.row, here.row, overlap);
                    if (overlap >= threshold) {
                        parts[share].truth.push_back(static_cast<std::int32_t>(there.row));
                        parts[share].found.push_back(static_cast<std::int32_t>(here.row));
                        parts[share].iou.push_back(overlap);
                    }
                });
                reach.hand_over(all);
            }
    });
    for (const Contacts& part : parts) {
        append(all.truth, part.truth);
        append(all.found, part.found);
        append(all.iou, part.iou);
    }
    return all;
}

}  // namespace calque
