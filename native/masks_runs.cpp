// Runs of background and foreground in turns: one pass each, with no table of pixels.
#include "masks_runs.hpp"

#include <algorithm>

namespace calque {

namespace {

constexpr std::int64_t run_limit = std::int64_t{1} << 32;
constexpr unsigned most_groups = 7;  // seven groups of five bits hold every difference of two runs

// Reads a compressed string run by run. Nearly every number is a single character.
class CountsReader {
public:
    explicit CountsReader(std::string_view counts) : at_(counts.data()), end_(counts.data() + counts.size()) {}

    bool more() const { return at_ != end_; }
    MaskFault fault() const { return fault_; }

    // The next run, or a fault and -1.
    std::int64_t next() {
        std::int64_t value = 0;
        if (!number(value)) return -1;
        if (number_ > 2) value += before_[number_ & 1];
        if (value < 0 || value >= run_limit) {
            fault_ = MaskFault::runs;
            return -1;
        }
        before_[number_++ & 1] = value;
        return value;
    }

private:
    bool number(std::int64_t& value) {
        for (unsigned group = 0; group < most_groups && at_ != end_; ++group) {
            const int bits = static_cast<unsigned char>(*at_++) - 48;
            if (bits < 0 || bits > 63) break;
            value |= std::int64_t{bits & 31} << (5 * group);
            if (bits & 32) continue;
            if (bits & 16) value |= -(std::int64_t{1} << (5 * group + 5));
            return true;
        }
        fault_ = MaskFault::counts;
        return false;
    }

    const char* at_;
    const char* end_;
    std::int64_t before_[2] = {0, 0};
    std::size_t number_ = 0;
    MaskFault fault_ = MaskFault::none;
};

// Turns runs into intervals as they come.
class Foreground {
public:
    Foreground(std::int64_t places, std::vector<Interval>& out) : places_(places), out_(out), first_(out.size()) {}

    bool take(std::int64_t run) {
        if (run < 0 || run > places_ - place_) {
            out_.resize(first_);
            return false;
        }
        const std::int64_t end = place_ + run;
        if (foreground_ && run > 0) {
            if (out_.size() > first_ && out_.back().end == place_)
                out_.back().end = static_cast<std::int32_t>(end);
            else
                out_.push_back({static_cast<std::int32_t>(place_), static_cast<std::int32_t>(end)});
        }
        foreground_ = !foreground_;
        place_ = end;
        return true;
    }

    void forget() { out_.resize(first_); }

private:
    std::int64_t places_, place_ = 0;
    bool foreground_ = false;
    std::vector<Interval>& out_;
    std::size_t first_;
};

}  // namespace

MaskFault read_counts(std::string_view counts, std::vector<std::int64_t>& runs) {
    const std::size_t first = runs.size();
    CountsReader reader(counts);
    while (reader.more()) {
        const std::int64_t run = reader.next();
        if (run < 0) {
            runs.resize(first);
            return reader.fault();
        }
        runs.push_back(run);
    }
    return MaskFault::none;
}

void write_counts(std::span<const std::int64_t> runs, std::string& counts) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
        // Without a sign, so that runs which no mask has come round instead of being undefined.
        const auto run = static_cast<std::uint64_t>(runs[i]), former = i > 2 ? static_cast<std::uint64_t>(runs[i - 2]) : 0;
        auto value = static_cast<std::int64_t>(run - former);
        for (bool more = true; more;) {
            auto group = static_cast<int>(value & 31);
            value >>= 5;
            more = value != (group & 16 ? -1 : 0);
            counts.push_back(static_cast<char>(48 + group + (more ? 32 : 0)));
        }
    }
}

MaskFault read_runs(std::span<const std::int64_t> runs, std::int64_t places, std::vector<Interval>& intervals) {
    Foreground foreground(places, intervals);
    for (const std::int64_t run : runs)
        if (!foreground.take(run)) return MaskFault::runs;
    return MaskFault::none;
}

namespace {

// A number of one or two characters, which nearly all are. No branch between the two: which it is, is noise.
bool read_short(const char*& at, std::int64_t& value) {
    const unsigned low = static_cast<unsigned char>(at[0]) - 48u, high = static_cast<unsigned char>(at[1]) - 48u;
    const unsigned more = low >> 5;
    if (low >= 64 || (more & (high > 31))) [[unlikely]] return false;
    const int one = static_cast<int>(low ^ 16) - 16;  // bit 4 of the last group is the sign
    const int two = static_cast<int>(low & 31) | ((static_cast<int>(high ^ 16) - 16) * 32);
    value = more ? two : one;
    at += 1 + more;
    return true;
}

bool read_long(const char*& at, const char* end, std::int64_t& value) {
    unsigned bits = 32;
    for (unsigned shift = 0; bits & 32; shift += 5) {
        if (at == end || shift > 30) return false;
        bits = static_cast<unsigned char>(*at++) - 48u;
        if (bits >= 64) return false;
        value |= std::int64_t{bits & 31} << shift;
        if (bits < 32) value -= std::int64_t{bits & 16} << (shift + 1);
    }
    return true;
}

// Reads what nearly every string is: sound numbers, and no empty run but perhaps the first. False for any other, which is
// then read with care; whatever was appended is to be forgotten.
bool read_usual(std::string_view counts, std::int64_t places, std::vector<Interval>& intervals) {
    const std::size_t first = intervals.size();
    intervals.resize(first + counts.size() / 2 + 1);
    Interval* out = intervals.data() + first;
    const char *at = counts.data(), *const end = at + counts.size();
    std::int64_t before[2] = {0, 0}, place = 0;
    for (std::size_t number = 0; at != end; ++number) {
        std::int64_t value = 0;
        if (end - at < 2 || !read_short(at, value)) [[unlikely]] {
            if (!read_long(at, end, value)) return false;
        }
        if (number > 2) value += before[number & 1];
        before[number & 1] = value;
        if (value < static_cast<std::int64_t>(number > 0) || value > places - place) return false;
        if (number & 1) {
            out->start = static_cast<std::int32_t>(place);
            out->end = static_cast<std::int32_t>(place + value);
            ++out;
        }
        place += value;
    }
    intervals.resize(static_cast<std::size_t>(out - intervals.data()));
    return true;
}

}  // namespace

