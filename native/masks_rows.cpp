// Texts of a page are read in one piece where they stand together; overlaps are measured where bounds meet.
#include "masks_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "boxes_groups.hpp"
#include "parallel.hpp"
#include "json_number.hpp"
#include "json_object.hpp"

namespace calque {

namespace {

// Bytes between the texts of a page that are read along rather than left out.
constexpr std::int64_t few_bytes = 1 << 16;

bool too_large(std::int64_t height, std::int64_t width) { return height > 0 && width > most_places / height; }

bool is_page(std::int64_t height, std::int64_t width) {
    return height >= 0 && width >= 0 && !too_large(height, width) && height * width < most_places;
}

}  // namespace

MaskReader::MaskReader(const Side& side) : side_(side) {
    if (!side.masks.path.empty()) file_.emplace(std::string(side.masks.path));
}

void MaskReader::load(std::size_t begin, std::size_t end) {
    base_ = loaded_ = 0;
    if (!file_) return;
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = 0, all = 0;
    for (std::size_t row = begin; row < end; ++row) {
        const std::int64_t start = side_.masks.starts[row], stop = side_.masks.ends[row];
        if (start == stop) continue;
        low = std::min(low, start);
        high = std::max(high, stop);
        all += stop - start;
    }
    if (all == 0 || high - low > 4 * all + few_bytes) return;
    buffer_.resize(static_cast<std::size_t>(high - low));
    file_->read(static_cast<std::size_t>(low), buffer_.data(), buffer_.size());
    base_ = low;
    loaded_ = high;
}

// Followed by a NUL somewhere behind: a string ends with one, and so does a text in memory.
const char* MaskReader::text_of(std::size_t row) {
    const std::int64_t start = side_.masks.starts[row], stop = side_.masks.ends[row];
    if (!file_) return reinterpret_cast<const char*>(side_.masks.text.data()) + start;
    if (start < base_ || stop > loaded_) {
        buffer_.resize(static_cast<std::size_t>(stop - start));
        file_->read(static_cast<std::size_t>(start), buffer_.data(), buffer_.size());
        base_ = start;
        loaded_ = stop;
    }
    return buffer_.data() + (start - base_);
}

MadeMask MaskReader::read(std::size_t row, std::vector<Interval>& intervals) {
    if (side_.masks.starts[row] == side_.masks.ends[row]) return draw(row, intervals);
    const std::size_t before = intervals.size();
    try {
        const char* const at = text_of(row);
        const char* const end = file_ ? buffer_.data() + buffer_.size()
                                      : reinterpret_cast<const char*>(side_.masks.text.data()) + side_.masks.text.size();
        json::Text text(at, static_cast<std::size_t>(end - at));
        MadeMask made = read_value(text, at, row, intervals);
        if (made.fault != MaskFault::none) intervals.resize(before);
        return made;
    } catch (const json::ScanFailure&) {
        intervals.resize(before);
        return {MaskFault::counts};
    }
}

// The size that the page has; a mask says its own where nobody else does.
void MaskReader::settle(MadeMask& mask, std::size_t row) const {
    const std::int64_t height = side_.masks.sizes[2 * row], width = side_.masks.sizes[2 * row + 1];
    if (height >= 0 && width >= 0) {
        if (mask.height >= 0 && (mask.height != height || mask.width != width)) mask.fault = MaskFault::size;
        mask.height = height;
        mask.width = width;
    }
    if (mask.fault == MaskFault::none && !is_page(mask.height, mask.width)) mask.fault = MaskFault::page;
}

MadeMask MaskReader::draw(std::size_t row, std::vector<Interval>& intervals) {
    MadeMask made;
    settle(made, row);
    if (made.fault != MaskFault::none) return made;
    const Points ring = side_.rings.of(row);
    if (!ring.empty()) {
        made.fault = drawer_.draw(ring, made.height, made.width, intervals);
        return made;
    }
    const double* const at = &side_.boxes[4 * row];
    const double right = side_.xywh ? at[0] + at[2] : at[2], bottom = side_.xywh ? at[1] + at[3] : at[3];
    const std::array<Point, 4> corners{Point{at[0], at[1]}, {at[0], bottom}, {right, bottom}, {right, at[1]}};
    made.fault = drawer_.draw(corners, made.height, made.width, intervals);
    return made;
}

MadeMask MaskReader::read_value(json::Text& text, const char* at, std::size_t row, std::vector<Interval>& intervals) {
    if (*at == '{') return read_object(text, at, row, intervals);
    if (*at == '[') return read_rings(text, at, row, intervals);
    return {MaskFault::counts};
}

MadeMask MaskReader::read_object(json::Text& text, const char* at, std::size_t row, std::vector<Interval>& intervals) {
    MadeMask made;
    std::string_view counts;
    bool compressed = false, listed = false;
    runs_.clear();
    const auto number = [&](const char* p, std::int64_t& value) {
        double given = 0;
        p = json::read_double(text, p, given);
        const bool whole = std::abs(given) < 9e15 && given == std::floor(given);
        value = whole ? static_cast<std::int64_t>(given) : -1;
        return p;
    };
    const auto list = [&](const char* p, auto take) {
        if (*p != '[') text.fail_expecting(p, "an array");
        p = json::skip_space(text, p + 1);
        while (*p != ']') {
            std::int64_t value = -1;
            p = json::skip_space(text, number(p, value));
            take(value);
            if (*p == ',')
                p = json::skip_space(text, p + 1);
            else if (*p != ']')
                text.fail_expecting(p, "',' or ']'");
        }
        return p + 1;
    };
    json::walk_object(text, at, [&](std::string_view key, const char*, const char* p) {
        if (key == "size") {
            std::size_t place = 0;
            std::array<std::int64_t, 3> sides{-1, -1, -1};
            const char* const value_at = p;
            try {
                p = list(p, [&](std::int64_t value) { sides[std::min<std::size_t>(place++, 2)] = value; });
            } catch (const json::ScanFailure&) {
                place = 0;  // not a list of numbers
                p = json::skip_value(text, value_at);
            }
            if (place != 2 || sides[0] < 0 || sides[1] < 0) made.fault = MaskFault::size;
            made.height = sides[0];
            made.width = sides[1];
            return p;
        }
        if (key != "counts") return json::skip_value(text, p);
        if (*p == '"') {
            compressed = true;
            return json::read_string(text, p, scratch_, counts);
        }
        listed = true;
        return list(p, [&](std::int64_t value) { runs_.push_back(value); });
    });
    if (made.fault != MaskFault::none || made.height < 0) return {MaskFault::size};  // it says none
    if (made.fault == MaskFault::none && !compressed && !listed) made.fault = MaskFault::counts;
    if (made.fault == MaskFault::none) settle(made, row);
    if (made.fault != MaskFault::none) return made;
    const std::int64_t places = made.height * made.width;
    made.fault = compressed ? read_mask(counts, places, intervals) : read_runs(runs_, places, intervals);
    return made;
}

const char* MaskReader::read_ring(const json::Text& text, const char* at, bool& odd) {
    if (*at != '[') text.fail_expecting(at, "an array");
    const char* p = json::skip_space(text, at + 1);
    std::size_t numbers = 0;
    while (*p != ']') {
        double value = 0;
        p = json::skip_space(text, json::read_double(text, p, value));
        if (numbers++ % 2 == 0)
            points_.push_back({value, 0});
        else
            points_.back().y = value;
        if (*p == ',')
            p = json::skip_space(text, p + 1);
        else if (*p != ']')
            text.fail_expecting(p, "',' or ']'");
    }
    if (numbers % 2) {
        points_.pop_back();
        odd = true;
    }
    ring_ends_.push_back(static_cast<std::int64_t>(points_.size()));
    return p + 1;
}

MadeMask MaskReader::read_rings(json::Text& text, const char* at, std::size_t row, std::vector<Interval>& intervals) {
    MadeMask made;
    points_.clear();
    ring_ends_.assign(1, 0);
    const char* p = json::skip_space(text, at + 1);
    while (*p != ']') {
        if (*p != '[') return {MaskFault::ring};
        p = json::skip_space(text, read_ring(text, p, made.odd));
        if (*p == ',')
            p = json::skip_space(text, p + 1);
        else if (*p != ']')
            text.fail_expecting(p, "',' or ']'");
    }
    bool any = false;
    for (std::size_t ring = 1; ring < ring_ends_.size(); ++ring) any = any || ring_ends_[ring] - ring_ends_[ring - 1] >= 3;
    if (!any) made.fault = MaskFault::ring;
    if (made.fault == MaskFault::none) settle(made, row);
    if (made.fault != MaskFault::none) return made;
    const Rings rings{points_, ring_ends_};
    made.fault = drawer_.draw_all(rings, 0, rings.count(), made.height, made.width, intervals);
    return made;
}

namespace {

// The masks of one side of a page; reused from page to page.
class PageMasks {
public:
    struct Row {
        std::size_t row, begin, end;
        PixelBounds bounds;
        std::int64_t area;
    };

