// Tables for Python: rows of cells, trees and grids that go together.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>

#include "bind_structs.hpp"
#include "tables_grids.hpp"
#include "tables_rows.hpp"
#include "tables_texts.hpp"
#include "tables_trees.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace calque;

bool within(std::span<const std::int32_t> codes, std::int64_t least, std::size_t end) {
    return std::all_of(codes.begin(), codes.end(),
                       [=](auto code) { return code >= least && code < static_cast<std::int64_t>(end); });
}

Texts checked(const given::TextPoints& texts) {
    check_offsets("texts.offsets", view(texts.offsets), texts.points.shape(0), "points");
    const auto points = view(texts.points);
    require(std::all_of(points.begin(), points.end(), [](auto point) { return point >= 0; }), "points must not be negative");
    return {points, view(texts.offsets)};
}

RowTables checked(const std::string& name, const given::RowTables& side, const Texts& texts) {
    const RowTables made{view(side.tables), view(side.rows), view(side.spans), view(side.texts)};
    require(!made.rows.empty(), name + ".rows must not be empty");
    check_offsets(name + ".tables", made.tables, made.rows.size() - 1, "rows");
    check_offsets(name + ".rows", made.rows, made.texts.size(), "cells");
    require(made.spans.size() == made.texts.size(), name + " must have spans and a text for each cell");
    require(std::all_of(made.spans.begin(), made.spans.end(), [](auto span) { return span >= 0; }),
            name + ".spans must not be negative");
    require(within(made.texts, 0, texts.size()), name + ".texts must be numbers of texts");
    return made;
}

Trees checked(const std::string& name, const given::Trees& side, const Texts& texts) {
    const Trees made{view(side.offsets), view(side.labels), view(side.texts), view(side.firsts)};
    check_offsets(name + ".offsets", made.offsets, made.labels.size(), "nodes");
    require(made.texts.size() == made.labels.size() && made.firsts.size() == made.labels.size(),
            name + " must have a label, a text and a first node for each node");
    require(within(made.texts, -1, texts.size()), name + ".texts must be numbers of texts, or -1");
    std::vector<std::int32_t> open;  // the first nodes of trees that have no parent yet
    for (std::size_t tree = 0; tree + 1 < made.offsets.size(); ++tree) {
        open.clear();
        for (std::size_t node = 0; node < made.size(tree); ++node) {
            const std::int32_t first = made.firsts[static_cast<std::size_t>(made.offsets[tree]) + node];
            if (first == static_cast<std::int32_t>(node)) open.push_back(first);
            while (!open.empty() && open.back() > first) open.pop_back();
            require(!open.empty() && open.back() == first, name + ".firsts must be those of trees, children before their parents");
        }
    }
    return made;
}

TablePairs checked(const Column<std::int32_t>& truth, const Column<std::int32_t>& found, std::size_t ours, std::size_t theirs) {
    const TablePairs made{view(truth), view(found)};
    require(made.truth.size() == made.found.size(), "each pair needs a truth and a found table");
    require(within(made.truth, 0, ours) && within(made.found, 0, theirs), "pairs must be numbers of tables");
    return made;
}

Grids checked(const std::string& name, const given::Grids& side, std::size_t items) {
    const Grids made{view(side.slots), view(side.offsets), view(side.rows), view(side.columns)};
    check_offsets(name + ".offsets", made.offsets, made.slots.size(), "slots");
    require(made.rows.size() + 1 == made.offsets.size() && made.columns.size() == made.rows.size(),
            name + " must have rows and columns for each grid");
    for (std::size_t i = 0; i < made.size(); ++i) {
        const std::int64_t rows = made.rows[i], columns = made.columns[i], slots = made.offsets[i + 1] - made.offsets[i];
        // Divided, not multiplied: what does not fit into 64 bits could come out right.
        const bool fine = rows > 0 && columns > 0 ? slots % columns == 0 && slots / columns == rows : slots == 0;
        require(rows >= 0 && columns >= 0 && fine, name + " must have rows times columns slots");
    }
    require(within(made.slots, 0, items), name + ".slots must be numbers of items");
    return made;
}

void check_alike(const Grids& truth, const Grids& found) {
    require(truth.size() == found.size(), "there must be as many truth grids as found ones");
}

auto arrays(Shared&& out) {
    return std::tuple{array(std::move(out.both)), array(std::move(out.rows)), array(std::move(out.columns))};
}

auto bound_row_tree_distances(const given::RowTables& truth, const given::RowTables& found, const given::TextPoints& texts,
                              const Column<std::int32_t>& truth_index, const Column<std::int32_t>& found_index,
                              bool structure, int jobs) {
    const Texts known = checked(texts);
    const RowTables ours = checked("truth", truth, known), theirs = checked("found", found, known);
    const TablePairs pairs = checked(truth_index, found_index, ours.tables.size() - 1, theirs.tables.size() - 1);
    std::vector<double> out;
    {
        const nb::gil_scoped_release released;
        out = row_tree_distances(ours, theirs, pairs, known, structure, jobs);
    }
    return array(std::move(out));
}

