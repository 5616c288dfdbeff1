#include "tables_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "parallel.hpp"

namespace calque {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double tie = 1e-10;  // costs closer than this are equal: sums of the same fractions in another order
constexpr double rounding = 1e-6;  // a distance that was told may be off by so much
constexpr std::size_t remembered = std::size_t{1} << 22;  // distances of texts that are kept
constexpr std::size_t traced = std::size_t{1} << 27;      // choices (a quarter of a byte each) that are kept at a time

// The rows [from, to) of one table as one sequence of nodes: the cells of a row, then its end.
struct Sequence {
    std::vector<std::int64_t> spans;   // of cells; -1 at the end of a row
    std::vector<std::int32_t> texts;   // of cells, numbered within the table
    std::vector<std::int32_t> starts;  // how many nodes stand before the row of this one
    std::vector<std::int32_t> vocabulary;

    std::size_t size() const { return spans.size(); }
    bool is_end(std::size_t node) const { return spans[node] < 0; }

    void fill(const RowTables& side, std::size_t from, std::size_t to) {
        spans.clear(), texts.clear(), starts.clear();
        vocabulary.assign(side.texts.begin() + side.rows[from], side.texts.begin() + side.rows[to]);
        std::sort(vocabulary.begin(), vocabulary.end());
        vocabulary.erase(std::unique(vocabulary.begin(), vocabulary.end()), vocabulary.end());
        for (std::size_t row = from; row < to; ++row) {
            const auto start = static_cast<std::int32_t>(spans.size());
            for (std::size_t cell = side.first_cell(row); cell < side.first_cell(row + 1); ++cell) {
                spans.push_back(side.spans[cell]);
                const auto at = std::lower_bound(vocabulary.begin(), vocabulary.end(), side.texts[cell]);
                texts.push_back(static_cast<std::int32_t>(at - vocabulary.begin()));
                starts.push_back(start);
            }
            spans.push_back(-1);
            texts.push_back(-1);
            starts.push_back(start);
        }
    }
};

// What it costs to turn one text into another, each pair of texts once as far as memory goes.
class TextCosts {
   public:
    TextCosts(const Texts& texts, std::size_t alphabet) : texts_(texts), pattern_(alphabet) {}

    void begin(const std::vector<std::int32_t>& ours, const std::vector<std::int32_t>& theirs) {
        ours_ = &ours;
        theirs_ = &theirs;
        ready_ = none;
        whole_ = !theirs.empty() && ours.size() <= remembered / theirs.size();
        if (whole_) known_.assign(ours.size() * theirs.size(), -1.0);
    }

    double cost(std::int32_t a, std::int32_t b) {
        if (!whole_) return measured(a, b);
        double& kept = known_[static_cast<std::size_t>(a) * theirs_->size() + static_cast<std::size_t>(b)];
        if (kept < 0) kept = measured(a, b);
        return kept;
    }

   private:
    static constexpr std::int32_t none = -1;

    double measured(std::int32_t a, std::int32_t b) {
        const auto mine = static_cast<std::size_t>((*ours_)[static_cast<std::size_t>(a)]);
        const auto other = static_cast<std::size_t>((*theirs_)[static_cast<std::size_t>(b)]);
        if (mine == other) return 0.0;
        const std::size_t longer = std::max(texts_.length(mine), texts_.length(other));
        if (longer == 0) return 0.0;
        if (texts_.length(mine) == 0 || texts_.length(other) == 0) return 1.0;
        interrupts_.tick(texts_.length(other));
        if (ready_ != a) {
            pattern_.set(texts_.text(mine));
            ready_ = a;
        }
        return static_cast<double>(pattern_.distance(texts_.text(other))) / static_cast<double>(longer);
    }

    Texts texts_;
    TextPattern pattern_;
    const std::vector<std::int32_t>*ours_ = nullptr, *theirs_ = nullptr;
    std::vector<double> known_;
    std::int32_t ready_ = none;
    InterruptTicker interrupts_;
    bool whole_ = true;
};

enum Choice : std::uint8_t { together = 0, truth_left = 1, found_left = 2 };

// Choices for a band of each row of the table, two bits each.
class Choices {
   public:
    void begin(std::size_t rows, std::size_t width) {
        width_ = width;
        bits_.assign((rows * width + 3) / 4, 0);
    }
    void put(std::size_t row, std::size_t place, Choice choice) {
        const std::size_t at = row * width_ + place;
        bits_[at / 4] = static_cast<std::uint8_t>(bits_[at / 4] | (choice << (at % 4 * 2)));
    }
    Choice get(std::size_t row, std::size_t place) const {
        const std::size_t at = row * width_ + place;
        return static_cast<Choice>(bits_[at / 4] >> (at % 4 * 2) & 3);
    }