    explicit PageMasks(const Side& side) : side_(side), reader_(side) {}

    // A page whose size nobody says has that of its first mask; `size` is it.
    template <class Visit>
    void each(std::size_t page, bool keep, MadeMask& size, MaskFacts& facts, Visit visit) {
        const auto begin = static_cast<std::size_t>(side_.offsets[page]), end = static_cast<std::size_t>(side_.offsets[page + 1]);
        reader_.load(begin, end);
        intervals_.clear();
        for (std::size_t row = begin; row < end; ++row) {
            if (side_.roles[row] == Role::left_out) continue;
            if (!keep) intervals_.clear();
            const std::size_t first = intervals_.size();
            MadeMask made = reader_.read(row, intervals_);
            if (made.fault == MaskFault::none) {
                if (size.height < 0) size = made;
                if (size.height != made.height || size.width != made.width) {
                    made.fault = MaskFault::size;
                    intervals_.resize(first);
                }
            }
            const Intervals mask = Intervals(intervals_).subspan(first);
            const Row here{row, first, intervals_.size(), mask_bounds(mask, std::max<std::int64_t>(made.height, 0)), mask_area(mask)};
            facts.note(row, made, here.bounds, here.area);
            visit(here);
        }
    }

    Intervals of(const Row& row) const { return Intervals(intervals_).subspan(row.begin, row.end - row.begin); }

private:
    const Side& side_;
    MaskReader reader_;
    std::vector<Interval> intervals_;
};

class MaskAreaCounter final : public AreaCounter {
public:
    MaskAreaCounter(const Side& truth, const Side& found) : truth_(truth), found_(found), truth_reader_(truth), found_reader_(found) {}

