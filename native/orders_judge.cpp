// What is counted of a page: pairs of blocks by merging, steps from one block to the next, and where they leave the path.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include "boxes_threads.hpp"
#include "orders.hpp"

namespace calque {

namespace {

using Place = std::int32_t;  // in a list of blocks, or among the groups of a page
constexpr Place none = -1;
constexpr Place never = std::numeric_limits<Place>::max();

std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

// The groups of one page: stretches of its list, the outer ones first.
class Tree {
public:
    void read(const PageOrders& side, std::size_t page) {
        const std::size_t from = size(side.group_offsets[page]), count = size(side.group_offsets[page + 1]) - from;
        starts_ = side.starts.subspan(from, count);
        ends_ = side.ends.subspan(from, count);
        ordered_ = side.ordered.subspan(from, count);
        length_ = static_cast<Place>(side.listed_offsets[page + 1] - side.listed_offsets[page]);
        all_ordered_ = std::all_of(ordered_.begin(), ordered_.end(), [](std::uint8_t flag) { return flag != 0; });
        if (all_ordered_) return;
        parent_.assign(count, none);
        sign_.assign(count, 0);
        inner_.assign(size(length_), none);
        for (std::size_t group = 0; group < count; ++group) {
            const Place above = inner_[size(starts_[group])];  // the innermost so far, since outer groups come first
            parent_[group] = above;
            sign_[group] = (above != none && !ordered_[size(above)] ? 1 : 0) - (ordered_[group] ? 0 : 1);
            std::fill(inner_.begin() + starts_[group], inner_.begin() + ends_[group], static_cast<Place>(group));
        }
    }

    Place length() const { return length_; }
    bool all_ordered() const { return all_ordered_; }
    Place groups() const { return static_cast<Place>(starts_.size()); }
    Place start(Place group) const { return group == none ? 0 : starts_[size(group)]; }
    Place end(Place group) const { return group == none ? length_ : ends_[size(group)]; }
    bool ordered(Place group) const { return group == none || ordered_[size(group)] != 0; }
    Place parent(Place group) const { return parent_[size(group)]; }
    Place inner(Place place) const { return inner_[size(place)]; }

    // The pairs that have an order are all pairs, and those inside of each group this often.
    int sign(Place group) const { return sign_[size(group)]; }

    // Whether the smallest group that holds both places says which comes first.
    bool orders(Place one, Place other) const {
        if (all_ordered_) return true;
        Place group = inner(one);
        while (group != none && !(start(group) <= other && other < end(group))) group = parent(group);
        return ordered(group);
    }

private:
    std::span<const std::int32_t> starts_, ends_;
    std::span<const std::uint8_t> ordered_;
    std::vector<Place> parent_, inner_;
    std::vector<int> sign_;
    Place length_ = 0;
    bool all_ordered_ = true;
};

// A tree as one line: where it leaves the order open, members come as they are first read, and unread ones last.
class Line {
public:
    void lay(const Tree& tree, std::span<const Place> at) {
        places.clear();
        if (tree.all_ordered()) {
            places.resize(size(tree.length()));
            std::iota(places.begin(), places.end(), 0);
            return;
        }
        find_first(tree, at);
        waiting_.assign(1, {none, none});
        while (!waiting_.empty()) {
            const Member member = waiting_.back();
            waiting_.pop_back();
            if (member.place != none)
                places.push_back(member.place);
            else
                add_members(tree, at, member.group);
        }
    }

    std::vector<Place> places;

private:
    struct Member {
        Place group, place;  // a group has no place
    };

    Place read_at(std::span<const Place> at, const Member& member) const {
        if (member.place == none) return first_[size(member.group)];
        return at[size(member.place)] == none ? never : at[size(member.place)];
    }

    void find_first(const Tree& tree, std::span<const Place> at) {
        first_.assign(size(tree.groups()), never);
        below_.assign(size(tree.groups()) + 1, none);
        next_.assign(size(tree.groups()), none);
        for (Place place = 0; place < tree.length(); ++place)
            if (const Place group = tree.inner(place); group != none && at[size(place)] != none)
                first_[size(group)] = std::min(first_[size(group)], at[size(place)]);
        for (Place group = tree.groups(); group-- > 0;) {
            const Place above = tree.parent(group);
            next_[size(group)] = below_[size(above + 1)];
            below_[size(above + 1)] = group;
            if (above != none) first_[size(above)] = std::min(first_[size(above)], first_[size(group)]);
        }
    }

