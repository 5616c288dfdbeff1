// Python's view of the box and COCO kernels: checks what it is given, lets go of the GIL, hands over arrays without a
// copy.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <limits>
#include <optional>
#include <string>

#include "bind_arrays.hpp"
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

template <class T>
using Strided = nb::ndarray<const T, nb::ndim<1>, nb::device::cpu>;
using Counts = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Before = nb::ndarray<const std::int64_t, nb::shape<2, -1, -1>, nb::c_contig, nb::device::cpu>;
using Boxes = nb::ndarray<const double, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>;
using Ranges = nb::ndarray<const double, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
// A side where labels play no part.
Side unlabelled_side(const std::string& name, const Boxes& boxes, const Column<std::int64_t>& offsets,
                     const Column<std::uint8_t>& roles, std::initializer_list<std::size_t> other_lengths = {}) {
    const std::size_t rows = boxes.shape(0);
    bool fine = roles.shape(0) == rows;
    for (const std::size_t length : other_lengths) fine = fine && length == rows;
    require(fine, "every " + name + " column must have as many rows as " + name + "_boxes");
    require(rows <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()), "too many rows");
    check_offsets(name + "_offsets", view(offsets), rows);
    return {{boxes.data(), 4 * rows}, {}, view(offsets), view(roles)};
}

Side side(const std::string& name, const Boxes& boxes, const Column<std::int32_t>& labels,
          const Column<std::int64_t>& offsets, const Column<std::uint8_t>& roles,
          std::initializer_list<std::size_t> other_lengths) {
    Side out = unlabelled_side(name, boxes, offsets, roles, other_lengths);
    require(labels.shape(0) == out.rows(), "every " + name + " column must have as many rows as " + name + "_boxes");
    out.labels = view(labels);
    return out;
}

void check_pages(const Side& truth, const Side& found) {
    require(truth.pages() == found.pages(), "truth_offsets and found_offsets must have the same number of pages");
}

void check_matches(const Side& truth, const Side& found, std::span<const std::int32_t> truth_match) {
    bool fine = true;
    for (std::size_t page = 0; page < truth.pages(); ++page)
        for (auto row = truth.offsets[page]; row < truth.offsets[page + 1]; ++row) {
            const std::int32_t match = truth_match[static_cast<std::size_t>(row)];
            fine = fine && (match < 0 || (match >= found.offsets[page] && match < found.offsets[page + 1]));
        }
    require(fine, "truth_match must name rows of the same page");
}

auto bound_match_greedy(const Boxes& truth_boxes, const Column<std::int32_t>& truth_labels,
                        const Column<std::int64_t>& truth_offsets, const Column<std::uint8_t>& truth_roles,
                        const Boxes& found_boxes, const Column<std::int32_t>& found_labels,
                        const Column<std::int64_t>& found_offsets, const Column<double>& found_scores,
                        const Column<std::uint8_t>& found_roles, bool xywh, double threshold, int jobs) {
    const Side truth = side("truth", truth_boxes, truth_labels, truth_offsets, truth_roles, {});
    const Side found = side("found", found_boxes, found_labels, found_offsets, found_roles, {found_scores.shape(0)});
    check_pages(truth, found);
    GreedyMatch out;
    {
        const nb::gil_scoped_release released;
        out = match_greedy(truth, found, view(found_scores), xywh, threshold, jobs);
    }
    return std::tuple{array(std::move(out.truth_match)), array(std::move(out.found_match)),
                      array(std::move(out.intersection)), array(std::move(out.absorbed))};
}

auto bound_pair_measures(const Boxes& truth_boxes, const Boxes& found_boxes, const Column<std::int32_t>& truth_match, bool xywh,
                         int jobs) {
    require(truth_match.shape(0) == truth_boxes.shape(0), "truth_match must have as many rows as truth_boxes");
    bool fine = true;
    for (const std::int32_t row : view(truth_match)) fine = fine && row < static_cast<std::int64_t>(found_boxes.shape(0));
    require(fine, "truth_match names a row that does not exist");
    PairMeasures out;
    {
        const nb::gil_scoped_release released;
        out = pair_measures({truth_boxes.data(), 4 * truth_boxes.shape(0)}, {found_boxes.data(), 4 * found_boxes.shape(0)},
                            view(truth_match), xywh, jobs);
    }
    return std::tuple{array(std::move(out.iou)), array(std::move(out.coverage)), array(std::move(out.purity)),
                      array(std::move(out.edges), {truth_boxes.shape(0), 4}), array(std::move(out.found_iou))};
}