    void begin(std::size_t page) override {
        page_ = page;
        loaded_ = false;
        intervals_.clear();
        known_.clear();
    }
    void clear() override { events_.clear(); }
    void add_truth(std::size_t row, Part part) override { add(truth_reader_, 2 * row, row, part); }
    void add_found(std::size_t row) override { add(found_reader_, 2 * row + 1, row, predicted); }

    void measure(StateAreas& sums) override {
        sums.fill(0);
        std::sort(events_.begin(), events_.end(), [](const Event& one, const Event& two) { return one.place < two.place; });
        Depth depth;
        std::size_t state = 0;
        std::int32_t before = 0;
        for (const Event& event : events_) {
            if (state != 0) sums[state] += static_cast<double>(event.place - before);
            before = event.place;
            depth.add(event.part, event.change);
            state = state_of(depth);
        }
    }

private:
    struct Event {
        std::int32_t place;
        Part part;
        std::int8_t change;
    };

    void add(MaskReader& reader, std::size_t key, std::size_t row, Part part) {
        if (!loaded_) {
            truth_reader_.load(static_cast<std::size_t>(truth_.offsets[page_]), static_cast<std::size_t>(truth_.offsets[page_ + 1]));
            found_reader_.load(static_cast<std::size_t>(found_.offsets[page_]), static_cast<std::size_t>(found_.offsets[page_ + 1]));
            loaded_ = true;
        }
        const auto [at, is_new] = known_.try_emplace(key, std::pair{intervals_.size(), intervals_.size()});
        if (is_new) {
            reader.read(row, intervals_);
            at->second.second = intervals_.size();
        }
        // Of two places that are equal, what ends there need not go first: nothing lies between.
        for (std::size_t i = at->second.first; i < at->second.second; ++i) {
            events_.push_back({intervals_[i].start, part, 1});
            events_.push_back({intervals_[i].end, part, -1});
        }
    }

