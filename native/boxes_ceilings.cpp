// What several systems could reach together on boxes: edges recombined, the largest pairing, fused boxes.
#include "boxes_ceilings.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <tuple>
#include <utility>

#include "boxes_groups.hpp"
#include "boxes_threads.hpp"

namespace calque {

namespace {

using Sides = std::array<double, 4>;  // left, top, right, bottom

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

void reach(const Side& truth, const Side& found, std::span<const std::uint8_t> systems, const Group& group, double* out) {
    for (const std::int32_t row : group.truth) {
        const auto truth_row = static_cast<std::size_t>(row);
        if (truth.roles[truth_row] != Role::counts) continue;
        const Box box = truth.box(truth_row);
        std::array<Best, most_systems> best;
        for (const std::int32_t other : group.found) {
            const auto found_row = static_cast<std::size_t>(other);
            const Box there = found.box(found_row);
            const double share = iou(shared_area(found, truth_row, box, found_row, there), box, there);
            Best& here = best[systems[found_row]];
            if (share > here.iou) here = {share, other};
        }
        Nearest nearest(box);
        double any = 0;
        for (const Best& each : best) {
            if (each.row < 0) continue;
            any = std::max(any, each.iou);
            nearest.add(found.box(static_cast<std::size_t>(each.row)));
        }
        if (any == 0) continue;
        out[3 * truth_row] = any;
        out[3 * truth_row + 1] = std::max(any, nearest.recombined());
        out[3 * truth_row + 2] = std::max(out[3 * truth_row + 1], nearest.mean());
    }
}

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
};

// A fused box while boxes still join it.
class Cluster {
public:
    void add(const Box& box, double score, std::uint8_t system) {
        const Sides sides{box.left, box.top, box.right, box.bottom};
        for (std::size_t side = 0; side < 4; ++side) {
            weighted_[side] += score * sides[side];
            plain_[side] += sides[side];
        }
        lowest_ = count_ == 0 ? score : std::min(lowest_, score);
        total_ += score;
        ++count_;
        systems = static_cast<std::uint16_t>(systems | 1u << system);
    }

    // The score-weighted mean of its boxes; plain where scores do not weigh: all are 0, or one is below.
    Box fused() const {
        const bool weighs = lowest_ >= 0 && total_ > 0;
        const Sides& sums = weighs ? weighted_ : plain_;
        const double whole = weighs ? total_ : count_;
        const double left = sums[0] / whole, top = sums[1] / whole, right = sums[2] / whole, bottom = sums[3] / whole;
        return {left, top, right, bottom, (right - left) * (bottom - top)};
    }

    double score() const { return total_ / count_; }
    std::uint16_t systems = 0;

private:
    Sides weighted_{}, plain_{};
    double lowest_ = 0, total_ = 0, count_ = 0;
};

Box by_corners(const Side& side, std::size_t row) {
    Box box = read_box(&side.boxes[4 * row], side.xywh);
    box.area = (box.right - box.left) * (box.bottom - box.top);
    return box;
}

class Fusing {
public:
    Fusing(const Side& found, std::span<const double> scores, std::span<const std::uint8_t> systems, double threshold)
        : found_(found), scores_(scores), systems_(systems), threshold_(threshold) {}

    void page(std::size_t page, Fused& out) {
        rows_.clear();
        for (auto row = static_cast<std::size_t>(found_.offsets[page]); row < static_cast<std::size_t>(found_.offsets[page + 1]); ++row)
            if (found_.roles[row] == Role::counts) rows_.push_back({found_.labels[row], scores_[row], by_corners(found_, row), row});
        std::sort(rows_.begin(), rows_.end());
        for (std::size_t begin = 0, end; begin < rows_.size(); begin = end) {
            for (end = begin; end < rows_.size() && rows_[end].label == rows_[begin].label; ++end) {}
            label(std::span(rows_).subspan(begin, end - begin), page, out);
        }
    }

private:
    struct Row {
        std::int32_t label;
        double score;
        Box box;
        std::size_t row;

        bool operator<(const Row& other) const {
            if (label != other.label) return label < other.label;
            if (score != other.score) return score > other.score;
            return std::tie(box.left, box.top, box.right, box.bottom, row) <
                   std::tie(other.box.left, other.box.top, other.box.right, other.box.bottom, other.row);
        }
    };

    void label(std::span<const Row> rows, std::size_t page, Fused& out) {
        clusters_.clear();
        fused_.clear();
        for (const Row& row : rows) {
            double most = 0;
            std::size_t nearest = clusters_.size();
            for (std::size_t i = 0; i < fused_.size(); ++i) {
                const double share = iou(intersection(fused_[i], row.box), fused_[i], row.box);
                if (share > most) most = share, nearest = i;
            }
            if (!(most >= threshold_)) nearest = clusters_.size();
            if (nearest == clusters_.size()) {
                clusters_.emplace_back();
                fused_.emplace_back();
            }
            clusters_[nearest].add(row.box, row.score, systems_[row.row]);
            fused_[nearest] = clusters_[nearest].fused();
        }
        for (std::size_t i = 0; i < clusters_.size(); ++i) {
            out.page.push_back(static_cast<std::int32_t>(page));
            out.label.push_back(rows.front().label);
            out.boxes.insert(out.boxes.end(), {fused_[i].left, fused_[i].top, fused_[i].right, fused_[i].bottom});
            out.score.push_back(clusters_[i].score());
            out.systems.push_back(clusters_[i].systems);
        }
    }