    void add_members(const Tree& tree, std::span<const Place> at, Place group) {
        const auto from = static_cast<std::ptrdiff_t>(waiting_.size());
        Place inside = below_[size(group + 1)];
        for (Place place = tree.start(group); place < tree.end(group);) {
            if (inside != none && tree.start(inside) == place) {
                waiting_.push_back({inside, none});
                place = tree.end(inside);
                inside = next_[size(inside)];
            } else {
                waiting_.push_back({none, place++});
            }
        }
        if (!tree.ordered(group))
            std::stable_sort(waiting_.begin() + from, waiting_.end(),
                             [&](const Member& one, const Member& other) { return read_at(at, one) < read_at(at, other); });
        std::reverse(waiting_.begin() + from, waiting_.end());
    }

    std::vector<Place> first_, below_, next_;
    std::vector<Member> waiting_;
};

// Counts pairs of a sequence whose positions rise, fall or are equal, by merging; and for each entry those that fall.
class Inversions {
public:
    std::int64_t falling = 0, equal = 0;

    // Adds to `fallen` of each place, so often as `sign` says.
    void count(std::span<const Place> places, std::span<const Place> at, int sign, std::vector<std::int64_t>& fallen) {
        falling = equal = 0;
        sorted_.clear();
        for (const Place place : places) sorted_.push_back({at[size(place)], place});
        merged_.resize(sorted_.size());
        for (std::size_t width = 1; width < sorted_.size(); width *= 2) {
            for (std::size_t from = 0; from < sorted_.size(); from += 2 * width) merge(from, width, sign, fallen);
            sorted_.swap(merged_);
        }
        std::int64_t run = 0;
        for (std::size_t i = 1; i < sorted_.size(); ++i) {
            run = sorted_[i].at == sorted_[i - 1].at ? run + 1 : 0;
            equal += run;
        }
    }

private:
    struct Entry {
        Place at, place;
    };

    void merge(std::size_t from, std::size_t width, int sign, std::vector<std::int64_t>& fallen) {
        const std::size_t middle = std::min(from + width, sorted_.size()), end = std::min(from + 2 * width, sorted_.size());
        std::size_t one = from, other = middle;
        for (std::size_t out = from; out < end; ++out) {
            if (other == end || (one < middle && sorted_[one].at <= sorted_[other].at)) {
                fallen[size(sorted_[one].place)] += sign * static_cast<std::int64_t>(other - middle);
                merged_[out] = sorted_[one++];
            } else {
                fallen[size(sorted_[other].place)] += sign * static_cast<std::int64_t>(middle - one);
                falling += static_cast<std::int64_t>(middle - one);
                merged_[out] = sorted_[other++];
            }
        }
    }

    std::vector<Entry> sorted_, merged_;
};

struct Breaks {
    std::vector<std::int32_t> before, after;
    std::vector<std::uint8_t> kind;
};

// What one thread needs; it writes only to the rows of its own pages.
class Judge {
public:
    Judge(const PageOrders& truth, const PageOrders& found, std::span<const std::int32_t> places,
          std::span<const std::uint8_t> furniture, std::span<const double> columns, JudgedOrders& out)
        : truth_(truth), found_(found), places_(places), furniture_(furniture), columns_(columns), out_(out) {}

    void judge(std::size_t page, Breaks& breaks) {
        first_block_ = size(truth_.blocks[page]);
        listed_ = truth_.listed.subspan(size(truth_.listed_offsets[page]),
                                        size(truth_.listed_offsets[page + 1] - truth_.listed_offsets[page]));
        counts_ = out_.counts.data() + page * order_counts;
        ours_.read(truth_, page);
        theirs_.read(found_, page);
        locate(page);
        line_.lay(ours_, at_);
        put_in_lines();
        count_pairs();
        take_steps(breaks);
        count_distances();
        for (std::size_t place = 0; place < listed_.size(); ++place) {
            const std::size_t block = first_block_ + size(listed_[place]);
            out_.rank[block] = rank_[place];
            out_.discordant[block] = static_cast<std::int32_t>(fallen_[place]);
        }
        for (std::size_t i = 0; i < read_.size(); ++i)
            out_.position[first_block_ + size(listed_[size(read_[i])])] = static_cast<std::int32_t>(i);
    }

private:
    // Where each true block of the order is read: a place in the list of the prediction.
    void locate(std::size_t page) {
        const auto listed = found_.listed.subspan(size(found_.listed_offsets[page]), size(theirs_.length()));
        const std::size_t blocks = size(found_.blocks[page + 1] - found_.blocks[page]);
        read_at_.assign(blocks, none);
        for (std::size_t place = 0; place < listed.size(); ++place) read_at_[size(listed[place])] = static_cast<Place>(place);
        at_.assign(listed_.size(), none);
        std::int64_t missing = 0, placed = 0;
        for (std::size_t place = 0; place < listed_.size(); ++place) {
            const std::int32_t there = places_[first_block_ + size(listed_[place])];
            if (there < 0) {
                ++missing;
                continue;
            }
            at_[place] = read_at_[size(there)];
            placed += at_[place] != none;
        }
        const auto all = static_cast<std::int64_t>(listed_.size());
        counts_[truth_blocks] = all;
        counts_[unordered_blocks] = truth_.blocks[page + 1] - truth_.blocks[page] - all;
        counts_[placed_blocks] = placed;
        counts_[missing_blocks] = missing;
        counts_[unplaced_blocks] = all - placed - missing;
        counts_[found_blocks] = static_cast<std::int64_t>(blocks);
    }

