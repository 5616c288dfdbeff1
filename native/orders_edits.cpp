// The edit distance of two lines that hold every block once: the cheapest chain of blocks that stay where they are.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

#include "orders.hpp"

namespace calque {

namespace {

constexpr std::int32_t far_off = std::numeric_limits<std::int32_t>::max() / 2;

// The smallest value before a place; values only fall.
class Smallest {
public:
    void begin(std::size_t size) { least_.assign(size + 1, far_off); }
    void lower(std::size_t place, std::int32_t value) {
        for (std::size_t at = place + 1; at < least_.size(); at += at & (~at + 1)) least_[at] = std::min(least_[at], value);
    }
    std::int32_t before(std::size_t place) const {
        std::int32_t least = far_off;
        for (std::size_t at = place; at > 0; at &= at - 1) least = std::min(least, least_[at]);
        return least;
    }

private:
    std::vector<std::int32_t> least_;
};

using Blocks = std::vector<std::int32_t>;

// Those before the middle, and the others, each in the order they had. Written without a question, since none could be guessed.
struct Halves {
    Halves(const Blocks& blocks, std::int32_t middle, std::size_t before)
        : first(before + 1), second(blocks.size() - before + 1) {
        std::size_t one = 0, other = 0;
        for (const std::int32_t block : blocks) {
            first[one] = second[other] = block;
            ++(block < middle ? one : other);
        }
        first.pop_back();
        second.pop_back();
    }
    Blocks first, second;
};

// Between two blocks that stay, dx places on in what was read and dy on in the line, max(dx, dy) - 1 edits are needed: cost[x] is
// what all before block x needs. Of the two cases the one with dy > dx is a matter of diagonals alone, since then all that
// comes before in the line comes before in what was read. The other is settled half by half, the earlier half first.
class Chain {
public:
    Chain(std::span<const std::int32_t> read, std::size_t length)
        : read_(read), size_(static_cast<std::int32_t>(read.size())), length_(static_cast<std::int32_t>(length)), cost_(read.size()) {}

    std::int64_t edits() {
        for (std::int32_t x = 0; x < size_; ++x) cost(x) = std::max(x, y(x));
        if (many()) {
            steep_.begin(read_.size() + static_cast<std::size_t>(length_));
            counted_.resize(read_.size());
            settle(0, size_, by_line(), by_diagonal());
        } else {
            settle_few(0, size_);
        }
        std::int32_t least = std::max(length_, size_);
        for (std::int32_t x = 0; x < size_; ++x) least = std::min(least, cost(x) + std::max(size_ - x, length_ - y(x)) - 1);
        return least;
    }

private:
    static constexpr std::int32_t few = 64;  // so many are compared one by one

    bool many() const { return size_ > few; }
    std::int32_t y(std::int32_t x) const { return read_[static_cast<std::size_t>(x)]; }
    std::int32_t& cost(std::int32_t x) { return cost_[static_cast<std::size_t>(x)]; }
    std::size_t diagonal(std::int32_t x) const { return static_cast<std::size_t>(x - y(x) + length_ - 1); }
    std::size_t mirrored(std::int32_t x) const { return static_cast<std::size_t>(y(x) - x + size_ - 1); }

    Blocks by_line() const {
        Blocks at(static_cast<std::size_t>(length_), -1), found;
        for (std::int32_t x = 0; x < size_; ++x) at[static_cast<std::size_t>(y(x))] = x;
        std::copy_if(at.begin(), at.end(), std::back_inserter(found), [](std::int32_t x) { return x >= 0; });
        return found;
    }

    // On one diagonal as they were read.
    Blocks by_diagonal() const {
        std::vector<std::size_t> next(static_cast<std::size_t>(size_ + length_));
        for (std::int32_t x = 0; x < size_; ++x) ++next[diagonal(x) + 1];
        std::partial_sum(next.begin(), next.end(), next.begin());
        Blocks found(read_.size());
        for (std::int32_t x = 0; x < size_; ++x) found[next[diagonal(x)]++] = x;
        return found;
    }

    // Blocks from .. to of what was read, which are given in the order of the line and in that of their diagonals.
    void settle(std::int32_t from, std::int32_t to, const Blocks& by_line, const Blocks& by_diagonal) {
        if (to - from <= few) return settle_few(from, to);
        const std::int32_t middle = from + (to - from) / 2;
        const auto before = static_cast<std::size_t>(middle - from);
        const Halves line(by_line, middle, before), diagonals(by_diagonal, middle, before);
        settle(from, middle, line.first, diagonals.first);
        join(by_line, by_diagonal, middle, before);
        settle(middle, to, line.second, diagonals.second);
    }

    // What the first half saves the second. Places are counted among the diagonals of the first half: the fewer, the nearer.
    void join(const Blocks& by_line, const Blocks& by_diagonal, std::int32_t middle, std::size_t before) {
        std::size_t counted = 0;
        for (const std::int32_t x : by_diagonal) {
            counted_[static_cast<std::size_t>(x)] = static_cast<std::int32_t>(counted);
            counted += x < middle;
        }
        flat_.begin(before);
        for (const std::int32_t x : by_line) {
            const auto place = static_cast<std::size_t>(counted_[static_cast<std::size_t>(x)]);
            if (x < middle)
                flat_.lower(place, cost(x) - x);
            else
                cost(x) = std::min(cost(x), flat_.before(place) + x - 1);
        }
    }

    void settle_few(std::int32_t from, std::int32_t to) {
        for (std::int32_t x = from; x < to; ++x) {
            std::int32_t least = cost(x);
            const std::int32_t here = y(x);
            for (std::int32_t before = from; before < x; ++before) {
                const std::int32_t with = cost(before) + std::max(x - before, here - y(before)) - 1;
                least = std::min(least, y(before) < here ? with : far_off);
            }
            if (many()) {
                least = std::min(least, steep_.before(mirrored(x)) + here - 1);
                steep_.lower(mirrored(x), least - here);
            }
            cost(x) = least;
        }
    }

    std::span<const std::int32_t> read_;
    std::int32_t size_, length_;
    std::vector<std::int32_t> cost_, counted_;
    Smallest steep_, flat_;
};

}  // namespace

std::int64_t line_edits(std::span<const std::int32_t> read, std::size_t length) {
    // What both begin and end with stays.
    std::size_t head = 0;
    while (head < read.size() && read[head] == static_cast<std::int32_t>(head)) ++head;
    std::size_t size = read.size();
    while (size > head && read[size - 1] == static_cast<std::int32_t>(length - 1)) --size, --length;
    if (size == head) return static_cast<std::int64_t>(length - head);
    std::vector<std::int32_t> rest(read.begin() + static_cast<std::ptrdiff_t>(head), read.begin() + static_cast<std::ptrdiff_t>(size));
    for (std::int32_t& place : rest) place -= static_cast<std::int32_t>(head);
    return Chain(rest, length - head).edits();
}

}  // namespace calque
