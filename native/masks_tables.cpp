// Each thread takes a share of neighbouring masks; the shares are put together in order.
#include "masks_tables.hpp"

#include <algorithm>
#include <cstring>

#include "parallel.hpp"

namespace calque {

namespace {

constexpr std::size_t masks_a_share = 1 << 10;

// Calls make(mask, rows) -> fault for every mask; what it needs besides comes from worker(), once for each thread.
template <class Row, class Worker>
MadeMasks<Row> make_masks(std::size_t masks, int jobs, Worker worker) {
    const std::size_t shares = (masks + masks_a_share - 1) / masks_a_share;
    std::vector<MadeMasks<Row>> made(shares);
    in_threads(shares, jobs, [&](auto next) {
        auto make = worker();
        for (std::size_t share; (share = next()) < shares;) {
            MadeMasks<Row>& part = made[share];
            for (std::size_t mask = share * masks_a_share; mask < std::min(masks, (share + 1) * masks_a_share); ++mask) {
                part.faults.push_back(static_cast<std::uint8_t>(make(mask, part.rows)));
                part.offsets.push_back(static_cast<std::int64_t>(part.rows.size()));
            }
        }
    });
    if (shares == 1) return std::move(made.front());
    MadeMasks<Row> out;
    std::size_t rows = 0;
    for (const auto& part : made) rows += part.rows.size();
    out.rows.reserve(rows);
    out.offsets.reserve(masks + 1);
    out.faults.reserve(masks);
    for (auto& part : made) {
        const auto before = static_cast<std::int64_t>(out.rows.size());
        out.rows.insert(out.rows.end(), part.rows.begin(), part.rows.end());
        for (std::size_t i = 1; i < part.offsets.size(); ++i) out.offsets.push_back(before + part.offsets[i]);
        out.faults.insert(out.faults.end(), part.faults.begin(), part.faults.end());
        part = {};
    }
    return out;
}

std::string_view text(const MaskTable<char>& counts, std::size_t mask) {
    const std::span<const char> letters = counts[mask];
    return {letters.data(), letters.size()};
}

}  // namespace

MadeMasks<std::int64_t> masks_read(const MaskTable<char>& counts, int jobs) {
    return make_masks<std::int64_t>(counts.count(), jobs, [&] {
        return [&](std::size_t mask, std::vector<std::int64_t>& runs) { return read_counts(text(counts, mask), runs); };
    });
}

MadeMasks<char> masks_written(const MaskTable<std::int64_t>& runs) {
    std::string letters;
    return make_masks<char>(runs.count(), 1, [&] {
        return [&](std::size_t mask, std::vector<char>& out) {
            letters.clear();
            write_counts(runs[mask], letters);
            out.insert(out.end(), letters.begin(), letters.end());
            return MaskFault::none;
        };
    });
}

MadeMasks<Interval> masks_of_runs(const MaskTable<std::int64_t>& runs, std::span<const std::int64_t> places) {
    return make_masks<Interval>(runs.count(), 1, [&] {
        return [&](std::size_t mask, std::vector<Interval>& out) { return read_runs(runs[mask], places[mask], out); };
    });
}

MadeMasks<std::int64_t> runs_of_masks(const MaskTable<Interval>& masks, std::span<const std::int64_t> places) {
    return make_masks<std::int64_t>(masks.count(), 1, [&] {
        return [&](std::size_t mask, std::vector<std::int64_t>& out) {
            write_runs(masks[mask], places[mask], out);
            return MaskFault::none;
        };
    });
}

MadeMasks<Interval> masks_of_rings(const Rings& rings, std::span<const std::int64_t> parts,
                                   std::span<const std::int64_t> heights, std::span<const std::int64_t> widths, int jobs) {
    return make_masks<Interval>(heights.size(), jobs, [&] {
        return [&, drawer = RingDrawer()](std::size_t mask, std::vector<Interval>& out) mutable {
            return drawer.draw_all(rings, static_cast<std::size_t>(parts[mask]), static_cast<std::size_t>(parts[mask + 1]),
                                   heights[mask], widths[mask], out);
        };
    });
}

std::vector<std::int64_t> overlaps_of_masks(const MaskTable<Interval>& first, const MaskTable<Interval>& second,
                                            std::span<const std::int64_t> first_index,
                                            std::span<const std::int64_t> second_index, int jobs) {
    std::vector<std::int64_t> shared(first_index.size());
    const std::size_t shares = (shared.size() + masks_a_share - 1) / masks_a_share;
    in_threads(shares, jobs, [&](auto next) {
        for (std::size_t share; (share = next()) < shares;)
            for (std::size_t i = share * masks_a_share; i < std::min(shared.size(), (share + 1) * masks_a_share); ++i)
                shared[i] = mask_overlap(first[static_cast<std::size_t>(first_index[i])],
                                         second[static_cast<std::size_t>(second_index[i])]);
    });
    return shared;
}

}  // namespace calque
