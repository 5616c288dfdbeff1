// Edit distances and common subsequences of short texts, 64 characters of one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <span>
#include <vector>

namespace calque {

// Texts one after the other, as code points or any other whole numbers from 0.
struct Texts {
    std::span<const std::int32_t> points;
    std::span<const std::int64_t> offsets;

    auto fields() { return std::tie(points, offsets); }
    std::size_t size() const { return offsets.size() - 1; }
    std::span<const std::int32_t> text(std::size_t i) const {
        const auto begin = static_cast<std::size_t>(offsets[i]);
        return points.subspan(begin, static_cast<std::size_t>(offsets[i + 1]) - begin);
    }
    std::size_t length(std::size_t i) const { return static_cast<std::size_t>(offsets[i + 1] - offsets[i]); }
};

// The same texts with characters numbered from 0 without gaps, so that a table by character is short.
class CompactTexts {
   public:
    explicit CompactTexts(const Texts& texts);

    Texts texts() const { return {points_, offsets_}; }
    std::size_t alphabet() const { return alphabet_; }

   private:
    std::vector<std::int32_t> points_;
    std::span<const std::int64_t> offsets_;
    std::size_t alphabet_ = 0;
};

// One text, made ready to be compared with many.
class TextPattern {
   public:
    explicit TextPattern(std::size_t alphabet) : alphabet_(alphabet) {}

    void set(std::span<const std::int32_t> text);
    std::int32_t distance(std::span<const std::int32_t> other);
    std::int32_t common(std::span<const std::int32_t> other);

   private:
    std::int32_t distance_of_one_block(std::span<const std::int32_t> other) const;

    std::size_t alphabet_;
    std::size_t length_ = 0, blocks_ = 0;
    std::vector<std::int32_t> used_;
    std::vector<std::uint64_t> masks_;  // by character and block
    std::vector<std::uint64_t> up_, down_;
};

}  // namespace calque
