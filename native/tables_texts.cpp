#include "tables_texts.hpp"

#include <algorithm>
#include <bit>

#include "interrupt.hpp"

namespace calque {

CompactTexts::CompactTexts(const Texts& texts) : points_(texts.points.begin(), texts.points.end()), offsets_(texts.offsets) {
    if (points_.empty()) return;
    const std::int32_t highest = *std::max_element(points_.begin(), points_.end());
    if (highest < 0x110000) {  // characters: a table is faster than sorting
        std::vector<std::int32_t> number(static_cast<std::size_t>(highest) + 1);
        for (const auto point : points_) number[static_cast<std::size_t>(point)] = 1;
        for (auto& each : number)
            if (each != 0) each = static_cast<std::int32_t>(alphabet_++);
        for (auto& point : points_) point = number[static_cast<std::size_t>(point)];
        return;
    }
    std::vector<std::int32_t> known(points_);
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    alphabet_ = known.size();
    for (auto& point : points_)
        point = static_cast<std::int32_t>(std::lower_bound(known.begin(), known.end(), point) - known.begin());
}

void TextPattern::set(std::span<const std::int32_t> text) {
    for (const auto point : used_)
        std::fill_n(masks_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(point) * blocks_), blocks_, 0);
    used_.clear();
    length_ = text.size();
    const std::size_t blocks = std::max<std::size_t>((length_ + 63) / 64, 1);
    if (blocks != blocks_) {
        blocks_ = blocks;
        masks_.assign(alphabet_ * blocks_, 0);
    }
    for (std::size_t i = 0; i < length_; ++i) {
        masks_[static_cast<std::size_t>(text[i]) * blocks_ + i / 64] |= std::uint64_t{1} << (i % 64);
        used_.push_back(text[i]);
    }
}

std::int32_t TextPattern::distance_of_one_block(std::span<const std::int32_t> other) const {
    std::uint64_t up = ~std::uint64_t{0}, down = 0;
    auto score = static_cast<std::int32_t>(length_);
    const std::uint64_t last = std::uint64_t{1} << (length_ - 1);
    for (const auto point : other) {
        const std::uint64_t equal = masks_[static_cast<std::size_t>(point)];
        const std::uint64_t across = (((equal & up) + up) ^ up) | equal;
        std::uint64_t more = down | ~(across | up), less = up & across;
        score += (more & last) != 0;
        score -= (less & last) != 0;
        more = (more << 1) | 1;
        less <<= 1;
        up = less | ~(equal | down | more);
        down = more & (equal | down);
    }
    return score;
}

// Myers' columns of differences, in Hyyrö's form.
std::int32_t TextPattern::distance(std::span<const std::int32_t> other) {
    if (length_ == 0) return static_cast<std::int32_t>(other.size());
    if (blocks_ == 1) return distance_of_one_block(other);
    up_.assign(blocks_, ~std::uint64_t{0});
    down_.assign(blocks_, 0);
    auto score = static_cast<std::int32_t>(length_);
    const std::uint64_t last = std::uint64_t{1} << ((length_ - 1) % 64);
    InterruptTicker interrupts;
    for (const auto point : other) {
        interrupts.tick(blocks_);
        const std::uint64_t* masks = masks_.data() + static_cast<std::size_t>(point) * blocks_;
        std::uint64_t more_in = 1, less_in = 0;
        for (std::size_t b = 0; b < blocks_; ++b) {
            const std::uint64_t equal = masks[b] | less_in, upright = masks[b] | down_[b];
            const std::uint64_t across = (((equal & up_[b]) + up_[b]) ^ up_[b]) | equal;
            std::uint64_t more = down_[b] | ~(across | up_[b]), less = up_[b] & across;
            if (b + 1 == blocks_) {
                score += (more & last) != 0;
                score -= (less & last) != 0;
            }
            const std::uint64_t more_out = more >> 63, less_out = less >> 63;
            more = (more << 1) | more_in;
            less = (less << 1) | less_in;
            up_[b] = less | ~(upright | more);
            down_[b] = more & upright;
            more_in = more_out;
            less_in = less_out;
        }
    }
    return score;
}

std::int32_t TextPattern::common(std::span<const std::int32_t> other) {
    if (length_ == 0) return 0;
    up_.assign(blocks_, ~std::uint64_t{0});
    InterruptTicker interrupts;
    for (const auto point : other) {
        interrupts.tick(blocks_);
        const std::uint64_t* masks = masks_.data() + static_cast<std::size_t>(point) * blocks_;
        std::uint64_t carry = 0;
        for (std::size_t b = 0; b < blocks_; ++b) {
            const std::uint64_t row = up_[b], met = row & masks[b];
            const std::uint64_t sum = row + met, whole = sum + carry;
            carry = static_cast<std::uint64_t>(sum < row) | static_cast<std::uint64_t>(whole < sum);
            up_[b] = whole | (row & ~masks[b]);
        }
    }
    std::int32_t found = 0;
    for (std::size_t b = 0; b < blocks_; ++b) {
        const std::size_t left = length_ - b * 64;
        const std::uint64_t valid = left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
        found += std::popcount(~up_[b] & valid);
    }
    return found;
}

}  // namespace calque
