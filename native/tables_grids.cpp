#include "tables_grids.hpp"

#include <algorithm>

#include "parallel.hpp"
#include "geometry.hpp"

namespace calque {

namespace {

// One grid, or the same turned on its side.
struct Grid {
    const std::int32_t* slots;
    std::size_t height, width, down, across;

    Grid(const Grids& side, std::size_t i)
        : slots(side.slots.data() + side.offsets[i]), height(static_cast<std::size_t>(side.rows[i])),
          width(static_cast<std::size_t>(side.columns[i])), down(width), across(1) {}

    std::int32_t at(std::size_t row, std::size_t column) const { return slots[row * down + column * across]; }
    Grid turned() const {
        Grid other = *this;
        std::swap(other.height, other.width);
        std::swap(other.down, other.across);
        return other;
    }
};

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

// What the best alignment in order of two lists is worth, and, from the end, which go together: both, else ours is
// skipped, else theirs.
double aligned(std::size_t n, std::size_t m, const std::vector<double>& worth, Pairs& pairs) {
    std::vector<double> before(m + 1, 0.0), now(m + 1, 0.0);
    std::vector<std::uint8_t> choices(n * m);
    InterruptTicker interrupts;
    for (std::size_t i = 0; i < n; ++i) {
        interrupts.tick(m);
        for (std::size_t j = 0; j < m; ++j) {
            const double both = before[j] + worth[i * m + j], ours = before[j + 1], theirs = now[j];
            const double most = std::max(both, std::max(ours, theirs));
            now[j + 1] = most;
            choices[i * m + j] = both == most ? 0 : ours == most ? 1 : 2;
        }
        std::swap(before, now);
    }
    pairs.clear();
    for (std::size_t i = n, j = m; i > 0 && j > 0;) {
        const std::uint8_t choice = choices[(i - 1) * m + j - 1];
        if (choice == 0) pairs.emplace_back(i - 1, j - 1);
        i -= choice != 2;
        j -= choice != 1;
    }
    return before[m];
}

// `shares.row(item)` points at what an item shares with each of theirs.
template <class Shares>
double align_rows(const Grid& ours, const Grid& theirs, Shares& shares, Pairs& pairs) {
    std::vector<double> worth(ours.height * theirs.height);
    std::vector<const double*> known(ours.width);
    const std::size_t stride = theirs.width + 1;
    std::vector<double> before(stride), now(stride);
    InterruptTicker interrupts;
    for (std::size_t i = 0; i < ours.height; ++i) {
        shares.begin_row();
        for (std::size_t column = 0; column < ours.width; ++column) known[column] = shares.row(ours.at(i, column));
        for (std::size_t j = 0; j < theirs.height; ++j) {
            std::fill(before.begin(), before.end(), 0.0);
            now[0] = 0.0;
            for (std::size_t x = 0; x < ours.width; ++x) {
                interrupts.tick(theirs.width);
                for (std::size_t y = 0; y < theirs.width; ++y) {
                    const double both = before[y] + known[x][theirs.at(j, y)];
                    now[y + 1] = std::max(both, std::max(before[y + 1], now[y]));
                }
                std::swap(before, now);
            }
            worth[i * theirs.height + j] = before[theirs.width];
        }
    }
    return aligned(ours.height, theirs.height, worth, pairs);
}

template <class Shares>
void align(const Grid& ours, const Grid& theirs, Shares& shares, double& both, double& by_rows, double& by_columns) {
    both = by_rows = by_columns = 0.0;
    // A grid without slots may name any number of rows, or of columns: none is worth anything.
    if (!ours.height || !ours.width || !theirs.height || !theirs.width) return;
    Pairs rows, columns;
    by_rows = align_rows(ours, theirs, shares, rows);
    by_columns = align_rows(ours.turned(), theirs.turned(), shares, columns);
    std::reverse(rows.begin(), rows.end());
    std::reverse(columns.begin(), columns.end());
    for (const auto& [row, other_row] : rows)
        for (const auto& [column, other_column] : columns) {
            shares.begin_row();
            both += shares.row(ours.at(row, column))[theirs.at(other_row, other_column)];
        }
}

// Shares by rows of a table that is filled as it is asked for; where it would be too large, a few rows at a time.
template <class Compare>
class Table {
   public:
    Table(std::size_t ours, std::size_t theirs, Compare compare)
        : theirs_(theirs), compare_(compare), whole_(ours * theirs <= kept), done_(whole_ ? ours : 0) {
        if (whole_) values_.resize(ours * theirs);
    }

    void begin_row() { used_ = 0; }

    const double* row(std::int32_t item) {
        if (!whole_) {
            if (used_ == spare_.size()) spare_.emplace_back(theirs_);
            double* place = spare_[used_++].data();
            compare_(static_cast<std::size_t>(item), place);
            return place;
        }
        double* place = values_.data() + static_cast<std::size_t>(item) * theirs_;
        if (!done_[static_cast<std::size_t>(item)]) {
            compare_(static_cast<std::size_t>(item), place);
            done_[static_cast<std::size_t>(item)] = true;
        }
        return place;
    }

