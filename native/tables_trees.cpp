#include "tables_trees.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "parallel.hpp"

namespace calque {

namespace {

struct Tree {
    std::span<const std::int32_t> labels, texts, firsts;

    Tree(const Trees& side, std::size_t tree) {
        const auto begin = static_cast<std::size_t>(side.offsets[tree]), size = side.size(tree);
        labels = side.labels.subspan(begin, size);
        texts = side.texts.subspan(begin, size);
        firsts = side.firsts.subspan(begin, size);
    }
    std::size_t size() const { return labels.size(); }
    std::size_t first(std::size_t node) const { return static_cast<std::size_t>(firsts[node]); }
    bool is_leaf(std::size_t node) const { return first(node) == node; }

    // The nodes that are no first child: of all with the same first node, the last.
    std::vector<std::size_t> roots() const {
        std::vector<std::size_t> out;
        std::vector<bool> seen(size());
        for (std::size_t node = size(); node-- > 0;)
            if (!seen[first(node)]) seen[first(node)] = true, out.push_back(node);
        std::reverse(out.begin(), out.end());
        return out;
    }
};

class Comparison {
   public:
    Comparison(const Tree& truth, const Tree& found, const Texts& texts, TextPattern& pattern)
        : a_(truth), b_(found), texts_(texts), pattern_(pattern), inner_a_(number(truth)), inner_b_(number(found)) {
        const std::size_t rows = count(inner_a_), columns = count(inner_b_);
        by_inner_a_.assign(rows * b_.size(), 0.0);
        by_inner_b_.assign(columns * a_.size(), 0.0);
        last_.resize(a_.size());
        for (std::size_t node = 0; node < a_.size(); ++node) last_[a_.first(node)] = node;
    }

    double distance() {
        if (a_.size() == 0 || b_.size() == 0) return static_cast<double>(a_.size() + b_.size());
        const auto ours = a_.roots(), theirs = b_.roots();
        for (const std::size_t i : ours)
            for (const std::size_t j : theirs)
                if (!(a_.is_leaf(i) && b_.is_leaf(j))) fill(i, j);
        return kept(a_.size() - 1, b_.size() - 1);
    }

   private:
    // Distances of single leaves are costs; all others are kept by the node that holds something.
    static std::vector<std::int32_t> number(const Tree& tree) {
        std::vector<std::int32_t> out(tree.size(), -1);
        std::int32_t next = 0;
        for (std::size_t node = 0; node < tree.size(); ++node)
            if (!tree.is_leaf(node)) out[node] = next++;
        return out;
    }
    static std::size_t count(const std::vector<std::int32_t>& numbers) {
        return static_cast<std::size_t>(std::count_if(numbers.begin(), numbers.end(), [](auto n) { return n >= 0; }));
    }

    double kept(std::size_t i, std::size_t j) {
        if (inner_a_[i] >= 0) return by_inner_a_[static_cast<std::size_t>(inner_a_[i]) * b_.size() + j];
        if (inner_b_[j] >= 0) return by_inner_b_[static_cast<std::size_t>(inner_b_[j]) * a_.size() + i];
        return cost(i, j);
    }
    void keep(std::size_t i, std::size_t j, double value) {
        if (inner_a_[i] >= 0)
            by_inner_a_[static_cast<std::size_t>(inner_a_[i]) * b_.size() + j] = value;
        else if (inner_b_[j] >= 0)
            by_inner_b_[static_cast<std::size_t>(inner_b_[j]) * a_.size() + i] = value;
    }

    // Forests of ours from the first node of i on, row by row; of rows before, those that an open node goes back to.
    void fill(std::size_t i, std::size_t j) {
        const std::size_t from = a_.first(i), other = b_.first(j), width = j - other + 2;
        before_.resize(width);
        now_.resize(width);
        saved_.clear();
        for (std::size_t y = 0; y < width; ++y) before_[y] = static_cast<double>(y);
        for (std::size_t node = from; node <= i; ++node) {
            interrupts_.tick(width);
            const std::size_t first = a_.first(node);
            if (first == node && last_[node] > node) saved_[node] = before_;
            const std::vector<double>& base = first == node ? before_ : saved_[first];
            now_[0] = before_[0] + 1;
            for (std::size_t y = 1; y < width; ++y) {
                const std::size_t theirs = other + y - 1, begin = b_.first(theirs);
                const bool whole = first == from && begin == other;
                const double pair = whole ? before_[y - 1] + cost(node, theirs) : base[begin - other] + kept(node, theirs);
                now_[y] = std::min(std::min(before_[y], now_[y - 1]) + 1, pair);
                if (whole) keep(node, theirs, now_[y]);
            }
            std::swap(before_, now_);
            if (last_[first] == node) saved_.erase(first);
        }
    }

    double cost(std::size_t i, std::size_t j) {
        if (a_.labels[i] != b_.labels[j]) return 1.0;
        if (a_.texts[i] < 0 || b_.texts[j] < 0 || a_.texts[i] == b_.texts[j]) return 0.0;
        const auto mine = static_cast<std::size_t>(a_.texts[i]), other = static_cast<std::size_t>(b_.texts[j]);
        const auto known = known_.find(key(mine, other));
        if (known != nullptr) return *known;
        interrupts_.tick(texts_.length(other));
        if (ready_ != mine) pattern_.set(texts_.text(mine)), ready_ = mine;
        const auto edits = static_cast<double>(pattern_.distance(texts_.text(other)));
        const double value = edits > 0 ? edits / static_cast<double>(std::max(texts_.length(mine), texts_.length(other))) : 0.0;
        known_.put(key(mine, other), value);
        return value;
    }

    static std::uint64_t key(std::size_t a, std::size_t b) { return (std::uint64_t{a} << 32 | b) + 1; }

    // The last value of each place: what is not there any more is computed again.
    struct Known {
        std::vector<std::pair<std::uint64_t, double>> places = std::vector<std::pair<std::uint64_t, double>>(1 << 16);

        std::size_t place(std::uint64_t key) const { return static_cast<std::size_t>(key * 0x9E3779B97F4A7C15u >> 48); }
        const double* find(std::uint64_t key) const {
            const auto& entry = places[place(key)];
            return entry.first == key ? &entry.second : nullptr;
        }
        void put(std::uint64_t key, double value) { places[place(key)] = {key, value}; }
    };

    const Tree &a_, &b_;
    Texts texts_;
    TextPattern& pattern_;
    std::vector<std::int32_t> inner_a_, inner_b_;
    std::vector<double> by_inner_a_, by_inner_b_, before_, now_;
    std::vector<std::size_t> last_;  // by leaf: the last node that begins with it
    std::unordered_map<std::size_t, std::vector<double>> saved_;
    std::size_t ready_ = static_cast<std::size_t>(-1);
    Known known_;
    InterruptTicker interrupts_;
};

}  // namespace

std::vector<double> tree_distances(const Trees& truth, const Trees& found, const TablePairs& pairs, const Texts& texts,
                                   int jobs) {
    std::vector<double> out(pairs.size());
    const CompactTexts compact(texts);
    in_threads(pairs.size(), jobs, [&](auto next) {
        TextPattern pattern(compact.alphabet());
        for (std::size_t p = next(); p < pairs.size(); p = next()) {
            const Tree ours(truth, static_cast<std::size_t>(pairs.truth[p])), theirs(found, static_cast<std::size_t>(pairs.found[p]));
            out[p] = Comparison(ours, theirs, compact.texts(), pattern).distance();
        }
    });
    return out;
}

}  // namespace calque