auto bound_row_tree_mappings(const given::RowTables& truth, const given::RowTables& found, const given::TextPoints& texts,
                             const Column<std::int32_t>& truth_index, const Column<std::int32_t>& found_index,
                             const Column<double>& distances, int jobs) {
    const Texts known = checked(texts);
    const RowTables ours = checked("truth", truth, known), theirs = checked("found", found, known);
    const TablePairs pairs = checked(truth_index, found_index, ours.tables.size() - 1, theirs.tables.size() - 1);
    require(distances.shape(0) == pairs.size(), "each pair needs its distance");
    Mappings out;
    {
        const nb::gil_scoped_release released;
        out = row_tree_mappings(ours, theirs, pairs, known, view(distances), jobs);
    }
    return std::tuple{array(std::move(out.truth_rows)), array(std::move(out.truth_cells)), array(std::move(out.found_cells))};
}

auto bound_tree_distances(const given::Trees& truth, const given::Trees& found, const given::TextPoints& texts,
                          const Column<std::int32_t>& truth_index, const Column<std::int32_t>& found_index, int jobs) {
    const Texts known = checked(texts);
    const Trees ours = checked("truth", truth, known), theirs = checked("found", found, known);
    const TablePairs pairs = checked(truth_index, found_index, ours.offsets.size() - 1, theirs.offsets.size() - 1);
    std::vector<double> out;
    {
        const nb::gil_scoped_release released;
        out = tree_distances(ours, theirs, pairs, known, jobs);
    }
    return array(std::move(out));
}

auto bound_grid_boxes(const given::Grids& truth, const given::Grids& found, const given::Boxes& truth_boxes,
                      const given::Boxes& found_boxes, int jobs) {
    const Grids ours = checked("truth", truth, truth_boxes.shape(0)), theirs = checked("found", found, found_boxes.shape(0));
    check_alike(ours, theirs);
    Shared out;
    {
        const nb::gil_scoped_release released;
        out = grid_boxes(ours, theirs, {truth_boxes.data(), 4 * truth_boxes.shape(0)},
                         {found_boxes.data(), 4 * found_boxes.shape(0)}, jobs);
    }
    return arrays(std::move(out));
}

auto bound_grid_texts(const given::Grids& truth, const given::Grids& found, const given::TextPoints& texts, int jobs) {
    const Texts known = checked(texts);
    const Grids ours = checked("truth", truth, known.size()), theirs = checked("found", found, known.size());
    check_alike(ours, theirs);
    Shared out;
    {
        const nb::gil_scoped_release released;
        out = grid_texts(ours, theirs, known, jobs);
    }
    return arrays(std::move(out));
}

using Square = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

auto bound_grid_given(const given::Grids& truth, const given::Grids& found, const Square& shares, int jobs) {
    const Grids ours = checked("truth", truth, shares.shape(0)), theirs = checked("found", found, shares.shape(1));
    check_alike(ours, theirs);
    Shared out;
    {
        const nb::gil_scoped_release released;
        out = grid_given(ours, theirs, {shares.data(), shares.shape(0) * shares.shape(1)}, shares.shape(1), jobs);
    }
    return arrays(std::move(out));
}

}  // namespace

void bind_tables(nb::module_& m) {
    m.def("row_tree_distances", &bound_row_tree_distances, "truth"_a, "found"_a, "texts"_a, "truth_index"_a, "found_index"_a,
          "structure"_a, "jobs"_a = 1, "What it costs to turn each truth table into the found one.");
    m.def("row_tree_mappings", &bound_row_tree_mappings, "truth"_a, "found"_a, "texts"_a, "truth_index"_a, "found_index"_a,
          "distances"_a, "jobs"_a = 1, "Partners of truth rows, truth cells and found cells in the cheapest way.");
    m.def("tree_distances", &bound_tree_distances, "truth"_a, "found"_a, "texts"_a, "truth_index"_a, "found_index"_a,
          "jobs"_a = 1, "What it costs to turn each truth tree into the found one.");
    m.def("grid_boxes", &bound_grid_boxes, "truth"_a, "found"_a, "truth_boxes"_a, "found_boxes"_a, "jobs"_a = 1,
          "What grids of boxes share: both alignments together, rows alone, columns alone.");
    m.def("grid_texts", &bound_grid_texts, "truth"_a, "found"_a, "texts"_a, "jobs"_a = 1, "What grids of texts share.");
    m.def("grid_given", &bound_grid_given, "truth"_a, "found"_a, "shares"_a, "jobs"_a = 1,
          "What grids share of whose items each share is given.");
}