   private:
    static constexpr std::size_t kept = std::size_t{1} << 24;

    std::size_t theirs_;
    Compare compare_;
    bool whole_;
    std::vector<bool> done_;
    std::vector<double> values_;
    std::vector<std::vector<double>> spare_;
    std::size_t used_ = 0;
};

// The distinct items of a grid, and the grid with their places among them.
struct Items {
    std::vector<std::int32_t> distinct, slots;

    Items(const Grids& side, std::size_t i) {
        const auto begin = static_cast<std::size_t>(side.offsets[i]), end = static_cast<std::size_t>(side.offsets[i + 1]);
        distinct.assign(side.slots.begin() + static_cast<std::ptrdiff_t>(begin), side.slots.begin() + static_cast<std::ptrdiff_t>(end));
        slots = distinct;
        std::sort(distinct.begin(), distinct.end());
        distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
        for (auto& slot : slots)
            slot = static_cast<std::int32_t>(std::lower_bound(distinct.begin(), distinct.end(), slot) - distinct.begin());
    }
};

template <class MakeCompare>
Shared shared(const Grids& truth, const Grids& found, int jobs, MakeCompare make) {
    Shared out{std::vector<double>(truth.size()), std::vector<double>(truth.size()), std::vector<double>(truth.size())};
    in_threads(truth.size(), jobs, [&](auto next) {
        auto worker = make();
        for (std::size_t p = next(); p < truth.size(); p = next()) {
            const Items ours(truth, p), theirs(found, p);
            Grid mine(truth, p), other(found, p);
            mine.slots = ours.slots.data();
            other.slots = theirs.slots.data();
            Table table(ours.distinct.size(), theirs.distinct.size(), worker(ours.distinct, theirs.distinct));
            if (ours.distinct.size() == 1 && theirs.distinct.size() == 1 && table.row(0)[0] == 1.0) {
                // Everything is alike: any alignment of as many rows and columns as there are is best.
                const std::size_t rows = std::min(mine.height, other.height), columns = std::min(mine.width, other.width);
                out.both[p] = out.rows[p] = out.columns[p] = static_cast<double>(rows * columns);
                continue;
            }
            align(mine, other, table, out.both[p], out.rows[p], out.columns[p]);
        }
    });
    return out;
}

}  // namespace

Shared grid_boxes(const Grids& truth, const Grids& found, std::span<const double> truth_boxes, std::span<const double> found_boxes,
                  int jobs) {
    return shared(truth, found, jobs, [&] {
        return [&](const std::vector<std::int32_t>& ours, const std::vector<std::int32_t>& theirs) {
            return [&](std::size_t item, double* out) {
                const Box box = read_box(truth_boxes.data() + 4 * static_cast<std::size_t>(ours[item]), false);
                for (std::size_t k = 0; k < theirs.size(); ++k) {
                    const Box other = read_box(found_boxes.data() + 4 * static_cast<std::size_t>(theirs[k]), false);
                    out[k] = iou(intersection(box, other), box, other);
                }
            };
        };
    });
}

Shared grid_texts(const Grids& truth, const Grids& found, const Texts& texts, int jobs) {
    const CompactTexts compact(texts);
    const Texts& known = texts;
    return shared(truth, found, jobs, [&] {
        return [&, pattern = TextPattern(compact.alphabet()), interrupts = InterruptTicker()](
                   const std::vector<std::int32_t>& ours, const std::vector<std::int32_t>& theirs) mutable {
            return [&](std::size_t item, double* out) {
                const auto mine = static_cast<std::size_t>(ours[item]);
                pattern.set(compact.texts().text(mine));
                for (std::size_t k = 0; k < theirs.size(); ++k) {
                    const auto other = static_cast<std::size_t>(theirs[k]);
                    interrupts.tick(1 + known.length(other));
                    const std::size_t both = known.length(mine) + known.length(other);
                    out[k] = mine == other || both == 0
                                 ? 1.0
                                 : 2.0 * pattern.common(compact.texts().text(other)) / static_cast<double>(both);
                }
            };
        };
    });
}

Shared grid_given(const Grids& truth, const Grids& found, std::span<const double> shares, std::size_t width, int jobs) {
    return shared(truth, found, jobs, [&] {
        return [&](const std::vector<std::int32_t>& ours, const std::vector<std::int32_t>& theirs) {
            return [&](std::size_t item, double* out) {
                for (std::size_t k = 0; k < theirs.size(); ++k)
                    out[k] = shares[static_cast<std::size_t>(ours[item]) * width + static_cast<std::size_t>(theirs[k])];
            };
        };
    });
}

}  // namespace calque