auto bound_match_best(const Boxes& truth_boxes, const Column<std::int32_t>& truth_labels, const Column<std::int64_t>& truth_offsets,
                      const Column<std::uint8_t>& truth_roles, const Boxes& found_boxes, const Column<std::int32_t>& found_labels,
                      const Column<std::int64_t>& found_offsets, const Column<std::uint8_t>& found_roles, bool xywh, int jobs) {
    const Side truth = side("truth", truth_boxes, truth_labels, truth_offsets, truth_roles, {});
    const Side found = side("found", found_boxes, found_labels, found_offsets, found_roles, {});
    check_pages(truth, found);
    BestMatch out;
    {
        const nb::gil_scoped_release released;
        out = match_best(truth, found, xywh, jobs);
    }
    return std::tuple{array(std::move(out.match)), array(std::move(out.iou))};
}

auto bound_overlapping_pairs(const Boxes& truth_boxes, const Column<std::int64_t>& truth_offsets,
                             const Column<std::uint8_t>& truth_roles, const Boxes& found_boxes,
                             const Column<std::int64_t>& found_offsets, const Column<std::uint8_t>& found_roles,
                             bool xywh, int jobs) {
    const Side truth = unlabelled_side("truth", truth_boxes, truth_offsets, truth_roles);
    const Side found = unlabelled_side("found", found_boxes, found_offsets, found_roles);
    check_pages(truth, found);
    Overlaps out;
    {
        const nb::gil_scoped_release released;
        out = overlapping_pairs(truth, found, xywh, jobs);
    }
    return std::tuple{array(std::move(out.truth)), array(std::move(out.found)), array(std::move(out.shared))};
}

auto bound_union_areas(const Boxes& boxes, const Column<std::int64_t>& offsets, int jobs) {
    check_offsets("offsets", view(offsets), boxes.shape(0));
    std::vector<double> out;
    {
        const nb::gil_scoped_release released;
        out = union_areas({boxes.data(), 4 * boxes.shape(0)}, view(offsets), jobs);
    }
    return array(std::move(out));
}

auto bound_error_kinds(const Boxes& truth_boxes, const Column<std::int32_t>& truth_labels,
                       const Column<std::int64_t>& truth_offsets, const Column<std::uint8_t>& truth_roles,
                       const Column<std::int32_t>& truth_match, const Boxes& found_boxes,
                       const Column<std::int32_t>& found_labels, const Column<std::int64_t>& found_offsets,
                       const Column<double>& found_scores, const Column<std::uint8_t>& found_roles, bool xywh,
                       const Column<double>& limits, int jobs) {
    const Side truth = side("truth", truth_boxes, truth_labels, truth_offsets, truth_roles, {truth_match.shape(0)});
    const Side found = side("found", found_boxes, found_labels, found_offsets, found_roles, {found_scores.shape(0)});
    check_pages(truth, found);
    check_matches(truth, found, view(truth_match));
    require(limits.shape(0) == 4, "limits must be four numbers");
    Kinds out;
    {
        const nb::gil_scoped_release released;
        out = error_kinds(truth, found, view(found_scores), view(truth_match), xywh,
                          {limits.data()[0], limits.data()[1], limits.data()[2], limits.data()[3]}, jobs);
    }
    return std::tuple{array(std::move(out.truth)), array(std::move(out.truth_partner)), array(std::move(out.found)),
                      array(std::move(out.found_partner)), array(std::move(out.subtype))};
}

