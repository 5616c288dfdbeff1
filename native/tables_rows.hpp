// Tables as rows of cells: the cheapest way to turn one into the other, and which rows and cells that keeps together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <span>
#include <utility>
#include <vector>

#include "tables_texts.hpp"

namespace calque {

// Tables one after the other: rows of each table, cells of each row, and for each cell its spans (one number) and text.
struct RowTables {
    std::span<const std::int64_t> tables, rows;
    std::span<const std::int64_t> spans;
    std::span<const std::int32_t> texts;

    auto fields() { return std::tie(tables, rows, spans, texts); }
    std::size_t first_row(std::size_t table) const { return static_cast<std::size_t>(tables[table]); }
    std::size_t row_count(std::size_t table) const { return static_cast<std::size_t>(tables[table + 1] - tables[table]); }
    std::size_t first_cell(std::size_t row) const { return static_cast<std::size_t>(rows[row]); }
    std::size_t cell_count(std::size_t row) const { return static_cast<std::size_t>(rows[row + 1] - rows[row]); }
};

// Which tables go together: pair p is truth[p] with found[p].
struct TablePairs {
    std::span<const std::int32_t> truth, found;

    std::size_t size() const { return truth.size(); }
};

std::vector<double> row_tree_distances(const RowTables& truth, const RowTables& found, const TablePairs& pairs,
                                       const Texts& texts, bool structure, int jobs);

// Partners for the rows and cells of each pair in turn, counted from the first of the table; -1 for none, -2 for a cell
// whose partner is a row without cells.
struct Mappings {
    std::vector<std::int32_t> truth_rows, truth_cells, found_cells;

    auto fields() { return std::tie(truth_rows, truth_cells, found_cells); }
};

Mappings row_tree_mappings(const RowTables& truth, const RowTables& found, const TablePairs& pairs, const Texts& texts,
                           std::span<const double> distances, int jobs);

}  // namespace calque
