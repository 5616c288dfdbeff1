// Python's view of the box and COCO kernels: checks what it is given, lets go of the GIL, hands over arrays without a
// copy.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "bind_sides.hpp"
#include "boxes_areas.hpp"
#include "boxes_best.hpp"
#include "boxes_greedy.hpp"
#include "boxes_kinds.hpp"
#include "boxes_overlaps.hpp"
#include "boxes_pairs.hpp"
#include "coco_accumulate.hpp"
#include "coco_match.hpp"
#include "coco_order.hpp"

using namespace nanobind::literals;

namespace {

using namespace calque;

using Counts = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Before = nb::ndarray<const std::int64_t, nb::shape<2, -1, -1>, nb::c_contig, nb::device::cpu>;

void check_matches(const Side& truth, const Side& found, std::span<const std::int32_t> truth_match) {
    bool fine = true;
    for (std::size_t page = 0; page < truth.pages(); ++page)
        for (auto row = truth.offsets[page]; row < truth.offsets[page + 1]; ++row) {
            const std::int32_t match = truth_match[static_cast<std::size_t>(row)];
            fine = fine && (match < 0 || (match >= found.offsets[page] && match < found.offsets[page + 1]));
        }
    require(fine, "truth_match must name rows of the same page");
}

auto bound_match_greedy(const given::PageBoxes& truth_boxes, const given::PageBoxes& found_boxes,
                        const Column<double>& scores, double threshold, int jobs) {
    const Side truth = side("truth", truth_boxes), found = side("found", found_boxes, {scores.shape(0)});
    check_pages(truth, found);
    GreedyMatch out;
    {
        const nb::gil_scoped_release released;
        out = match_greedy(truth, found, view(scores), threshold, jobs);
    }
    return std::tuple{array(std::move(out.truth_match)), array(std::move(out.found_match)), array(std::move(out.absorbed))};
}

auto bound_match_best(const given::PageBoxes& truth_boxes, const given::PageBoxes& found_boxes, int jobs) {
    const Side truth = side("truth", truth_boxes), found = side("found", found_boxes);
    check_pages(truth, found);
    BestMatch out;
    {
        const nb::gil_scoped_release released;
        out = match_best(truth, found, jobs);
    }
    return std::tuple{array(std::move(out.match)), array(std::move(out.iou))};
}

auto bound_pair_measures(const given::PageBoxes& truth_boxes, const given::PageBoxes& found_boxes,
                         const Column<std::int32_t>& truth_match, int jobs) {
    const Side truth = side("truth", truth_boxes, {truth_match.shape(0)}), found = side("found", found_boxes);
    check_pages(truth, found);
    bool fine = true;
    for (const std::int32_t row : view(truth_match)) fine = fine && row < static_cast<std::int64_t>(found.rows());
    require(fine, "truth_match names a row that does not exist");
    PairMeasures out;
    {
        const nb::gil_scoped_release released;
        out = pair_measures(truth, found, view(truth_match), jobs);
    }
    return std::tuple{array(std::move(out.iou)), array(std::move(out.coverage)), array(std::move(out.purity)),
                      array(std::move(out.edges), {truth.rows(), 4}), array(std::move(out.found_iou))};
}

auto bound_overlapping_pairs(const given::PageBoxes& truth_boxes, const given::PageBoxes& found_boxes, int jobs) {
    const Side truth = side("truth", truth_boxes), found = side("found", found_boxes);
    check_pages(truth, found);
    Overlaps out;
    {
        const nb::gil_scoped_release released;
        out = overlapping_pairs(truth, found, jobs);
    }
    return std::tuple{array(std::move(out.truth)), array(std::move(out.found)), array(std::move(out.shared))};
}

auto bound_error_kinds(const given::PageBoxes& truth_boxes, const given::PageBoxes& found_boxes,
                       const Column<double>& scores, const Column<std::int32_t>& truth_match,
                       const given::KindLimits& limits, int jobs) {
    const Side truth = side("truth", truth_boxes, {truth_match.shape(0)});
    const Side found = side("found", found_boxes, {scores.shape(0)});
    check_pages(truth, found);
    check_matches(truth, found, view(truth_match));
    Kinds out;
    {
        const nb::gil_scoped_release released;
        out = error_kinds(truth, found, view(scores), view(truth_match),
                          {limits.match, limits.background, limits.part, limits.most}, jobs);
    }
    return std::tuple{array(std::move(out.truth)), array(std::move(out.truth_partner)), array(std::move(out.found)),
                      array(std::move(out.found_partner)), array(std::move(out.subtype))};
}

auto bound_page_areas(const given::PageBoxes& truth_boxes, const given::PageBoxes& found_boxes, int jobs) {
    const Side truth = side("truth", truth_boxes), found = side("found", found_boxes);
    check_pages(truth, found);
    PageAreas out;
    {
        const nb::gil_scoped_release released;
        out = page_areas(truth, found, jobs);
    }
    const std::size_t rows = out.page.size();
    return std::tuple{array(std::move(out.page)), array(std::move(out.label)),
                      array(std::move(out.areas), {rows, area_kinds})};
}

auto bound_coco_match(const given::PageBoxes& truth_boxes, const given::CocoTruths& facts,
                      const given::PageBoxes& found_boxes, const Column<double>& scores, const given::CocoSettings& given,
                      int jobs) {
    const Side truth = side("truth", truth_boxes, {facts.areas.shape(0), facts.crowd.shape(0)});
    const Side found = side("found", found_boxes, {scores.shape(0)});
    check_pages(truth, found);
    require(!facts.found_areas || facts.found_areas->shape(0) == found.rows(), "found_areas must have a number for each found row");
    require(given.thresholds.shape(0) <= most_thresholds, "at most 16 thresholds fit a mask");
    const CocoSettings settings{{given.thresholds.data(), given.thresholds.data() + given.thresholds.shape(0)},
                                {given.area_ranges.data(), 2 * given.area_ranges.shape(0)},
                                given.max_detections};
    CocoMatch out;
    {
        const nb::gil_scoped_release released;
        out = coco_match(truth, {view(facts.areas), view(facts.crowd), optional_view(facts.found_areas)}, found, view(scores), settings, jobs);
    }
    const std::size_t ranges = settings.ranges();
    return std::tuple{array(std::move(out.rank)), array(std::move(out.matched), {found.rows(), ranges}),
                      array(std::move(out.ignored), {found.rows(), ranges}),
                      array(std::move(out.truth_ignored), {truth.rows(), ranges})};
}

GivenOverlaps overlaps(const given::PairOverlaps& given, const Side& truth, const Side& found) {
    check_offsets("overlap offsets", view(given.offsets), given.truth.shape(0));
    require(given.offsets.shape(0) == found.rows() + 1 && given.found_areas.shape(0) == found.rows(),
            "overlaps must have offsets and areas of every found row");
    require(given.overlap.shape(0) == given.truth.shape(0), "every pair must have a truth row and an overlap");
    bool fine = true;
    for (std::size_t page = 0; page < found.pages(); ++page)
        for (auto row = found.offsets[page]; row < found.offsets[page + 1]; ++row)
            for (auto pair = given.offsets.data()[row]; fine && pair < given.offsets.data()[row + 1]; ++pair) {
                const std::int32_t other = given.truth.data()[pair];
                fine = other >= truth.offsets[page] && other < truth.offsets[page + 1] &&
                       truth.labels[static_cast<std::size_t>(other)] == found.labels[static_cast<std::size_t>(row)];
            }
    require(fine, "overlaps must name truth rows of the same page and label");
    return {view(given.offsets), view(given.truth), view(given.overlap), view(given.found_areas)};
}

auto bound_coco_match_given(const given::PageBoxes& truth_boxes, const given::CocoTruths& facts,
                            const given::PageBoxes& found_boxes, const Column<double>& scores,
                            const given::PairOverlaps& pairs, const given::CocoSettings& given, bool partners, int jobs) {
    const Side truth = side("truth", truth_boxes, {facts.areas.shape(0), facts.crowd.shape(0)});
    const Side found = side("found", found_boxes, {scores.shape(0)});
    check_pages(truth, found);
    require(given.thresholds.shape(0) <= most_thresholds, "at most 16 thresholds fit a mask");
    const GivenOverlaps known = overlaps(pairs, truth, found);
    const CocoSettings settings{{given.thresholds.data(), given.thresholds.data() + given.thresholds.shape(0)},
                                {given.area_ranges.data(), 2 * given.area_ranges.shape(0)},
                                given.max_detections};
    CocoMatch out;
    {
        const nb::gil_scoped_release released;
        out = coco_match_given(truth, {view(facts.areas), view(facts.crowd), {}}, found, view(scores), known, settings, partners, jobs);
    }
    const std::size_t ranges = settings.ranges(), kept = partners ? found.rows() : 0;
    return std::tuple{array(std::move(out.rank)), array(std::move(out.matched), {found.rows(), ranges}),
                      array(std::move(out.ignored), {found.rows(), ranges}),
                      array(std::move(out.truth_ignored), {truth.rows(), ranges}),
                      array(std::move(out.partners), {kept, ranges, settings.thresholds.size()})};
}

auto bound_score_order(const Column<std::int32_t>& labels, const Column<double>& scores, std::int64_t classes,
                       int jobs) {
    require(labels.shape(0) == scores.shape(0), "labels and scores must have the same length");
    require(labels.shape(0) <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()), "too many rows");
    require(classes >= 0, "the number of classes must not be negative");
    ScoreOrder out;
    {
        const nb::gil_scoped_release released;
        out = score_order(view(labels), view(scores), static_cast<std::size_t>(classes), jobs);
    }
    return std::tuple{array(std::move(out.order)), array(std::move(out.class_offsets))};
}