auto bound_page_areas(const Boxes& truth_boxes, const Column<std::int32_t>& truth_labels,
                      const Column<std::int64_t>& truth_offsets, const Column<std::uint8_t>& truth_roles,
                      const Boxes& found_boxes, const Column<std::int32_t>& found_labels,
                      const Column<std::int64_t>& found_offsets, const Column<std::uint8_t>& found_roles, bool xywh,
                      int jobs) {
    const Side truth = side("truth", truth_boxes, truth_labels, truth_offsets, truth_roles, {});
    const Side found = side("found", found_boxes, found_labels, found_offsets, found_roles, {});
    check_pages(truth, found);
    PageAreas out;
    {
        const nb::gil_scoped_release released;
        out = page_areas(truth, found, xywh, jobs);
    }
    const std::size_t rows = out.page.size();
    return std::tuple{array(std::move(out.page)), array(std::move(out.label)),
                      array(std::move(out.areas), {rows, area_kinds})};
}

auto bound_coco_match(const Boxes& truth_boxes, const Column<std::int32_t>& truth_labels,
                      const Column<std::int64_t>& truth_offsets, const Column<double>& truth_areas,
                      const Column<std::uint8_t>& truth_crowd, const Column<std::uint8_t>& truth_ignore,
                      const Column<std::uint8_t>& truth_roles, const Boxes& found_boxes,
                      const Column<std::int32_t>& found_labels, const Column<std::int64_t>& found_offsets,
                      const Column<double>& found_scores, const Column<std::uint8_t>& found_roles, bool xywh,
                      const Column<double>& thresholds, const Ranges& area_ranges, std::int64_t max_detections,
                      int jobs) {
    const Side truth = side("truth", truth_boxes, truth_labels, truth_offsets, truth_roles,
                            {truth_areas.shape(0), truth_crowd.shape(0), truth_ignore.shape(0)});
    const Side found = side("found", found_boxes, found_labels, found_offsets, found_roles, {found_scores.shape(0)});
    check_pages(truth, found);
    require(thresholds.shape(0) <= most_thresholds, "at most 16 thresholds fit a mask");
    const CocoSettings settings{xywh,
                                {thresholds.data(), thresholds.data() + thresholds.shape(0)},
                                {area_ranges.data(), 2 * area_ranges.shape(0)},
                                max_detections};
    CocoMatch out;
    {
        const nb::gil_scoped_release released;
        out = coco_match(truth, {view(truth_areas), view(truth_crowd), view(truth_ignore)}, found, view(found_scores),
                         settings, jobs);
    }
    const std::size_t ranges = settings.ranges();
    return std::tuple{array(std::move(out.rank)), array(std::move(out.matched), {found.rows(), ranges}),
                      array(std::move(out.ignored), {found.rows(), ranges}),
                      array(std::move(out.truth_ignored), {truth.rows(), ranges})};
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

Curves curves(const Column<std::int32_t>& order, const Column<std::int64_t>& class_offsets,
              const Column<std::int32_t>& rank, const Strided<Mask>& matched, const Strided<Mask>& ignored,
              const Counts& truths, std::int64_t max_detections) {
    require(truths.shape(0) <= most_thresholds, "at most 16 thresholds fit a mask");
    require(matched.shape(0) == rank.shape(0) && ignored.shape(0) == rank.shape(0),
            "scores, rank, matched and ignored must have the same length");
    require(class_offsets.shape(0) == truths.shape(1) + 1,
            "class_offsets must have one entry more than there are classes");
    check_offsets("class_offsets", view(class_offsets), order.shape(0));
    std::uint32_t highest = 0;  // a negative row, taken as unsigned, is too high as well
    for (const std::int32_t row : view(order)) highest = std::max(highest, static_cast<std::uint32_t>(row));
    require(order.shape(0) == 0 || highest < rank.shape(0), "order names a row that does not exist");
    return {view(order),
            view(class_offsets),
            view(rank),
            {matched.data(), matched.stride(0)},
            {ignored.data(), ignored.stride(0)},
            {truths.data(), truths.size()},
            truths.shape(0),
            max_detections};
}

auto bound_coco_accumulate(const Column<std::int32_t>& order, const Column<std::int64_t>& class_offsets,
                           const Column<double>& scores, const Column<std::int32_t>& rank, const Strided<Mask>& matched,
                           const Strided<Mask>& ignored, const Counts& truths, const Column<double>& recall_points,
                           std::int64_t max_detections, int jobs, const std::optional<Before>& before) {
    require(scores.shape(0) == rank.shape(0), "scores, rank, matched and ignored must have the same length");
    Curves drawn = curves(order, class_offsets, rank, matched, ignored, truths, max_detections);
    if (before) {
        require(before->shape(1) == drawn.thresholds && before->shape(2) == drawn.classes(),
                "before must have two tables by threshold and class");
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

auto bound_coco_recall(const Column<std::int32_t>& order, const Column<std::int64_t>& class_offsets,
                       const Column<std::int32_t>& rank, const Strided<Mask>& matched, const Strided<Mask>& ignored,
                       const Counts& truths, std::int64_t max_detections, int jobs) {
    const Curves drawn =
        curves(order, class_offsets, rank, matched, ignored, truths, max_detections);
    std::vector<double> recall;
    {
        const nb::gil_scoped_release released;
        recall = coco_recall(drawn, jobs);
    }
    return array(std::move(recall), {drawn.thresholds, drawn.classes()});
}

}  // namespace

void bind_boxes(nb::module_& m) {
    m.def("match_greedy", &bound_match_greedy, "truth_boxes"_a, "truth_labels"_a, "truth_offsets"_a, "truth_roles"_a,
          "found_boxes"_a, "found_labels"_a, "found_offsets"_a, "found_scores"_a, "found_roles"_a, "xywh"_a,
          "threshold"_a, "jobs"_a = 1);
    m.def("pair_measures", &bound_pair_measures, "truth_boxes"_a, "found_boxes"_a, "truth_match"_a, "xywh"_a, "jobs"_a = 1);
    m.def("match_best", &bound_match_best, "truth_boxes"_a, "truth_labels"_a, "truth_offsets"_a, "truth_roles"_a,
          "found_boxes"_a, "found_labels"_a, "found_offsets"_a, "found_roles"_a, "xywh"_a, "jobs"_a = 1);
    m.def("overlapping_pairs", &bound_overlapping_pairs, "truth_boxes"_a, "truth_offsets"_a, "truth_roles"_a,
          "found_boxes"_a, "found_offsets"_a, "found_roles"_a, "xywh"_a, "jobs"_a = 1);
    m.def("union_areas", &bound_union_areas, "boxes"_a, "offsets"_a, "jobs"_a = 1);
    m.def("error_kinds", &bound_error_kinds, "truth_boxes"_a, "truth_labels"_a, "truth_offsets"_a, "truth_roles"_a,
          "truth_match"_a, "found_boxes"_a, "found_labels"_a, "found_offsets"_a, "found_scores"_a, "found_roles"_a,
          "xywh"_a, "limits"_a, "jobs"_a = 1);
    m.def("page_areas", &bound_page_areas, "truth_boxes"_a, "truth_labels"_a, "truth_offsets"_a, "truth_roles"_a,
          "found_boxes"_a, "found_labels"_a, "found_offsets"_a, "found_roles"_a, "xywh"_a, "jobs"_a = 1);
    m.def("coco_match", &bound_coco_match, "truth_boxes"_a, "truth_labels"_a, "truth_offsets"_a, "truth_areas"_a,
          "truth_crowd"_a, "truth_ignore"_a, "truth_roles"_a, "found_boxes"_a, "found_labels"_a, "found_offsets"_a,
          "found_scores"_a, "found_roles"_a, "xywh"_a, "thresholds"_a, "area_ranges"_a, "max_detections"_a,
          "jobs"_a = 1);
    m.def("score_order", &bound_score_order, "labels"_a, "scores"_a, "classes"_a, "jobs"_a = 1);
    m.def("coco_accumulate", &bound_coco_accumulate, "order"_a, "class_offsets"_a, "scores"_a, "rank"_a, "matched"_a,
          "ignored"_a, "truths"_a, "recall_points"_a, "max_detections"_a, "jobs"_a = 1, "before"_a = nb::none());
    m.def("coco_recall", &bound_coco_recall, "order"_a, "class_offsets"_a, "rank"_a, "matched"_a, "ignored"_a,
          "truths"_a, "max_detections"_a, "jobs"_a = 1);
}
