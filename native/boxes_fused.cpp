// Boxes of several systems made one: fused with the weight of their scores, or joined where systems agree.
#include "boxes_fused.hpp"

#include <algorithm>
#include <tuple>

#include "boxes_groups.hpp"
#include "boxes_overlaps.hpp"
#include "parallel.hpp"

namespace calque {

namespace {

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
        order_.clear();
        for (auto row = static_cast<std::size_t>(found_.offsets[page]); row < static_cast<std::size_t>(found_.offsets[page + 1]); ++row) {
            if (found_.roles[row] != Role::counts) continue;
            order_.push_back({falling_key(scores_[row]), found_.labels[row], static_cast<std::uint32_t>(rows_.size())});
            rows_.push_back({scores_[row], by_corners(found_, row), systems_[row]});
        }
        std::sort(order_.begin(), order_.end(), [this](const Turn& one, const Turn& other) { return earlier(one, other); });
        for (std::size_t begin = 0, end; begin < order_.size(); begin = end) {
            for (end = begin; end < order_.size() && order_[end].label == order_[begin].label; ++end) {}
            label(std::span(order_).subspan(begin, end - begin), page, out);
        }
    }

private:
    struct Row {
        double score;
        Box box;
        std::uint8_t system;
    };
    struct Turn {
        std::uint64_t falling_score;
        std::int32_t label;
        std::uint32_t at;  // among the rows of the page
    };

    bool earlier(const Turn& one, const Turn& other) const {
        if (one.label != other.label) return one.label < other.label;
        if (one.falling_score != other.falling_score) return one.falling_score < other.falling_score;
        const Box &a = rows_[one.at].box, &b = rows_[other.at].box;
        return std::tie(a.left, a.top, a.right, a.bottom, one.at) < std::tie(b.left, b.top, b.right, b.bottom, other.at);
    }

    void label(std::span<const Turn> turns, std::size_t page, Fused& out) {
        clusters_.clear();
        fused_.clear();
        for (const Turn& turn : turns) {
            interrupts_.tick(fused_.size());
            const Row& row = rows_[turn.at];
            const std::size_t nearest = nearest_to(row.box);
            if (nearest == clusters_.size()) {
                clusters_.emplace_back();
                fused_.emplace_back();
            }
            clusters_[nearest].add(row.box, row.score, row.system);
            fused_[nearest] = clusters_[nearest].fused();
        }
        for (std::size_t i = 0; i < clusters_.size(); ++i) {
            out.page.push_back(static_cast<std::int32_t>(page));
            out.label.push_back(turns.front().label);
            out.boxes.insert(out.boxes.end(), {fused_[i].left, fused_[i].top, fused_[i].right, fused_[i].bottom});
            out.score.push_back(clusters_[i].score());
            out.systems.push_back(clusters_[i].systems);
        }
    }

    // The fused box that a box overlaps most, if it is enough; the first wins a tie.
    std::size_t nearest_to(const Box& box) {
        hits_.resize(fused_.size() + 1);
        std::size_t hits = 0;
        for (std::size_t i = 0; i < fused_.size(); ++i) {  // no branch: which boxes meet is noise
            hits_[hits] = i;
            hits += std::size_t{touch(fused_[i], box)};
        }
        double most = 0;
        std::size_t nearest = fused_.size();
        for (const std::size_t i : std::span(hits_).first(hits)) {
            const double share = iou(intersection(fused_[i], box), fused_[i], box);
            if (share > most) most = share, nearest = i;
        }
        return most >= threshold_ ? nearest : fused_.size();
    }

    const Side& found_;
    std::span<const double> scores_;
    std::span<const std::uint8_t> systems_;
    double threshold_;
    std::vector<Row> rows_;
    std::vector<Turn> order_;
    std::vector<Cluster> clusters_;
    std::vector<Box> fused_;
    std::vector<std::size_t> hits_;
    InterruptTicker interrupts_;
};

// Joins the boxes of one page that agree, at every threshold in one pass; a box leads to one that comes before it, or to itself.
class Joining {
public:
    Joining(const Side& found, std::span<const std::uint8_t> systems, std::span<const double> taken,
            std::span<const double> thresholds)
        : found_(found), systems_(systems), taken_(taken), thresholds_(thresholds) {}