    const Side& truth_;
    const Side& found_;
    MaskReader truth_reader_, found_reader_;
    std::size_t page_ = 0;
    bool loaded_ = false;
    std::vector<Interval> intervals_;
    std::unordered_map<std::size_t, std::pair<std::size_t, std::size_t>> known_;
    std::vector<Event> events_;
};

}  // namespace

void MaskFacts::note(std::size_t row, const MadeMask& made, const PixelBounds& box, std::int64_t area) {
    faults[row] = static_cast<std::uint8_t>(made.fault);
    odd[row] = made.odd;
    areas[row] = static_cast<double>(area);
    const std::int32_t numbers[4] = {box.left, box.top, box.width, box.height};
    std::copy_n(numbers, 4, &bounds[4 * row]);
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    sizes[2 * row] = static_cast<std::int32_t>(std::min(made.height, most));
    sizes[2 * row + 1] = static_cast<std::int32_t>(std::min(made.width, most));
}

MaskFacts mask_facts(const Side& side, int jobs) {
    constexpr std::size_t rows_a_share = 1 << 12;
    const std::size_t rows = side.rows(), shares = (rows + rows_a_share - 1) / rows_a_share;
    MaskFacts out(rows);
    in_threads(shares, jobs, [&](auto next) {
        MaskReader reader(side);
        std::vector<Interval> intervals;
        constexpr std::size_t at_once = 64;  // rows on end mostly stand on end in the file, too
        for (std::size_t share; (share = next()) < shares;)
            for (std::size_t row = share * rows_a_share; row < std::min(rows, (share + 1) * rows_a_share); ++row) {
                if (row % at_once == 0) reader.load(row, std::min(rows, row + at_once));
                if (side.roles[row] == Role::left_out) continue;
                check_interrupt();
                intervals.clear();
                const MadeMask made = reader.read(row, intervals);
                out.note(row, made, mask_bounds(intervals, std::max<std::int64_t>(made.height, 0)), mask_area(intervals));
            }
    });
    return out;
}

MaskPairs mask_pairs(const Side& truth, const Side& found, int jobs) {
    MaskPairs out{MaskFacts(truth.rows()), MaskFacts(found.rows()), {}};
    const auto cuts = page_shares(truth, found);
    std::vector<PagePairs> parts(cuts.size() - 1);
    in_threads(parts.size(), jobs, [&](auto next) {
        PageMasks truths(truth), founds(found);
        std::vector<PageMasks::Row> candidates;
        InterruptTicker interrupts;
        for (std::size_t share; (share = next()) < parts.size();)
            for (std::size_t page = cuts[share]; page < cuts[share + 1]; ++page) {
                candidates.clear();
                MadeMask size;
                truths.each(page, true, size, out.truth, [&](const PageMasks::Row& row) {
                    check_interrupt();
                    if (row.area > 0) candidates.push_back(row);
                });
                PagePairs& part = parts[share];
                const auto first = static_cast<std::size_t>(found.offsets[page]);
                const std::size_t before = part.counts.size();
                part.counts.resize(before + static_cast<std::size_t>(found.offsets[page + 1]) - first);
                founds.each(page, false, size, out.found, [&](const PageMasks::Row& row) {
                    check_interrupt();
                    for (const PageMasks::Row& candidate : candidates) {
                        if (!candidate.bounds.meets(row.bounds)) continue;
                        interrupts.tick(candidate.end - candidate.begin + row.end - row.begin);
                        const std::int64_t shared = mask_overlap(truths.of(candidate), founds.of(row));
                        if (shared == 0) continue;
                        ++part.counts[before + row.row - first];
                        part.truths.push_back(static_cast<std::int32_t>(candidate.row));
                        part.shared.push_back(static_cast<double>(shared));
                    }
                });
            }
    });
    put_together(parts, out.shared);
    return out;
}

std::unique_ptr<AreaCounter> mask_area_counter(const Side& truth, const Side& found) { return std::make_unique<MaskAreaCounter>(truth, found); }

}  // namespace calque