Curves curves(const given::ScoreOrder& ranking, const given::Verdicts& verdicts, const Counts& truths,
              std::int64_t max_detections) {
    const std::size_t rows = verdicts.rank.shape(0);
    require(truths.shape(0) <= most_thresholds, "at most 16 thresholds fit a mask");
    require(verdicts.matched.shape(0) == rows && verdicts.ignored.shape(0) == rows,
            "scores, rank, matched and ignored must have the same length");
    require(ranking.class_offsets.shape(0) == truths.shape(1) + 1,
            "class_offsets must have one entry more than there are classes");
    check_offsets("class_offsets", view(ranking.class_offsets), ranking.order.shape(0));
    std::uint32_t highest = 0;  // a negative row, taken as unsigned, is too high as well
    for (const std::int32_t row : view(ranking.order)) highest = std::max(highest, static_cast<std::uint32_t>(row));
    require(ranking.order.shape(0) == 0 || highest < rows, "order names a row that does not exist");
    return {view(ranking.order),
            view(ranking.class_offsets),
            view(verdicts.rank),
            {verdicts.matched.data(), verdicts.matched.stride(0)},
            {verdicts.ignored.data(), verdicts.ignored.stride(0)},
            {truths.data(), truths.size()},
            truths.shape(0),
            max_detections};
}