   private:
    std::size_t width_ = 0;
    std::vector<std::uint8_t> bits_;
};

// One pass over both sequences: nodes leave, come or go together; two rows go together by jumping over both.
class Pass {
   public:
    Pass(const Sequence& ours, const Sequence& theirs, TextCosts* costs) : a_(ours), b_(theirs), costs_(costs) {
        for (auto* row : {&before_, &now_, &start_, &inner_before_, &inner_})
            row->assign(b_.size() + 2, infinity);
    }

    // No path of cost `bound` or less leaves the band.
    void narrow(std::int64_t bound) {
        const auto apart = static_cast<std::int64_t>(b_.size()) - static_cast<std::int64_t>(a_.size());
        const std::int64_t spare = std::max<std::int64_t>((bound - std::abs(apart)) / 2, 0);
        lowest_ = std::min<std::int64_t>(0, apart) - spare;
        highest_ = std::max<std::int64_t>(0, apart) + spare;
    }

    std::size_t width() const { return static_cast<std::size_t>(highest_ - lowest_ + 1); }
    std::size_t low(std::size_t i) const {
        return static_cast<std::size_t>(std::max<std::int64_t>(0, static_cast<std::int64_t>(i) + lowest_));
    }
    std::size_t high(std::size_t i) const {
        const auto end = static_cast<std::int64_t>(i) + highest_;
        return static_cast<std::size_t>(std::clamp<std::int64_t>(end, 0, static_cast<std::int64_t>(b_.size())));
    }
    std::size_t place(std::size_t i, std::size_t j) const {
        return static_cast<std::size_t>(static_cast<std::int64_t>(j) - static_cast<std::int64_t>(i) - lowest_);
    }

    void begin() {
        std::fill(before_.begin(), before_.end(), infinity);
        for (std::size_t j = 0; j <= high(0); ++j) before_[j] = static_cast<double>(j);
        at_ = 0;
    }
    const std::vector<double>& values() const { return before_; }
    void resume(std::size_t at, const std::vector<double>& values) {
        before_ = values;
        at_ = at;
    }

    // Goes on to where `end` nodes of ours are done.
    void run(std::size_t end, Choices* choices = nullptr, std::size_t first = 0) {
        for (; at_ < end; ++at_) {
            interrupts_.tick(width());
            if (static_cast<std::size_t>(a_.starts[at_]) == at_) begin_row();
            step(at_ + 1, choices, first);
            std::swap(before_, now_);
            if (!a_.is_end(at_)) std::swap(inner_before_, inner_);
        }
    }
    double result() const { return before_[b_.size()]; }

   private:
    void begin_row() {
        start_ = before_;
        for (std::size_t j = low(at_); j <= high(at_); ++j) inner_before_[j] = along(j, 0);
        fence(inner_before_, at_);
    }

    // How many cells of its row stand before place j: what it costs to let them all come, and `left` of ours leave.
    double along(std::size_t j, std::size_t left) const {
        const std::size_t begin = j < b_.size() ? static_cast<std::size_t>(b_.starts[j]) : b_.size();
        return static_cast<double>(j - begin + left);
    }

    void fence(std::vector<double>& row, std::size_t i) const {
        if (low(i) > 0) row[low(i) - 1] = infinity;
        row[high(i) + 1] = infinity;
    }

    bool in_band(std::size_t i, std::size_t j) const { return low(i) <= j && j <= high(i); }

    void step(std::size_t i, Choices* choices, std::size_t first) {
        const std::size_t lo = low(i), hi = high(i);
        const bool end = a_.is_end(i - 1);
        const auto row_start = static_cast<std::size_t>(a_.starts[i - 1]);
        const bool empty = end && row_start + 1 == i;
        fence(now_, i);
        if (!end) fence(inner_, i);
        for (std::size_t j = lo; j <= hi; ++j) {
            double pair = infinity;
            if (j > 0) {
                const bool their_end = b_.is_end(j - 1);
                const auto their_start = static_cast<std::size_t>(b_.starts[j - 1]);
                if (end && their_end) {
                    if (in_band(row_start, their_start) && in_band(i - 1, j - 1))
                        pair = start_[their_start] + inner_before_[j - 1];
                } else if (!end && !their_end) {
                    const double cost = exchange(i - 1, j - 1);
                    pair = before_[j - 1] + cost;
                    inner_[j] = best_inner(j, cost);
                } else if (empty || (their_end && their_start + 1 == j)) {
                    pair = before_[j - 1] + 1;
                }
                // A new row of theirs begins behind its end.
                if (!end && their_end) inner_[j] = static_cast<double>(i - row_start);
            } else if (!end) {
                inner_[0] = static_cast<double>(i - row_start);
            }
            const double leave = before_[j] + 1, come = j > lo ? now_[j - 1] + 1 : infinity;
            const double least = std::min(pair, std::min(leave, come));
            now_[j] = least;
            if (choices)
                choices->put(i - 1 - first, place(i, j),
                             pair <= least + tie ? together : leave <= least + tie ? truth_left : found_left);
        }
    }