    // Ranks in the true line, of all and of those that are placed; and what was read, block after block.
    void put_in_lines() {
        rank_.assign(listed_.size(), none);
        short_rank_.assign(listed_.size(), none);
        straight_.clear();
        slots_.assign(size(theirs_.length()) + 1, 0);
        Place rank = 0;
        for (const Place place : line_.places) {
            rank_[size(place)] = rank++;
            if (at_[size(place)] == none) continue;
            short_rank_[size(place)] = static_cast<Place>(straight_.size());
            straight_.push_back(place);
            ++slots_[size(at_[size(place)]) + 1];
        }
        std::partial_sum(slots_.begin(), slots_.end(), slots_.begin());
        read_.assign(straight_.size(), none);
        next_slot_.assign(slots_.begin(), slots_.end());
        for (const Place place : straight_) read_[size(next_slot_[size(at_[size(place)])]++)] = place;
    }

    void count_pairs() {
        fallen_.assign(listed_.size(), 0);
        rising_ = falling_ = equal_ = 0;
        buckets_.resize(std::max(buckets_.size(), size(ours_.groups())));
        chosen_.clear();
        for (Place place = 0; place < ours_.length(); ++place)
            if (at_[size(place)] != none) chosen_.push_back(place);
        count_ordered(1);
        const std::int64_t rising = rising_, falling = falling_;
        counts_[merged_pairs] = equal_;
        for (Place group = 0; !theirs_.all_ordered() && group < theirs_.groups(); ++group) {
            if (theirs_.sign(group) == 0) continue;
            chosen_.assign(read_.begin() + slots_[size(theirs_.start(group))], read_.begin() + slots_[size(theirs_.end(group))]);
            std::sort(chosen_.begin(), chosen_.end());
            count_ordered(theirs_.sign(group));
        }
        counts_[concordant] = rising_;
        counts_[discordant_pairs] = falling_;
        counts_[open_pairs] = rising + falling - rising_ - falling_;
    }

    // Of the chosen places, which rise, the pairs that the truth orders.
    void count_ordered(int sign) {
        add(chosen_, sign);
        if (ours_.all_ordered()) return;
        touched_.clear();
        for (const Place place : chosen_)
            for (Place group = ours_.inner(place); group != none; group = ours_.parent(group)) {
                if (ours_.sign(group) == 0) continue;
                if (buckets_[size(group)].empty()) touched_.push_back(group);
                buckets_[size(group)].push_back(place);
            }
        for (const Place group : touched_) {
            add(buckets_[size(group)], sign * ours_.sign(group));
            buckets_[size(group)].clear();
        }
    }

    void add(std::span<const Place> places, int sign) {
        if (places.size() < 2) return;
        inversions_.count(places, at_, sign, fallen_);
        const auto pairs = static_cast<std::int64_t>(places.size() * (places.size() - 1) / 2);
        falling_ += sign * inversions_.falling;
        equal_ += sign * inversions_.equal;
        rising_ += sign * (pairs - inversions_.falling - inversions_.equal);
    }

    bool told_apart(Place one, Place other) const {
        return at_[size(one)] != at_[size(other)] && ours_.orders(one, other);
    }

    void take_steps(Breaks& breaks) {
        std::int64_t required = 0, predicted = 0, right = 0;
        for (std::size_t i = 1; i < straight_.size(); ++i) required += told_apart(straight_[i - 1], straight_[i]);
        wrong_.clear();
        jumps_.assign(read_.size() + 1, 0);
        for (std::size_t i = 1; i < read_.size(); ++i) {
            const Place one = read_[i - 1], other = read_[i];
            if (!told_apart(one, other) || !theirs_.orders(at_[size(one)], at_[size(other)])) continue;
            ++predicted;
            if (short_rank_[size(other)] == short_rank_[size(one)] + 1) {
                ++right;
                continue;
            }
            wrong_.push_back(i);
            jumps_[i] = !outside(one) && !outside(other) && apart(one, other);
        }
        counts_[links_required] = required;
        counts_[links_predicted] = predicted;
        counts_[links_right] = right;
        for (const std::size_t i : wrong_) {
            const Break kind = kind_of(i);
            ++counts_[first_break + static_cast<std::size_t>(kind)];
            breaks.before.push_back(listed_[size(read_[i - 1])]);
            breaks.after.push_back(listed_[size(read_[i])]);
            breaks.kind.push_back(static_cast<std::uint8_t>(kind));
        }
    }