MaskFault read_mask(std::string_view counts, std::int64_t places, std::vector<Interval>& intervals) {
    const std::size_t first = intervals.size();
    if (read_usual(counts, places, intervals)) return MaskFault::none;
    intervals.resize(first);
    CountsReader reader(counts);
    Foreground foreground(places, intervals);
    bool fits = true;
    while (reader.more()) {
        const std::int64_t run = reader.next();
        if (run < 0) {
            if (fits) foreground.forget();
            return reader.fault();
        }
        // A broken string is told apart from a long one, wherever it breaks.
        fits = fits && foreground.take(run);
    }
    return fits ? MaskFault::none : MaskFault::runs;
}

void write_runs(Intervals intervals, std::int64_t places, std::vector<std::int64_t>& runs) {
    std::int64_t place = 0;
    for (const Interval& interval : intervals) {
        runs.push_back(interval.start - place);
        runs.push_back(interval.end - interval.start);
        place = interval.end;
    }
    if (place < places || intervals.empty()) runs.push_back(places - place);
}

std::int64_t mask_area(Intervals intervals) {
    std::int64_t area = 0;
    for (const Interval& interval : intervals) area += interval.end - interval.start;
    return area;
}

PixelBounds mask_bounds(Intervals intervals, std::int64_t height) {
    if (intervals.empty() || height <= 0) return {};
    const std::int64_t left = intervals.front().start / height, right = (intervals.back().end - 1) / height;
    std::int64_t top = height, bottom = 0, column_end = 0;
    for (const Interval& interval : intervals) {
        // Nearly every interval stays in the column of the one before or goes to the next: no division for those.
        if (interval.start >= column_end) {
            column_end += height;
            if (interval.start >= column_end) column_end = (interval.start / height + 1) * height;
        }
        const std::int64_t column = column_end - height;
        if (interval.end > column_end) {
            top = 0;
            bottom = height;
            break;
        }
        top = std::min(top, interval.start - column);
        bottom = std::max(bottom, interval.end - column);
    }
    return {static_cast<std::int32_t>(left), static_cast<std::int32_t>(top), static_cast<std::int32_t>(right - left + 1),
            static_cast<std::int32_t>(bottom - top)};
}

std::int64_t mask_overlap(Intervals first, Intervals second) {
    if (first.empty() || second.empty()) return 0;
    const auto from = [](Intervals intervals, std::int32_t place) {
        return std::partition_point(intervals.begin(), intervals.end(),
                                    [place](const Interval& interval) { return interval.end <= place; });
    };
    auto a = from(first, second.front().start), b = from(second, first.front().start);
    std::int64_t shared = 0;
    // In most columns each mask has one interval: then both are done with at once, and the processor can look ahead.
    while (first.end() - a > 1 && second.end() - b > 1) {
        const std::int32_t start = std::max(a->start, b->start), end = std::min(a->end, b->end);
        shared += std::max(end - start, 0);
        if ((int{a[1].start >= b->end} & int{b[1].start >= a->end}) != 0) [[likely]] {
            ++a;
            ++b;
            continue;
        }
        const bool a_first = a->end <= b->end, b_first = b->end <= a->end;
        a += a_first;
        b += b_first;
    }
    while (a != first.end() && b != second.end()) {
        const std::int32_t start = std::max(a->start, b->start), end = std::min(a->end, b->end);
        shared += std::max(end - start, 0);
        // No branch: which of the two ends first is noise.
        const bool a_first = a->end <= b->end, b_first = b->end <= a->end;
        a += a_first;
        b += b_first;
    }
    return shared;
}

void unite_masks(Intervals first, Intervals second, std::vector<Interval>& united) {
    const std::size_t begin = united.size();
    auto a = first.begin(), b = second.begin();
    while (a != first.end() || b != second.end()) {
        const bool from_a = b == second.end() || (a != first.end() && a->start <= b->start);
        const Interval next = from_a ? *a++ : *b++;
        if (united.size() > begin && next.start <= united.back().end)
            united.back().end = std::max(united.back().end, next.end);
        else
            united.push_back(next);
    }
}

}  // namespace calque