    double best_inner(std::size_t j, double cost) const {
        const double pair = inner_before_[j - 1] + cost, leave = inner_before_[j] + 1, come = inner_[j - 1] + 1;
        // The end of the row before begins this one: what is known there is about an empty beginning.
        return std::min(pair, std::min(leave, come));
    }

    double exchange(std::size_t i, std::size_t j) const {
        if (a_.spans[i] != b_.spans[j]) return 1.0;
        return costs_ ? costs_->cost(a_.texts[i], b_.texts[j]) : 0.0;
    }

    const Sequence &a_, &b_;
    TextCosts* costs_;
    std::int64_t lowest_ = 0, highest_ = 0;
    std::size_t at_ = 0;
    InterruptTicker interrupts_;
    std::vector<double> before_, now_, start_, inner_before_, inner_;
};

bool same_rows(const RowTables& a, std::size_t row, const RowTables& b, std::size_t other, bool structure) {
    const std::size_t count = a.cell_count(row);
    if (count != b.cell_count(other)) return false;
    const auto mine = static_cast<std::ptrdiff_t>(a.first_cell(row)), theirs = static_cast<std::ptrdiff_t>(b.first_cell(other));
    const auto size = static_cast<std::ptrdiff_t>(count);
    if (!std::equal(a.spans.begin() + mine, a.spans.begin() + mine + size, b.spans.begin() + theirs)) return false;
    return structure || std::equal(a.texts.begin() + mine, a.texts.begin() + mine + size, b.texts.begin() + theirs);
}

// The rows of a pair that are left when equal ones are cut off at the end, and at the beginning where that is asked for.
struct Cut {
    std::size_t truth_from, truth_to, found_from, found_to;

    Cut(const RowTables& truth, const RowTables& found, std::size_t t, std::size_t f, bool structure, bool beginning)
        : truth_from(truth.first_row(t)), truth_to(truth.first_row(t + 1)), found_from(found.first_row(f)),
          found_to(found.first_row(f + 1)) {
        while (truth_from < truth_to && found_from < found_to &&
               same_rows(truth, truth_to - 1, found, found_to - 1, structure))
            --truth_to, --found_to;
        while (beginning && truth_from < truth_to && found_from < found_to &&
               same_rows(truth, truth_from, found, found_from, structure))
            ++truth_from, ++found_from;
    }
};

// What one thread works with.
struct Bench {
    Sequence ours, theirs;
    TextCosts costs;

    Bench(const CompactTexts& texts) : costs(texts.texts(), texts.alphabet()) {}

    void lay(const RowTables& truth, const RowTables& found, const Cut& cut) {
        ours.fill(truth, cut.truth_from, cut.truth_to);
        theirs.fill(found, cut.found_from, cut.found_to);
        costs.begin(ours.vocabulary, theirs.vocabulary);
    }

    // The band grows until it proves its answer.
    double distance(bool structure) {
        const std::int64_t most = static_cast<std::int64_t>(ours.size() + theirs.size());
        const std::int64_t apart = std::abs(static_cast<std::int64_t>(ours.size()) - static_cast<std::int64_t>(theirs.size()));
        Pass pass(ours, theirs, structure ? nullptr : &costs);
        for (std::int64_t bound = apart + 8;; bound = 2 * bound) {
            pass.narrow(std::min(bound, most));
            pass.begin();
            pass.run(ours.size());
            if (bound >= most || pass.result() <= static_cast<double>(bound)) return pass.result();
        }
    }
};

// Writes down who goes with whom, from the end.
class Tracing {
   public:
    Tracing(Bench& bench, double distance) : bench_(bench), a_(bench.ours), b_(bench.theirs), pass_(a_, b_, &bench.costs) {
        // No two tables are further apart than all their nodes; what is no number is taken for that.
        const auto most = static_cast<double>(a_.size() + b_.size());
        rows.assign(a_.size(), -1);
        cells.assign(a_.size(), -1);
        others.assign(b_.size(), -1);
        if (!trace(distance < most ? std::max(distance, 0.0) : most)) trace(most);
    }