    Break kind_of(std::size_t step) const {
        const Place one = read_[step - 1], other = read_[step];
        if (outside(one) || outside(other)) return Break::furniture;
        if (jumps_[step]) return jumps_[step - 1] || jumps_[step + 1] ? Break::interleaved : Break::column_jump;
        return rank_[size(other)] > rank_[size(one)] ? Break::skip : Break::back;
    }

    bool outside(Place place) const {
        return fallen_[size(place)] > 0 && furniture_[first_block_ + size(listed_[size(place)])] != 0;
    }

    // In different columns: their widths share less than half of the narrower one.
    bool apart(Place one, Place other) const {
        const double* a = &columns_[2 * (first_block_ + size(listed_[size(one)]))];
        const double* b = &columns_[2 * (first_block_ + size(listed_[size(other)]))];
        return std::min(a[1], b[1]) - std::max(a[0], b[0]) < 0.5 * std::min(a[1] - a[0], b[1] - b[0]);
    }

    void count_distances() {
        const auto placed = static_cast<std::int64_t>(read_.size());
        std::int64_t moved = 0;
        tails_.clear();
        for (std::size_t i = 0; i < read_.size(); ++i) {
            const Place rank = short_rank_[size(read_[i])];
            moved += std::abs(static_cast<std::int64_t>(rank) - static_cast<std::int64_t>(i));
            const auto tail = std::lower_bound(tails_.begin(), tails_.end(), rank);
            if (tail == tails_.end())
                tails_.push_back(rank);
            else
                *tail = rank;
        }
        read_ranks_.clear();
        for (const Place place : read_) read_ranks_.push_back(rank_[size(place)]);
        counts_[moves] = placed - static_cast<std::int64_t>(tails_.size());
        counts_[displacement] = moved;
        counts_[largest_displacement] = placed * placed / 2;
        counts_[edits] = line_edits(read_ranks_, listed_.size());
    }

    const PageOrders& truth_;
    const PageOrders& found_;
    std::span<const std::int32_t> places_;
    std::span<const std::uint8_t> furniture_;
    std::span<const double> columns_;
    JudgedOrders& out_;

    // Of the page at hand. Places are those in the list of the truth, unless they are said to be of the prediction's.
    std::size_t first_block_ = 0;
    std::span<const std::int32_t> listed_;
    std::int64_t* counts_ = nullptr;
    Tree ours_, theirs_;
    Line line_;
    Inversions inversions_;
    std::int64_t rising_ = 0, falling_ = 0, equal_ = 0;
    std::vector<Place> read_at_, at_, rank_, short_rank_, straight_, read_, slots_, next_slot_, chosen_, touched_, tails_, read_ranks_;
    std::vector<std::int64_t> fallen_;
    std::vector<std::vector<Place>> buckets_;
    std::vector<std::size_t> wrong_;
    std::vector<std::uint8_t> jumps_;
};

}  // namespace

JudgedOrders judge_orders(const PageOrders& truth, const PageOrders& found, std::span<const std::int32_t> places,
                          std::span<const std::uint8_t> furniture, std::span<const double> columns, int jobs) {
    const std::size_t pages = truth.pages(), blocks = places.size();
    JudgedOrders out{std::vector<std::int64_t>(pages * order_counts), std::vector<std::int32_t>(blocks, none),
                     std::vector<std::int32_t>(blocks, none), std::vector<std::int32_t>(blocks), {0}, {}, {}, {}};
    constexpr std::size_t at_once = 64;
    const std::size_t shares = (pages + at_once - 1) / at_once;
    std::vector<Breaks> breaks(shares);
    std::vector<std::int64_t> ends(pages);
    in_threads(shares, jobs, [&](auto next) {
        Judge judge(truth, found, places, furniture, columns, out);
        for (std::size_t share; (share = next()) < shares;)
            for (std::size_t page = share * at_once; page < std::min(pages, (share + 1) * at_once); ++page) {
                judge.judge(page, breaks[share]);
                ends[page] = static_cast<std::int64_t>(breaks[share].kind.size());
            }
    });
    for (std::size_t share = 0; share < shares; ++share) {
        const auto before = static_cast<std::int64_t>(out.kind.size());
        for (std::size_t page = share * at_once; page < std::min(pages, (share + 1) * at_once); ++page)
            out.break_offsets.push_back(before + ends[page]);
        out.before.insert(out.before.end(), breaks[share].before.begin(), breaks[share].before.end());
        out.after.insert(out.after.end(), breaks[share].after.begin(), breaks[share].after.end());
        out.kind.insert(out.kind.end(), breaks[share].kind.begin(), breaks[share].kind.end());
    }
    return out;
}

}  // namespace calque