    void join(std::span<const std::int32_t> rows) {
        rows_.clear();
        for (const std::int32_t row : rows)
            if (is_free(row, thresholds_.size() - 1)) rows_.push_back({read_box(&found_.boxes[4 * at(row)], found_.xywh), row, systems_[at(row)]});
        leads_.assign(rows_.size() * thresholds_.size(), -1);
        hits_.resize(rows_.size());
        for (std::size_t i = 1; i < rows_.size(); ++i) {
            interrupts_.tick(i);
            std::size_t hits = 0;
            for (std::size_t j = 0; j < i; ++j) {  // no branch: which boxes meet is noise
                hits_[hits] = j;
                hits += std::size_t{touch(rows_[i].box, rows_[j].box)} & std::size_t{rows_[i].system != rows_[j].system};
            }
            for (std::size_t hit = 0; hit < hits; ++hit) link(i, hits_[hit]);
        }
        for (std::size_t level = 0; level < thresholds_.size(); ++level) gather(level);
    }

    // The groups of all labels of a page.
    void hand_over(Agreed& out) {
        std::sort(groups_.begin(), groups_.end(), [](const Joined& a, const Joined& b) {
            return std::tie(a.level, a.first) < std::tie(b.level, b.first);
        });
        for (const Joined& group : groups_) {
            out.level.push_back(static_cast<std::uint8_t>(group.level));
            out.first.push_back(group.first);
            out.systems.push_back(group.systems);
            for (const double sum : group.sums) out.boxes.push_back(sum / group.count);
        }
        groups_.clear();
    }

private:
    struct Row {
        Box box;
        std::int32_t row;
        std::uint8_t system;
    };
    struct Joined {
        std::size_t level;
        std::int32_t first;
        std::uint16_t systems = 0;
        double count = 0;
        Sides sums{};
    };

    static std::size_t at(std::int32_t row) { return static_cast<std::size_t>(row); }
    bool is_free(std::int32_t row, std::size_t level) const { return !(taken_[at(row)] >= thresholds_[level]); }

    void link(std::size_t i, std::size_t j) {
        const double share = iou(intersection(rows_[j].box, rows_[i].box), rows_[j].box, rows_[i].box);
        for (std::size_t level = 0; level < thresholds_.size() && share >= thresholds_[level]; ++level) {
            if (!is_free(rows_[i].row, level) || !is_free(rows_[j].row, level)) continue;
            const std::int32_t a = lead(level, static_cast<std::int32_t>(i)), b = lead(level, static_cast<std::int32_t>(j));
            leads_[level * rows_.size() + at(std::max(a, b))] = std::min(a, b);
        }
    }

    std::int32_t lead(std::size_t level, std::int32_t i) {
        std::int32_t* leads = &leads_[level * rows_.size()];
        if (leads[i] < 0) leads[i] = i;
        while (leads[i] != i) i = leads[i] = leads[leads[i]];
        return i;
    }

    void gather(std::size_t level) {
        number_.assign(rows_.size(), 0);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if (leads_[level * rows_.size() + i] < 0) continue;
            const std::size_t first = at(lead(level, static_cast<std::int32_t>(i)));
            if (first == i) {
                number_[i] = groups_.size();
                groups_.push_back({level, rows_[i].row});
            }
            Joined& group = groups_[first == i ? groups_.size() - 1 : number_[first]];
            group.systems = static_cast<std::uint16_t>(group.systems | 1u << rows_[i].system);
            group.count += 1;
            const Box& box = rows_[i].box;
            const Sides sides{box.left, box.top, box.right, box.bottom};
            for (std::size_t side = 0; side < 4; ++side) group.sums[side] += sides[side];
        }
    }

    const Side& found_;
    std::span<const std::uint8_t> systems_;
    std::span<const double> taken_, thresholds_;
    std::vector<Row> rows_;
    std::vector<std::int32_t> leads_;  // by level, of each row of the label; -1 alone
    std::vector<std::size_t> number_;  // of the group that a row leads
    std::vector<std::size_t> hits_;
    std::vector<Joined> groups_;
    InterruptTicker interrupts_;
};

}  // namespace

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
    all.boxes.shape = {all.page.size(), 4};
    return all;
}

Agreed agreed_boxes(const Side& found, std::span<const std::uint8_t> systems, std::span<const double> taken,
                    std::span<const double> thresholds, int jobs) {
    const LabelNumbers numbers(found, found);
    const auto cuts = page_shares(found, found);
    std::vector<Agreed> parts(cuts.size() - 1);
    in_threads(parts.size(), jobs, [&](auto next) {
        PageGroups groups(numbers);
        Joining joining(found, systems, taken, thresholds);
        for (std::size_t share; (share = next()) < parts.size();)
            for (std::size_t page = cuts[share]; page < cuts[share + 1]; ++page) {
                for (const Group& group : groups.of(found, found, page)) joining.join(group.found);
                joining.hand_over(parts[share]);
            }
    });
    Agreed all;
    for (const Agreed& part : parts) {
        append(all.level, part.level);
        append(all.first, part.first);
        append(all.systems, part.systems);
        append(all.boxes, part.boxes);
    }
    all.boxes.shape = {all.first.size(), 4};
    return all;
}

}  // namespace calque
