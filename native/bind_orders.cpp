// Python's view of the kernel of reading orders: checks what it is given, lets go of the GIL, hands over arrays without a copy.
#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "bind_structs.hpp"
#include "orders.hpp"

using namespace nanobind::literals;

namespace {

using namespace calque;

// Groups come the outer ones first, and hold something; two are apart, or one is inside the other.
bool well_nested(const PageOrders& side, std::size_t page, std::vector<std::int32_t>& ends) {
    ends.assign(1, static_cast<std::int32_t>(side.listed_offsets[page + 1] - side.listed_offsets[page]));
    std::int32_t last = 0;
    for (auto group = static_cast<std::size_t>(side.group_offsets[page]); group < static_cast<std::size_t>(side.group_offsets[page + 1]); ++group) {
        const std::int32_t start = side.starts[group], end = side.ends[group];
        if (start < last || start >= end) return false;
        while (ends.size() > 1 && ends.back() <= start) ends.pop_back();
        if (end > ends.back()) return false;
        ends.push_back(end);
        last = start;
    }
    return true;
}

bool listed_once(const PageOrders& side, std::size_t page, std::vector<std::uint8_t>& seen) {
    seen.assign(static_cast<std::size_t>(side.blocks[page + 1] - side.blocks[page]), 0);
    const auto first = static_cast<std::size_t>(side.listed_offsets[page]), last = static_cast<std::size_t>(side.listed_offsets[page + 1]);
    for (const std::int32_t block : side.listed.subspan(first, last - first)) {
        if (block < 0 || static_cast<std::size_t>(block) >= seen.size() || seen[static_cast<std::size_t>(block)]) return false;
        seen[static_cast<std::size_t>(block)] = 1;
    }
    return true;
}

PageOrders orders(const std::string& name, const given::PageOrders& given) {
    const PageOrders side{view(given.blocks), view(given.listed), view(given.listed_offsets), view(given.starts), view(given.ends),
                          view(given.ordered), view(given.group_offsets)};
    require(!side.blocks.empty() && side.blocks.back() >= 0 && side.blocks.back() <= std::numeric_limits<std::int32_t>::max(),
            name + " blocks must rise from 0");
    check_offsets(name + " blocks", side.blocks, static_cast<std::size_t>(side.blocks.back()));
    check_offsets(name + " orders", side.listed_offsets, side.listed.size(), "listed blocks");
    check_offsets(name + " groups", side.group_offsets, side.starts.size(), "groups");
    require(side.listed_offsets.size() == side.blocks.size() && side.group_offsets.size() == side.blocks.size() &&
                side.ends.size() == side.starts.size() && side.ordered.size() == side.starts.size(),
            "every " + name + " column must be of the same pages and groups");
    std::vector<std::uint8_t> seen;
    std::vector<std::int32_t> ends;
    for (std::size_t page = 0; page < side.pages(); ++page) {
        require(listed_once(side, page, seen), "an order names blocks of its page, each once");
        require(well_nested(side, page, ends), "groups must be stretches of an order, one inside the other or apart, the outer ones first");
    }
    return side;
}

auto bound_judge_orders(const given::PageOrders& truth_orders, const given::PageOrders& found_orders,
                        const Column<std::int32_t>& places, const Column<std::uint8_t>& furniture, const given::Ranges& columns,
                        int jobs) {
    const PageOrders truth = orders("truth", truth_orders), found = orders("found", found_orders);
    require(truth.pages() == found.pages(), "truth and found must have the same number of pages");
    const auto blocks = static_cast<std::size_t>(truth.blocks.back());
    require(places.shape(0) == blocks && furniture.shape(0) == blocks && columns.shape(0) == blocks,
            "every true block must have a place, a flag and a column");
    const auto there = view(places);
    for (std::size_t page = 0; page < truth.pages(); ++page) {
        const std::int64_t count = found.blocks[page + 1] - found.blocks[page];
        require(std::all_of(there.begin() + truth.blocks[page], there.begin() + truth.blocks[page + 1],
                            [count](std::int32_t place) { return place >= -1 && place < count; }),
                "a place is no block of the page");
    }
    JudgedOrders out;
    {
        const nb::gil_scoped_release released;
        out = judge_orders(truth, found, there, view(furniture), {columns.data(), 2 * blocks}, jobs);
    }
    return std::tuple{array(std::move(out.counts), {truth.pages(), order_counts}), array(std::move(out.rank)),
                      array(std::move(out.position)), array(std::move(out.discordant)), array(std::move(out.break_offsets)),
                      array(std::move(out.before)), array(std::move(out.after)), array(std::move(out.kind))};
}

}  // namespace

void bind_orders(nb::module_& m) {
    m.def("judge_orders", &bound_judge_orders, "truth"_a, "found"_a, "places"_a, "furniture"_a, "columns"_a, "jobs"_a = 1);
}
