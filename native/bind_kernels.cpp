// The kernels of calque.kernels.protocol, each with the parameters that the protocol names.
#include <system_error>

#include "bind_casters.hpp"
#include "boxes_areas.hpp"
#include "boxes_best.hpp"
#include "boxes_ceilings.hpp"
#include "boxes_fused.hpp"
#include "boxes_greedy.hpp"
#include "boxes_kinds.hpp"
#include "boxes_overlaps.hpp"
#include "coco_accumulate.hpp"
#include "coco_match.hpp"
#include "coco_order.hpp"
#include "masks_rows.hpp"
#include "masks_tables.hpp"
#include "polygons_overlap.hpp"
#include "resample.hpp"
#include "shapes_overlaps.hpp"
#include "sums.hpp"
#include "tables_grids.hpp"
#include "tables_rows.hpp"
#include "tables_trees.hpp"
#include "words_align.hpp"
#include "words_oracle.hpp"
#include "words_split.hpp"

CALQUE_STRUCT(Side, PageBoxes);
CALQUE_STRUCT(KindLimits, KindLimits);
CALQUE_STRUCT(CocoTruths, CocoTruths);
CALQUE_STRUCT(CocoSettings, CocoSettings);
CALQUE_STRUCT(GivenOverlaps, PairOverlaps);
CALQUE_STRUCT(Ranking, ScoreOrder);
CALQUE_STRUCT(Verdicts, Verdicts);
CALQUE_STRUCT(Texts, TextPoints);
CALQUE_STRUCT(RowTables, RowTables);
CALQUE_STRUCT(Trees, Trees);
CALQUE_STRUCT(Grids, Grids);

using namespace nanobind::literals;

