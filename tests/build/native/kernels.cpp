// Digests of matched boxes, clipped polygons and aligned words, which hold for every processor and any number of threads.
#include <vector>

#include "boxes_greedy.hpp"
#include "coco_match.hpp"
#include "polygons_overlap.hpp"
#include "self_test.hpp"
#include "words_align.hpp"

using namespace calque;

namespace {

constexpr std::size_t kPages = 200;

struct Made {
  std::vector<double> boxes, scores;
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::uint8_t> roles;

  Side side() const { return {boxes, true, labels, offsets, roles, {}, {}, {}, {}}; }
};

Made made(Random& random, std::size_t a_page) {
  Made rows;
  for (std::size_t page = 0; page < kPages; ++page) {
    for (std::size_t row = random.below(a_page); row > 0; --row) {
      for (int i = 0; i < 2; ++i) rows.boxes.push_back(static_cast<double>(random.below(3000)) / 7);
      for (int i = 0; i < 2; ++i) rows.boxes.push_back(static_cast<double>(1 + random.below(2000)) / 9);
      rows.labels.push_back(static_cast<std::int32_t>(random.below(3)));
      rows.scores.push_back(static_cast<double>(random.below(100)) / 100);
      rows.roles.push_back(counts);
    }
    rows.offsets.push_back(static_cast<std::int64_t>(rows.labels.size()));
  }
  return rows;
}

std::uint64_t greedy(const Made& truth, const Made& found, int jobs) {
  const GreedyMatch match = match_greedy(truth.side(), found.side(), found.scores, 0.1, jobs);
  return Digest().of(match.truth_match).of(match.found_match).value();
}

std::uint64_t by_score(const Made& truth, const Made& found, int jobs) {
  const std::vector<double> ranges{0, 1e10, 0, 1024};
  std::vector<double> areas;
  for (std::size_t row = 0; row < truth.labels.size(); ++row) areas.push_back(truth.boxes[4 * row + 2] * truth.boxes[4 * row + 3]);
  const std::vector<std::uint8_t> none(truth.labels.size());
  const std::vector<double> thresholds{0.1, 0.3, 0.5};
  const CocoSettings settings{thresholds, ranges, 100};
  const CocoMatch match = coco_match(truth.side(), {areas, none, {}}, found.side(), found.scores, settings, jobs);
  return Digest().of(match.rank).of(match.matched).of(match.ignored).of(match.truth_ignored).value();
}

// Quadrilaterals that are convex or not, as chance has it.
std::uint64_t polygons(Random& random, int jobs) {
  std::vector<Point> points;
  std::vector<std::int64_t> offsets{0}, first, second;
  for (int ring = 0; ring < 500; ++ring) {
    const double x = static_cast<double>(random.below(50)), y = static_cast<double>(random.below(50));
    const double width = 1 + static_cast<double>(random.below(300)) / 7, height = 1 + static_cast<double>(random.below(300)) / 7;
    const double notch = static_cast<double>(random.below(120)) / 100;
    for (const Point& point : {Point{x, y}, Point{x + width, y}, Point{x + notch * width, y + notch * height}, Point{x, y + height}})
      points.push_back(point);
    offsets.push_back(static_cast<std::int64_t>(points.size()));
  }
  for (int pair = 0; pair < 3000; ++pair) {
    first.push_back(static_cast<std::int64_t>(random.below(500)));
    second.push_back(static_cast<std::int64_t>(random.below(500)));
  }
  const Rings rings{points, offsets};
  return Digest().of(polygon_overlaps(rings, rings, first, second, jobs)).value();
}

std::uint64_t words(Random& random, int jobs) {
  std::vector<Word> first, second;
  for (int i = 0; i < 3000; ++i) first.push_back(static_cast<Word>(random.below(50)));
  for (int i = 0; i < 2500; ++i) second.push_back(static_cast<Word>(random.below(50)));
  const std::vector<std::int64_t> ends{0, 1000, 2500};
  const Sequences reference{first, ends}, predicted{second, ends};
  return Digest().of(lcs_partners(reference, predicted, 50, 1 << 20, jobs)).value();
}

void report(const char* name, std::uint64_t alone, std::uint64_t in_threads) {
  require(alone == in_threads, std::string(name) + " with any number of threads");
  std::printf("%s %016llx\n", name, static_cast<unsigned long long>(alone));
}

}  // namespace

void check_kernels() {
  Random random;
  const Made truth = made(random, 20);
  const Made found = made(random, 40);
  report("greedy", greedy(truth, found, 1), greedy(truth, found, 4));
  report("coco", by_score(truth, found, 1), by_score(truth, found, 4));
  Random same = random;
  report("polygons", polygons(random, 1), polygons(same, 4));
  report("words", words(random, 1), words(same, 4));
}
