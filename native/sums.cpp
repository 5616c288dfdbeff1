// Each value is cut into two 27-bit integers, whose sums are exact.
#include "sums.hpp"

#include <cmath>

namespace calque {

namespace {

// The floor of a number, without the call that std::floor is where its instruction may not be used.
std::int64_t whole(double value) { return static_cast<std::int64_t>(value >= 0 ? value : std::floor(value)); }

}  // namespace

Shaped<std::vector<std::int64_t>> fraction_parts(std::span<const double> values, std::span<const std::int32_t> groups,
                                         std::size_t size, double scale) {
    constexpr double half = 1 << 27;
    Shaped<std::vector<std::int64_t>> sums(2 * size);
    sums.shape = {2, size};
    for (std::size_t row = 0; row < values.size(); ++row) {
        if (groups[row] < 0) continue;
        const double scaled = values[row] * scale * half;
        const std::int64_t high = whole(scaled);
        const auto group = static_cast<std::size_t>(groups[row]);
        sums[group] += high;
        sums[size + group] += whole((scaled - static_cast<double>(high)) * half);
    }
    return sums;
}

}  // namespace calque