    const Side& found_;
    std::span<const double> scores_;
    std::span<const std::uint8_t> systems_;
    double threshold_;
    std::vector<Row> rows_;
    std::vector<Cluster> clusters_;
    std::vector<Box> fused_;
};

// Joins the boxes of one page that agree; a box leads to one that comes before it, or to itself.
class Joining {
public:
    Joining(const Side& found, std::span<const std::uint8_t> systems, double threshold, std::vector<std::int32_t>& first)
        : found_(found), systems_(systems), threshold_(threshold), first_(first) {}

    void join(std::span<const std::int32_t> rows) {
        boxes_.clear();
        for (const std::int32_t row : rows) boxes_.push_back(by_form(row));
        for (std::size_t i = 1; i < rows.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) {
                if (!touch(boxes_[i], boxes_[j]) || system(rows[i]) == system(rows[j])) continue;
                if (iou(intersection(boxes_[j], boxes_[i]), boxes_[j], boxes_[i]) >= threshold_) link(rows[j], rows[i]);
            }
        for (const std::int32_t row : rows)
            if (first_[at(row)] >= 0) first_[at(row)] = lead(row);
    }

private:
    static std::size_t at(std::int32_t row) { return static_cast<std::size_t>(row); }
    std::uint8_t system(std::int32_t row) const { return systems_[at(row)]; }
    Box by_form(std::int32_t row) const { return read_box(&found_.boxes[4 * at(row)], found_.xywh); }

    std::int32_t lead(std::int32_t row) {
        if (first_[at(row)] < 0) first_[at(row)] = row;
        while (first_[at(row)] != row) row = first_[at(row)] = first_[at(first_[at(row)])];
        return row;
    }

    void link(std::int32_t one, std::int32_t other) {
        const std::int32_t a = lead(one), b = lead(other);
        first_[at(std::max(a, b))] = std::min(a, b);
    }

    const Side& found_;
    std::span<const std::uint8_t> systems_;
    double threshold_;
    std::vector<std::int32_t>& first_;
    std::vector<Box> boxes_;
};

template <class Values>
void append(Values& all, const Values& part) {
    all.insert(all.end(), part.begin(), part.end());
}

}  // namespace

std::vector<double> nearest_edges(const Side& truth, const Side& found, std::span<const std::uint8_t> systems, int jobs) {
    std::vector<double> out(3 * truth.rows());
    const LabelNumbers numbers(truth, found);
    const auto cuts = page_shares(truth, found);
    in_threads(cuts.size() - 1, jobs, [&](auto next) {
        PageGroups groups(numbers);
        for (std::size_t share; (share = next()) < cuts.size() - 1;)
            for (std::size_t page = cuts[share]; page < cuts[share + 1]; ++page)
                for (const Group& group : groups.of(truth, found, page)) reach(truth, found, systems, group, out.data());
    });
    return out;
}

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

Fused fuse_boxes(const Side& found, std::span<const double> scores, std::span<const std::uint8_t> systems, double threshold,
                 int jobs) {
    const auto cuts = page_shares(found, found);
    std::vector<Fused> parts(cuts.size() - 1);
    in_threads(parts.size(), jobs, [&](auto next) {
        Fusing fusing(found, scores, systems, threshold);
        for (std::size_t share; (share = next()) < parts.size();)
            for (std::size_t page = cuts[share]; page < cuts[share + 1]; ++page) fusing.page(page, parts[share]);
    });
    Fused all;
    for (const Fused& part : parts) {
        append(all.page, part.page);
        append(all.label, part.label);
        append(all.boxes, part.boxes);
        append(all.score, part.score);
        append(all.systems, part.systems);
    }
    return all;
}

std::vector<std::int32_t> agreeing_boxes(const Side& found, std::span<const std::uint8_t> systems, double threshold, int jobs) {
    std::vector<std::int32_t> first(found.rows(), -1);
    const LabelNumbers numbers(found, found);
    const auto cuts = page_shares(found, found);
    in_threads(cuts.size() - 1, jobs, [&](auto next) {
        PageGroups groups(numbers);
        Joining joining(found, systems, threshold, first);
        for (std::size_t share; (share = next()) < cuts.size() - 1;)
            for (std::size_t page = cuts[share]; page < cuts[share + 1]; ++page)
                for (const Group& group : groups.of(found, found, page)) joining.join(group.found);
    });
    return first;
}

}  // namespace calque
