// Each value is cut into two 27-bit integers, whose sums are exact.
#include "sums.hpp"

#include <cmath>
#include <utility>

namespace calque {

namespace {

// Adds a number to partial sums that do not overlap, the smallest first (Shewchuk 1997; Python's math.fsum does the same).
void add_exactly(std::vector<double>& partials, double value) {
    std::size_t kept = 0;
    for (double partial : partials) {
        if (std::abs(value) < std::abs(partial)) std::swap(value, partial);
        const double sum = value + partial;
        const double rest = partial - (sum - value);
        if (rest != 0) partials[kept++] = rest;
        value = sum;
    }
    partials.resize(kept);
    if (value != 0) partials.push_back(value);
}

// The sum of partial sums, rounded once; there must be one.
double rounded(const std::vector<double>& partials) {
    std::size_t left = partials.size();
    double sum = partials[--left], rest = 0.0;
    while (left > 0 && rest == 0) {
        const double greater = sum, partial = partials[--left];
        sum = greater + partial;
        rest = partial - (sum - greater);
    }
    // Half of the last digit is rounded up or down by what stands below it.
    if (left > 0 && ((rest < 0 && partials[left - 1] < 0) || (rest > 0 && partials[left - 1] > 0))) {
        const double up = sum + 2 * rest;
        if (2 * rest == up - sum) sum = up;
    }
    return sum;
}

// The floor of a number, without the call that std::floor is where its instruction may not be used.
std::int64_t whole(double value) { return static_cast<std::int64_t>(value >= 0 ? value : std::floor(value)); }

}  // namespace

std::vector<std::int64_t> fraction_parts(std::span<const double> values, std::span<const std::int32_t> groups,
                                         std::size_t size, double scale) {
    constexpr double half = 1 << 27;
    std::vector<std::int64_t> sums(2 * size);
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

std::vector<double> exact_parts(std::span<const double> values) {
    std::vector<double> partials, parts;
    for (const double value : values) add_exactly(partials, value);
    while (!partials.empty()) {
        parts.push_back(rounded(partials));
        add_exactly(partials, -parts.back());
    }
    return parts;
}

}  // namespace calque
