// Reading orders of pages: how far what was read is from the true order, page by page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace calque {

// One side. An order is a list of blocks, and groups are stretches of it: the outer ones first, one inside the other or apart.
struct PageOrders {
    std::span<const std::int64_t> blocks;  // the blocks of page p are blocks[p] .. blocks[p + 1]
    std::span<const std::int32_t> listed;  // blocks, counted from the first of their page
    std::span<const std::int64_t> listed_offsets;
    std::span<const std::int32_t> starts, ends;  // of groups, counted from the page's first listed block
    std::span<const std::uint8_t> ordered;
    std::span<const std::int64_t> group_offsets;

    std::size_t pages() const { return blocks.size() - 1; }
};

// The columns of what is counted of a page, in this order.
enum OrderCount : std::size_t {
    truth_blocks, unordered_blocks, placed_blocks, unplaced_blocks, missing_blocks, found_blocks,
    concordant, discordant_pairs, open_pairs, merged_pairs, links_required, links_predicted, links_right,
    moves, displacement, largest_displacement, edits, first_break,
};
enum class Break : std::uint8_t { furniture, interleaved, column_jump, skip, back };
constexpr std::size_t order_counts = first_break + 5;

struct JudgedOrders {
    std::vector<std::int64_t> counts;                       // order_counts for each page
    std::vector<std::int32_t> rank, position, discordant;   // of each true block; -1 where it has no place
    std::vector<std::int64_t> break_offsets;                // the breaks of each page
    std::vector<std::int32_t> before, after;                // true blocks, counted from the first of their page
    std::vector<std::uint8_t> kind;
};

// `places` has the found block of each true block, counted from the first of its page, or -1; `columns` left and right edges.
JudgedOrders judge_orders(const PageOrders& truth, const PageOrders& found, std::span<const std::int32_t> places,
                          std::span<const std::uint8_t> furniture, std::span<const double> columns, int jobs);

// The edit distance of the line 0, 1, ..., length - 1 and of `read`, which has some of it, each once.
std::int64_t line_edits(std::span<const std::int32_t> read, std::size_t length);

}  // namespace calque