    // By node of ours: the partner node of a row end, and of a cell; by node of theirs, of a cell.
    std::vector<std::int32_t> rows, cells, others;

   private:
    // Whether the tables are no further apart than that; else the band was too narrow, and nothing is written.
    bool trace(double distance) {
        pass_.narrow(static_cast<std::int64_t>(std::floor(distance + rounding)));
        std::vector<std::size_t> begins{0};
        const std::size_t most = std::max<std::size_t>(traced / std::max<std::size_t>(pass_.width(), 1), 1);
        for (std::size_t i = 0; i < a_.size(); ++i)
            if (a_.is_end(i) && i + 1 < a_.size() && i + 1 - begins.back() >= most) begins.push_back(i + 1);
        std::vector<std::vector<double>> kept;
        pass_.begin();
        for (const std::size_t begin : begins) {
            pass_.run(begin);
            kept.push_back(pass_.values());
        }
        std::size_t i = a_.size(), j = b_.size();
        for (std::size_t part = begins.size(); part-- > 0;) {
            const std::size_t first = begins[part], end = part + 1 < begins.size() ? begins[part + 1] : a_.size();
            choices_.begin(end - first, pass_.width());
            pass_.resume(first, kept[part]);
            pass_.run(end, &choices_, first);
            if (end == a_.size() && pass_.result() > distance + rounding) return false;
            while (i > first) follow(i, j, first);
        }
        return true;
    }

    void follow(std::size_t& i, std::size_t& j, std::size_t first) {
        const Choice choice = choices_.get(i - 1 - first, pass_.place(i, j));
        if (choice == truth_left) {
            --i;
        } else if (choice == found_left) {
            --j;
        } else if (a_.is_end(i - 1) && b_.is_end(j - 1)) {
            rows[i - 1] = static_cast<std::int32_t>(j - 1);
            const auto begin = static_cast<std::size_t>(a_.starts[i - 1]), other = static_cast<std::size_t>(b_.starts[j - 1]);
            align(begin, i - 1, other, j - 1);
            i = begin, j = other;
        } else {
            if (a_.is_end(i - 1)) {
                others[j - 1] = -2;
            } else if (b_.is_end(j - 1)) {
                cells[i - 1] = -2;
            } else {
                cells[i - 1] = static_cast<std::int32_t>(j - 1);
                others[j - 1] = static_cast<std::int32_t>(i - 1);
            }
            --i, --j;
        }
    }

    // The cells of two rows that go together.
    void align(std::size_t begin, std::size_t end, std::size_t other, std::size_t other_end) {
        const std::size_t n = end - begin, m = other_end - other;
        inner_.begin(n + 1, m + 1);
        std::vector<double> before(m + 1), now(m + 1);
        for (std::size_t j = 0; j <= m; ++j) before[j] = static_cast<double>(j), inner_.put(0, j, found_left);
        for (std::size_t i = 1; i <= n; ++i) {
            interrupts_.tick(m);
            now[0] = static_cast<double>(i);
            inner_.put(i, 0, truth_left);
            for (std::size_t j = 1; j <= m; ++j) {
                const std::size_t x = begin + i - 1, y = other + j - 1;
                const double cost = a_.spans[x] != b_.spans[y] ? 1.0 : bench_.costs.cost(a_.texts[x], b_.texts[y]);
                const double pair = before[j - 1] + cost, leave = before[j] + 1, come = now[j - 1] + 1;
                now[j] = std::min(pair, std::min(leave, come));
                inner_.put(i, j, pair <= now[j] + tie ? together : leave <= now[j] + tie ? truth_left : found_left);
            }
            std::swap(before, now);
        }
        for (std::size_t i = n, j = m; i > 0 || j > 0;) {
            const Choice choice = inner_.get(i, j);
            if (choice == together) {
                cells[begin + i - 1] = static_cast<std::int32_t>(other + j - 1);
                others[other + j - 1] = static_cast<std::int32_t>(begin + i - 1);
            }
            i -= choice != found_left;
            j -= choice != truth_left;
        }
    }

