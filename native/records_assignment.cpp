#include "records_assignment.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "interrupt.hpp"

namespace calque {

namespace {

constexpr std::int32_t nobody = -1;

// One matrix after the other. No pair is worth more than the prices of its two sides, and pairs that are chosen are worth just that.
class Assignment {
   public:
    void begin(const std::int64_t* worth, std::size_t rows, std::size_t columns) {
        worth_ = worth;
        rows_ = rows;
        columns_ = columns;
        row_price_.assign(rows, 0);
        column_price_.assign(columns, 0);
        owner_.assign(columns, nobody);
        column_.assign(rows, nobody);
    }

    void solve() {
        for (std::size_t row = 0; row < rows_; ++row) give_column(row);
        for (std::size_t row = 0; row < rows_; ++row) move_earlier(row);
    }

    const std::vector<std::int32_t>& columns() const { return column_; }

   private:
    // What the prices are above the worth of a pair: nothing where a best assignment may have it.
    std::int64_t excess(std::size_t row, std::size_t column) const {
        return row_price_[row] + column_price_[column] - worth_[row * columns_ + column];
    }

    // Gives a row a column, moving other rows along the cheapest chain to a free one; the prices stay a proof.
    // Prices stay between 0 and the greatest worth, because one free column without a price always remains: no sum overflows.
    void give_column(std::size_t start) {
        cost_.assign(columns_, std::numeric_limits<std::int64_t>::max());
        come_from_.assign(columns_, nobody);
        done_.assign(columns_, 0);
        waiting_.resize(columns_);
        std::iota(waiting_.begin(), waiting_.end(), std::size_t{0});
        row_price_[start] = *std::max_element(worth_ + start * columns_, worth_ + (start + 1) * columns_);
        std::size_t row = start, column = 0;
        std::int64_t so_far = 0;
        for (std::int32_t last = nobody;;) {
            interrupts_.tick(2 * waiting_.size());
            std::size_t best = 0;
            for (std::size_t place = 0; place < waiting_.size(); ++place) {
                const std::size_t c = waiting_[place];
                const std::int64_t through = so_far + excess(row, c);
                if (through < cost_[c]) {
                    cost_[c] = through;
                    come_from_[c] = last;
                }
                // A free column ends the chain: of equally cheap ones it comes first.
                const std::size_t b = waiting_[best];
                if (cost_[c] < cost_[b] || (cost_[c] == cost_[b] && owner_[b] != nobody && owner_[c] == nobody)) best = place;
            }
            column = waiting_[best];
            so_far = cost_[column];
            if (owner_[column] == nobody) break;
            done_[column] = 1;
            waiting_[best] = waiting_.back();
            waiting_.pop_back();
            last = static_cast<std::int32_t>(column);
            row = static_cast<std::size_t>(owner_[column]);
        }
        for (std::size_t c = 0; c < columns_; ++c) {
            if (done_[c] == 0) continue;
            row_price_[static_cast<std::size_t>(owner_[c])] -= so_far - cost_[c];
            column_price_[c] += so_far - cost_[c];
        }
        row_price_[start] -= so_far;
        while (come_from_[column] != nobody) {
            const auto before = static_cast<std::size_t>(come_from_[column]);
            take(static_cast<std::size_t>(owner_[before]), column);
            column = before;
        }
        take(start, column);
    }

    void take(std::size_t row, std::size_t column) {
        column_[row] = static_cast<std::int32_t>(column);
        owner_[column] = static_cast<std::int32_t>(row);
    }

    // Lets a row have the earliest column that later rows, or nobody, can give up for what the row has, by moving on.
    // A column without a price may be left free: then a free one can be had for it.
    void move_earlier(std::size_t row) {
        const auto released = static_cast<std::size_t>(column_[row]);
        std::size_t wanted = 0;
        while (wanted < released && excess(row, wanted) != 0) ++wanted;
        if (wanted == released) return;
        reached_.assign(columns_, 0);
        next_.assign(columns_, nobody);
        front_.assign(1, released);
        reached_[released] = 1;
        waiting_.clear();
        for (std::size_t later = row + 1; later < rows_; ++later) waiting_.push_back(later);
        bool free_ones = false;
        for (std::size_t place = 0; place < front_.size(); ++place) {
            const std::size_t column = front_[place];
            interrupts_.tick(waiting_.size() + 1);
            std::size_t kept = 0;
            for (const std::size_t later : waiting_) {
                if (excess(later, column) == 0) reach(static_cast<std::size_t>(column_[later]), column);
                else waiting_[kept++] = later;
            }
            waiting_.resize(kept);
            if (column_price_[column] == 0 && !free_ones) {
                free_ones = true;
                for (std::size_t c = 0; c < columns_; ++c)
                    if (owner_[c] == nobody && reached_[c] == 0) reach(c, column);
            }
        }
        for (std::size_t column = 0; column < released; ++column)
            if (reached_[column] != 0 && excess(row, column) == 0) {
                rotate(row, column, released);
                return;
            }
    }

    void reach(std::size_t column, std::size_t instead) {
        reached_[column] = 1;
        next_[column] = static_cast<std::int32_t>(instead);
        front_.push_back(column);
    }

    // The row takes the column; whoever had it takes the next one, until somebody takes what the row had.
    void rotate(std::size_t row, std::size_t column, std::size_t released) {
        std::int32_t mover = static_cast<std::int32_t>(row);
        for (;;) {
            const std::int32_t before = owner_[column];
            if (mover == nobody) owner_[column] = nobody;
            else take(static_cast<std::size_t>(mover), column);
            if (column == released) return;
            mover = before;
            column = static_cast<std::size_t>(next_[column]);
        }
    }

    const std::int64_t* worth_ = nullptr;
    std::size_t rows_ = 0, columns_ = 0;
    std::vector<std::int64_t> row_price_, column_price_, cost_;
    std::vector<std::int32_t> owner_, column_, come_from_, next_;
    std::vector<std::uint8_t> done_, reached_;
    std::vector<std::size_t> front_, waiting_;
    InterruptTicker interrupts_;
};

}  // namespace

void best_partners(std::span<const std::int64_t> worth, std::span<const std::int64_t> heights, std::span<const std::int64_t> widths,
                   std::span<std::int32_t> partners) {
    Assignment assignment;
    const std::int64_t* matrix = worth.data();
    std::int32_t* mine = partners.data();
    for (std::size_t list = 0; list < heights.size(); ++list) {
        const auto rows = static_cast<std::size_t>(heights[list]), columns = static_cast<std::size_t>(widths[list]);
        assignment.begin(matrix, rows, columns);
        assignment.solve();
        mine = std::copy(assignment.columns().begin(), assignment.columns().end(), mine);
        matrix += rows * columns;
    }
}

}  // namespace calque
