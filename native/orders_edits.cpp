// The edit distance of two lines that hold every block once: the cheapest chain of blocks that stay where they are.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

#include "orders.hpp"

namespace calque {

namespace {

constexpr std::int32_t far_off = std::numeric_limits<std::int32_t>::max() / 2;

// The smallest value at a place or before it; values only fall.
class Smallest {
public:
    explicit Smallest(std::size_t size) : least_(size + 1, far_off) {}
    void lower(std::size_t place, std::int32_t value) {
        for (std::size_t at = place + 1; at < least_.size(); at += at & (~at + 1)) least_[at] = std::min(least_[at], value);
    }
    void forget(std::size_t place) {
        for (std::size_t at = place + 1; at < least_.size(); at += at & (~at + 1)) least_[at] = far_off;
    }
    std::int32_t upto(std::size_t place) const {
        std::int32_t least = far_off;
        for (std::size_t at = place + 1; at > 0; at &= at - 1) least = std::min(least, least_[at]);
        return least;
    }

private:
    std::vector<std::int32_t> least_;
};

// Between two blocks that stay, dx places on in what was read and dy on in the line, max(dx, dy) - 1 edits are needed: cost[x] is
// what all before block x needs. Of the two cases the one with dy > dx is a matter of diagonals alone, since then all that
// comes before in the line comes before in what was read. The other is settled half by half, the earlier half first.
class Chain {
public:
    Chain(std::span<const std::int32_t> read, std::size_t length)
        : read_(read), length_(static_cast<std::int32_t>(length)), cost_(read.size()),
          steep_(many() ? read.size() + length : 0), flat_(steep_) {}

    std::int64_t edits() {
        const auto size = static_cast<std::int32_t>(read_.size());
        for (std::int32_t x = 0; x < size; ++x) cost_[static_cast<std::size_t>(x)] = std::max(x, y(x));
        std::vector<std::int32_t> at(static_cast<std::size_t>(length_), -1), by_line;
        for (std::int32_t x = 0; x < size; ++x) at[static_cast<std::size_t>(y(x))] = x;
        std::copy_if(at.begin(), at.end(), std::back_inserter(by_line), [](std::int32_t x) { return x >= 0; });
        settle(0, size, by_line);
        std::int32_t least = std::max(length_, size);
        for (std::int32_t x = 0; x < size; ++x)
            least = std::min(least, cost_[static_cast<std::size_t>(x)] + std::max(size - x, length_ - y(x)) - 1);
        return least;
    }

private:
    static constexpr std::int32_t few = 48;  // so many are compared one by one

    std::int32_t y(std::int32_t x) const { return read_[static_cast<std::size_t>(x)]; }
    std::int32_t& cost(std::int32_t x) { return cost_[static_cast<std::size_t>(x)]; }
    std::size_t diagonal(std::int32_t x) const { return static_cast<std::size_t>(x - y(x) + length_ - 1); }
    std::size_t mirrored(std::int32_t x) const { return static_cast<std::size_t>(y(x) - x) + read_.size() - 1; }

    // Blocks from .. to of what was read, which `by_line` has in the order of the line.
    void settle(std::int32_t from, std::int32_t to, const std::vector<std::int32_t>& by_line) {
        if (to - from <= few) return settle_few(from, to);
        const std::int32_t middle = from + (to - from) / 2;
        std::vector<std::int32_t> first, second;
        for (const std::int32_t x : by_line) (x < middle ? first : second).push_back(x);
        settle(from, middle, first);
        for (const std::int32_t x : by_line) {
            if (x < middle)
                flat_.lower(diagonal(x), cost(x) - x);
            else
                cost(x) = std::min(cost(x), flat_.upto(diagonal(x)) + x - 1);
        }
        for (const std::int32_t x : first) flat_.forget(diagonal(x));
        settle(middle, to, second);
    }

    void settle_few(std::int32_t from, std::int32_t to) {
        for (std::int32_t x = from; x < to; ++x) {
            for (std::int32_t before = from; before < x; ++before)
                if (y(before) < y(x))
                    cost(x) = std::min(cost(x), cost(before) + std::max(x - before, y(x) - y(before)) - 1);
            if (const std::size_t place = mirrored(x); many() && place > 0)
                cost(x) = std::min(cost(x), steep_.upto(place - 1) + y(x) - 1);
            if (many()) steep_.lower(mirrored(x), cost(x) - y(x));
        }
    }

    bool many() const { return read_.size() > static_cast<std::size_t>(few); }

    std::span<const std::int32_t> read_;
    std::int32_t length_;
    std::vector<std::int32_t> cost_;
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