    Bench& bench_;
    const Sequence &a_, &b_;
    Pass pass_;
    Choices choices_, inner_;
    InterruptTicker interrupts_;
};

// For each node of a sequence its number among the cells, or among the rows, of the table.
std::vector<std::int32_t> numbers(const Sequence& side) {
    std::vector<std::int32_t> out(side.size());
    std::int32_t cell = 0, row = 0;
    for (std::size_t node = 0; node < side.size(); ++node) out[node] = side.is_end(node) ? row++ : cell++;
    return out;
}

struct Places {
    std::size_t row, cell, other;  // where the rows and cells of a pair begin in the result
};

void write_pair(const RowTables& truth, const RowTables& found, std::size_t t, std::size_t f, const Cut& cut,
                const Bench& bench, const Tracing& done, const Places& at, Mappings& out) {
    const auto ours = numbers(bench.ours), theirs = numbers(bench.theirs);
    for (std::size_t node = 0; node < bench.ours.size(); ++node) {
        const auto own = static_cast<std::size_t>(ours[node]);
        if (bench.ours.is_end(node)) {
            if (done.rows[node] >= 0)
                out.truth_rows[at.row + own] = theirs[static_cast<std::size_t>(done.rows[node])];
        } else {
            const std::int32_t partner = done.cells[node];
            out.truth_cells[at.cell + own] = partner < 0 ? partner : theirs[static_cast<std::size_t>(partner)];
        }
    }
    for (std::size_t node = 0; node < bench.theirs.size(); ++node) {
        if (bench.theirs.is_end(node)) continue;
        const std::int32_t partner = done.others[node];
        out.found_cells[at.other + static_cast<std::size_t>(theirs[node])] =
            partner < 0 ? partner : ours[static_cast<std::size_t>(partner)];
    }
    // The equal rows at the end, cell by cell.
    std::size_t other = cut.found_to;
    for (std::size_t row = cut.truth_to; row < truth.first_row(t + 1); ++row, ++other) {
        out.truth_rows[at.row + row - truth.first_row(t)] = static_cast<std::int32_t>(other - found.first_row(f));
        const std::size_t mine = truth.first_cell(row) - truth.first_cell(truth.first_row(t));
        const std::size_t their = found.first_cell(other) - found.first_cell(found.first_row(f));
        for (std::size_t cell = 0; cell < truth.cell_count(row); ++cell) {
            out.truth_cells[at.cell + mine + cell] = static_cast<std::int32_t>(their + cell);
            out.found_cells[at.other + their + cell] = static_cast<std::int32_t>(mine + cell);
        }
    }
}

std::size_t cells_of(const RowTables& side, std::size_t table) {
    return side.first_cell(side.first_row(table + 1)) - side.first_cell(side.first_row(table));
}

}  // namespace

std::vector<double> row_tree_distances(const RowTables& truth, const RowTables& found, const TablePairs& pairs,
                                       const Texts& texts, bool structure, int jobs) {
    std::vector<double> out(pairs.size());
    const CompactTexts compact(texts);
    in_threads(pairs.size(), jobs, [&](auto next) {
        Bench bench(compact);
        for (std::size_t p = next(); p < pairs.size(); p = next()) {
            const auto t = static_cast<std::size_t>(pairs.truth[p]), f = static_cast<std::size_t>(pairs.found[p]);
            bench.lay(truth, found, Cut(truth, found, t, f, structure, true));
            out[p] = bench.distance(structure);
        }
    });
    return out;
}

Mappings row_tree_mappings(const RowTables& truth, const RowTables& found, const TablePairs& pairs, const Texts& texts,
                           std::span<const double> distances, int jobs) {
    std::vector<Places> at{{0, 0, 0}};
    for (std::size_t p = 0; p < pairs.size(); ++p) {
        const auto t = static_cast<std::size_t>(pairs.truth[p]), f = static_cast<std::size_t>(pairs.found[p]);
        const Places& last = at.back();
        at.push_back({last.row + truth.row_count(t), last.cell + cells_of(truth, t), last.other + cells_of(found, f)});
    }
    Mappings out{std::vector<std::int32_t>(at.back().row, -1), std::vector<std::int32_t>(at.back().cell, -1),
                 std::vector<std::int32_t>(at.back().other, -1)};
    const CompactTexts compact(texts);
    in_threads(pairs.size(), jobs, [&](auto next) {
        Bench bench(compact);
        for (std::size_t p = next(); p < pairs.size(); p = next()) {
            const auto t = static_cast<std::size_t>(pairs.truth[p]), f = static_cast<std::size_t>(pairs.found[p]);
            const Cut cut(truth, found, t, f, false, false);
            bench.lay(truth, found, cut);
            const Tracing done(bench, distances[p]);
            write_pair(truth, found, t, f, cut, bench, done, at[p], out);
        }
    });
    return out;
}

}  // namespace calque