// As many as a double counts.
constexpr std::int64_t most_rows = std::int64_t{1} << 53;

auto bound_coco_accumulate(const given::ScoreOrder& ranking, const Column<double>& scores, const given::Verdicts& verdicts,
                           const Counts& truths, const Column<double>& recall_points, std::int64_t max_detections, int jobs,
                           const std::optional<Before>& before) {
    require(scores.shape(0) == verdicts.rank.shape(0), "scores, rank, matched and ignored must have the same length");
    Curves drawn = curves(ranking, verdicts, truths, max_detections);
    if (before) {
        require(before->shape(1) == drawn.thresholds && before->shape(2) == drawn.classes(),
                "before must have two tables by threshold and class");
        require(std::ranges::all_of(std::span(before->data(), before->size()),
                                    [](std::int64_t count) { return 0 <= count && count <= most_rows; }),
                "before must count rows, from 0 to 2**53");
        drawn.before = {before->data(), before->size()};
    }
    Accumulated out;
    {
        const nb::gil_scoped_release released;
        out = coco_accumulate(drawn, view(scores), view(recall_points), jobs);
    }
    const std::size_t points = recall_points.shape(0), classes = drawn.classes();
    return std::tuple{array(std::move(out.precision), {drawn.thresholds, points, classes}),
                      array(std::move(out.recall), {drawn.thresholds, classes}),
                      array(std::move(out.scores_at), {drawn.thresholds, points, classes})};
}

auto bound_coco_recall(const given::ScoreOrder& ranking, const given::Verdicts& verdicts, const Counts& truths,
                       std::int64_t max_detections, int jobs) {
    const Curves drawn = curves(ranking, verdicts, truths, max_detections);
    std::vector<double> recall;
    {
        const nb::gil_scoped_release released;
        recall = coco_recall(drawn, jobs);
    }
    return array(std::move(recall), {drawn.thresholds, drawn.classes()});
}

}  // namespace

void bind_boxes(nb::module_& m) {
    m.def("match_greedy", &bound_match_greedy, "truth"_a, "found"_a, "scores"_a, "threshold"_a, "jobs"_a = 1);
    m.def("match_best", &bound_match_best, "truth"_a, "found"_a, "jobs"_a = 1);
    m.def("pair_measures", &bound_pair_measures, "truth"_a, "found"_a, "truth_match"_a, "jobs"_a = 1);
    m.def("overlapping_pairs", &bound_overlapping_pairs, "truth"_a, "found"_a, "jobs"_a = 1);
    m.def("error_kinds", &bound_error_kinds, "truth"_a, "found"_a, "scores"_a, "truth_match"_a, "limits"_a, "jobs"_a = 1);
    m.def("page_areas", &bound_page_areas, "truth"_a, "found"_a, "jobs"_a = 1);
    m.def("coco_match", &bound_coco_match, "truth"_a, "facts"_a, "found"_a, "scores"_a, "settings"_a, "jobs"_a = 1);
    m.def("coco_match_given", &bound_coco_match_given, "truth"_a, "facts"_a, "found"_a, "scores"_a, "overlaps"_a, "settings"_a,
          "partners"_a = false, "jobs"_a = 1);
    m.def("score_order", &bound_score_order, "labels"_a, "scores"_a, "classes"_a, "jobs"_a = 1);
    m.def("coco_accumulate", &bound_coco_accumulate, "ranking"_a, "scores"_a, "verdicts"_a, "truths"_a, "recall_points"_a,
          "max_detections"_a, "jobs"_a = 1, "before"_a = nb::none());
    m.def("coco_recall", &bound_coco_recall, "ranking"_a, "verdicts"_a, "truths"_a, "max_detections"_a, "jobs"_a = 1);
}
