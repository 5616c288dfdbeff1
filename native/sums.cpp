// Each value is cut into two 27-bit integers, whose sums are exact.
#include "sums.hpp"

#include <cmath>

namespace calque {

std::vector<double> fraction_sums(std::span<const double> values, std::span<const std::int32_t> groups, std::size_t size,
                                  double scale) {
    constexpr double half = 1 << 27;
    struct Sum {
        double high = 0, low = 0;
    };
    std::vector<Sum> sums(size);
    for (std::size_t row = 0; row < values.size(); ++row) {
        if (groups[row] < 0) continue;
        const double scaled = values[row] * scale * half, high = std::floor(scaled);
        Sum& sum = sums[static_cast<std::size_t>(groups[row])];
        sum.high += high;
        sum.low += std::floor((scaled - high) * half);
    }
    std::vector<double> out;
    out.reserve(size);
    for (const Sum& sum : sums) out.push_back(sum.high / half + sum.low / (half * half));
    return out;
}

}  // namespace calque