namespace {

using namespace calque;

using Bytes = std::span<const std::uint8_t>;
using Codes = std::span<const std::int32_t>;
using Doubles = std::span<const double>;
using Ints = std::span<const std::int64_t>;
using Masks = std::span<const std::uint16_t>;
using WeightTable = Matrix<std::int32_t>;

Weights weights_of(const WeightTable& table) { return {table.values.data(), table.rows, table.columns}; }

// A file that cannot be read is an error of the system, one that changed is a RuntimeError.
template <class Work>
auto from_files(Work work) {
    try {
        return work();
    } catch (const json::SystemFailure& failure) {
        throw std::system_error(failure.code, std::generic_category());
    } catch (const json::ScanFailure& failure) {
        throw std::runtime_error(failure.message);
    }
}

auto bound_split_words(const nb::typed<nb::list, nb::bytes>& texts) {
    std::vector<std::string_view> views;
    for (const nb::handle text : texts) {
        const auto data = nb::cast<nb::bytes>(text);
        views.emplace_back(data.c_str(), data.size());  // the list keeps the bytes alive
    }
    SplitWords words;
    {
        const nb::gil_scoped_release released;
        words = split_words(views);
    }
    return to_python(std::move(words));
}

void bind_boxes(nb::module_& m) {
    m.def("match_greedy", kernel(match_greedy), "truth"_a, "found"_a, "scores"_a, "threshold"_a, "jobs"_a = 1);
    m.def("match_best", kernel(match_best), "truth"_a, "found"_a, "jobs"_a = 1);
    m.def("overlapping_pairs", kernel(overlapping_pairs), "truth"_a, "found"_a, "jobs"_a = 1);
    m.def("error_kinds", kernel(error_kinds), "truth"_a, "found"_a, "scores"_a, "truth_match"_a, "limits"_a, "jobs"_a = 1);
    m.def("page_areas", kernel(page_areas), "truth"_a, "found"_a, "jobs"_a = 1);
    m.def("match_most", kernel(match_most), "truth"_a, "found"_a, "problems"_a, "truths"_a, "founds"_a);
    m.def("contacts", kernel(contacts), "truth"_a, "found"_a, "systems"_a, "threshold"_a, "jobs"_a = 1);
    m.def("agreed_boxes", kernel(agreed_boxes), "found"_a, "systems"_a, "taken"_a, "thresholds"_a, "jobs"_a = 1);
    m.def("fuse_boxes", kernel(fuse_boxes), "found"_a, "scores"_a, "systems"_a, "threshold"_a, "jobs"_a = 1);
    m.def("shape_overlaps", kernel(shape_overlaps), "truth"_a, "found"_a, "jobs"_a = 1);
}

void bind_coco(nb::module_& m) {
    const auto match = [](const Side& truth, const CocoTruths& facts, const Side& found, Doubles scores,
                              const CocoSettings& settings, int jobs) {
        CocoMatch made = coco_match(truth, facts, found, scores, settings, jobs);
        return std::tuple{std::move(made.rank), std::move(made.matched), std::move(made.ignored), std::move(made.truth_ignored)};
    };
    const auto accumulate = [](const Ranking& ranking, Doubles scores, const Verdicts& verdicts,
                                   const Matrix<std::int64_t>& truths, Doubles recall_points, std::int64_t max_detections, int jobs,
                                   const std::optional<Ints>& before) {
        const Curves curves{ranking.order,  ranking.class_offsets, verdicts.rank, verdicts.matched,       verdicts.ignored,
                            truths.values, truths.rows,           max_detections, before.value_or(Ints{})};
        return coco_accumulate(curves, scores, recall_points, jobs);
    };
    m.def("coco_match", kernel(+match), "truth"_a, "facts"_a, "found"_a, "scores"_a, "settings"_a, "jobs"_a = 1);
    m.def("coco_match_given", kernel(coco_match_given), "truth"_a, "facts"_a, "found"_a, "scores"_a, "overlaps"_a, "settings"_a,
          "partners"_a = false, "jobs"_a = 1);
    m.def("score_order", kernel(score_order), "labels"_a, "scores"_a, "classes"_a, "jobs"_a = 1);
    m.def("coco_accumulate", kernel(+accumulate), "ranking"_a, "scores"_a, "verdicts"_a, "truths"_a, "recall_points"_a,
          "max_detections"_a, "jobs"_a = 1, "before"_a = nb::none());
}

void bind_shapes(nb::module_& m) {
    const auto simple = [](Points points, Ints offsets) {
        const Rings rings{points, offsets};
        Rows<bool> flags(rings.count());
        for (std::size_t ring = 0; ring < rings.count(); ++ring) flags[ring] = is_simple(rings[ring]);
        return flags;
    };
    const auto overlaps = [](Points first_points, Ints first_offsets, Points second_points, Ints second_offsets,
                                 Ints first_index, Ints second_index, int jobs) {
        return polygon_overlaps({first_points, first_offsets}, {second_points, second_offsets}, first_index, second_index, jobs);
    };
    const auto facts = [](const Side& side, int jobs) { return from_files([&] { return mask_facts(side, jobs); }); };
    const auto pairs = [](const Side& truth, const Side& found, int jobs) {
        return from_files([&] { return mask_pairs(truth, found, jobs); });
    };
    m.def("polygon_simple", kernel(+simple), "points"_a, "offsets"_a);
    m.def("polygon_overlaps", kernel(+overlaps), "first_points"_a, "first_offsets"_a, "second_points"_a, "second_offsets"_a,
          "first_index"_a, "second_index"_a, "jobs"_a = 1);
    m.def("mask_facts", kernel(+facts), "side"_a, "jobs"_a = 1);
    m.def("mask_pairs", kernel(+pairs), "truth"_a, "found"_a, "jobs"_a = 1);
}

void bind_masks(nb::module_& m) {
    const auto runs = [](std::span<const char> counts, Ints offsets, int jobs) { return masks_read({counts, offsets}, jobs); };
    const auto counts = [](Ints runs, Ints offsets) {
        MadeMasks<char> made = masks_written({runs, offsets});
        return std::tuple{std::move(made.rows), std::move(made.offsets)};
    };
    const auto of_runs = [](Ints runs, Ints offsets, Ints places) { return masks_of_runs({runs, offsets}, places); };
    const auto to_runs = [](Intervals intervals, Ints offsets, Ints places) {
        MadeMasks<std::int64_t> made = runs_of_masks({intervals, offsets}, places);
        return std::tuple{std::move(made.rows), std::move(made.offsets)};
    };
    const auto of_rings = [](Points points, Ints ring_offsets, Ints mask_offsets, Ints heights, Ints widths, int jobs) {
        return masks_of_rings({points, ring_offsets}, mask_offsets, heights, widths, jobs);
    };
    const auto overlaps = [](Intervals first_intervals, Ints first_offsets, Intervals second_intervals, Ints second_offsets,
                                 Ints first_index, Ints second_index, int jobs) {
        return overlaps_of_masks({first_intervals, first_offsets}, {second_intervals, second_offsets}, first_index, second_index,
                                 jobs);
    };
    m.def("mask_runs", kernel(+runs), "counts"_a, "offsets"_a, "jobs"_a = 1);
    m.def("mask_counts", kernel(+counts), "runs"_a, "offsets"_a);
    m.def("masks_of_runs", kernel(+of_runs), "runs"_a, "offsets"_a, "places"_a);
    m.def("runs_of_masks", kernel(+to_runs), "intervals"_a, "offsets"_a, "places"_a);
    m.def("masks_of_rings", kernel(+of_rings), "points"_a, "ring_offsets"_a, "mask_offsets"_a, "heights"_a, "widths"_a,
          "jobs"_a = 1);
    m.def("mask_overlaps", kernel(+overlaps), "first_intervals"_a, "first_offsets"_a, "second_intervals"_a, "second_offsets"_a,
          "first_index"_a, "second_index"_a, "jobs"_a = 1);
}

void bind_words(nb::module_& m) {
    const auto partners = [](Codes reference, Ints reference_offsets, Codes predicted, Ints predicted_offsets,
                                 std::size_t vocabulary, std::size_t log_limit, int jobs) {
        return lcs_partners({reference, reference_offsets}, {predicted, predicted_offsets}, vocabulary, log_limit, jobs);
    };
    const auto path = [](Codes reference, Codes edge_from, Codes edge_to, Ints word_offsets, Codes words, Bytes final_nodes,
                             std::size_t vocabulary, std::size_t row_limit) {
        return best_path(reference, {edge_from, edge_to, word_offsets, words, final_nodes}, vocabulary, row_limit);
    };
    m.def("lcs_partners", kernel(+partners), "reference"_a, "reference_offsets"_a, "predicted"_a, "predicted_offsets"_a,
          "vocabulary"_a, "log_limit"_a, "jobs"_a);
    m.def("lattice_path", kernel(+path), "reference"_a, "edge_from"_a, "edge_to"_a, "word_offsets"_a, "words"_a, "final_nodes"_a,
          "vocabulary"_a, "row_limit"_a);
    m.def("split_words", &bound_split_words, "texts"_a);
}

void bind_tables(nb::module_& m) {
    const auto distances = [](const RowTables& truth, const RowTables& found, const Texts& texts, Codes truth_index,
                                  Codes found_index, bool structure, int jobs) {
        return row_tree_distances(truth, found, {truth_index, found_index}, texts, structure, jobs);
    };
    const auto mappings = [](const RowTables& truth, const RowTables& found, const Texts& texts, Codes truth_index,
                                 Codes found_index, Doubles distances, int jobs) {
        return row_tree_mappings(truth, found, {truth_index, found_index}, texts, distances, jobs);
    };
    const auto trees = [](const Trees& truth, const Trees& found, const Texts& texts, Codes truth_index, Codes found_index,
                              int jobs) { return tree_distances(truth, found, {truth_index, found_index}, texts, jobs); };
    const auto given = [](const Grids& truth, const Grids& found, const Matrix<double>& shares, int jobs) {
        return grid_given(truth, found, shares.values, shares.columns, jobs);
    };
    m.def("row_tree_distances", kernel(+distances), "truth"_a, "found"_a, "texts"_a, "truth_index"_a, "found_index"_a,
          "structure"_a, "jobs"_a = 1);
    m.def("row_tree_mappings", kernel(+mappings), "truth"_a, "found"_a, "texts"_a, "truth_index"_a, "found_index"_a, "distances"_a,
          "jobs"_a = 1);
    m.def("tree_distances", kernel(+trees), "truth"_a, "found"_a, "texts"_a, "truth_index"_a, "found_index"_a, "jobs"_a = 1);
    m.def("grid_boxes", kernel(grid_boxes), "truth"_a, "found"_a, "truth_boxes"_a, "found_boxes"_a, "jobs"_a = 1);
    m.def("grid_texts", kernel(grid_texts), "truth"_a, "found"_a, "texts"_a, "jobs"_a = 1);
    m.def("grid_given", kernel(+given), "truth"_a, "found"_a, "shares"_a, "jobs"_a = 1);
}

void bind_numbers(nb::module_& m) {
    const auto precision = [](Codes units, Bytes tied, Ints class_offsets, Masks matched, Masks ignored, std::size_t thresholds,
                                  const Matrix<std::int64_t>& truths, Doubles recall_points, const WeightTable& weights, int jobs) {
        return weighted_precision({units, tied, class_offsets, matched, ignored, truths.values, recall_points, thresholds},
                                  weights_of(weights), jobs);
    };
    const auto auroc = [](Codes units, Bytes right, Bytes rises, Ints group_offsets, const WeightTable& weights, int jobs) {
        return weighted_auroc({units, right, rises, group_offsets}, weights_of(weights), jobs);
    };
    m.def("weighted_precision", kernel(+precision), "units"_a, "tied"_a, "class_offsets"_a, "matched"_a, "ignored"_a,
          "thresholds"_a, "truths"_a, "recall_points"_a, "weights"_a, "jobs"_a = 1);
    m.def("weighted_auroc", kernel(+auroc), "units"_a, "right"_a, "rises"_a, "group_offsets"_a, "weights"_a, "jobs"_a = 1);
    m.def("fraction_parts", kernel(fraction_parts), "values"_a, "groups"_a, "size"_a, "scale"_a = 1.0);
}

}  // namespace

void bind_kernels(nb::module_& m) {
    bind_boxes(m);
    bind_coco(m);
    bind_shapes(m);
    bind_masks(m);
    bind_words(m);
    bind_tables(m);
    bind_numbers(m);
}
