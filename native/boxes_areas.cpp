// Exact areas of each page and label: a line sweeps over the boxes from left to right and stops at every edge.
#include "boxes_areas.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "coverage_states.hpp"
#include "boxes_groups.hpp"
#include "parallel.hpp"
#include "area_counter.hpp"

namespace calque {

namespace {

// Whether points of a state belong to each kind of area.
std::array<bool, area_kinds> kinds_of(std::size_t state) {
    const bool found = state >= 8, truth = state & 4, elsewhere = state & 2, excuse = state & 1;
    const bool stray = found && !truth;
    return {truth,
            found,
            truth && !found,
            state >= 16,
            stray && !excuse && elsewhere,
            stray && !excuse && !elsewhere,
            stray && excuse};
}

// Sizes that are no numbers would make every sum they enter none.
bool solid(const Box& box) {
    return box.left < box.right && box.top < box.bottom && std::isfinite(box.right - box.left) &&
           std::isfinite(box.bottom - box.top);
}

// The boxes that matter to one page and label, and the line that sweeps over them.
class Sweep {
public:
    void clear() { events_.clear(); }

    void add(const Box& box, Part part) {
        events_.push_back({box.left, box.top, box.bottom, part, true});
        events_.push_back({box.right, box.top, box.bottom, part, false});
    }

    // Writes the area of each state. Between two stops of the line an area is a matter of heights alone.
    void measure(StateAreas& sums) {
        std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.x < b.x; });
        steps_.clear();
        sums_.fill(0);
        for (std::size_t i = 0; i < events_.size();) {
            const double x = events_[i].x;
            for (; i < events_.size() && events_[i].x == x; ++i) pass(events_[i]);
            interrupts_.tick(steps_.size());
            if (!steps_.empty()) add_slab(events_[i].x - x);
        }
        sums = sums_;
    }

private:
    // The line comes to a box, or leaves it.
    struct Event {
        double x, top, bottom;
        Part part;
        bool enters;
    };

    // An edge of a box under the line.
    struct Step {
        double y;
        Part part;
        std::int8_t change;

        bool operator<(const Step& with) const {
            return std::tie(y, part, change) < std::tie(with.y, with.part, with.change);
        }
    };

    void pass(const Event& event) {
        for (const Step& step : {Step{event.top, event.part, 1}, Step{event.bottom, event.part, -1}}) {
            const auto at = std::lower_bound(steps_.begin(), steps_.end(), step);
            if (event.enters)
                steps_.insert(at, step);
            else
                steps_.erase(at);
        }
    }

    // Cell by cell from top to bottom; a cell without height adds nothing.
    void add_slab(double width) {
        Depth depth;
        std::size_t state = 0;
        double from = steps_.front().y;
        for (const Step& step : steps_) {
            sums_[state] += width * (step.y - from);
            from = step.y;
            depth.add(step.part, step.change);
            state = state_of(depth);
        }
    }

    std::vector<Event> events_;
    std::vector<Step> steps_;
    StateAreas sums_{};
    InterruptTicker interrupts_;
};

void add_kinds(const StateAreas& sums, double* areas) {
    for (std::size_t state = 0; state < states; ++state)
        for (std::size_t kind = 0; kind < area_kinds; ++kind)
            if (kinds_of(state)[kind]) areas[kind] += sums[state];
}

// What one thread needs; it appends the rows of its own pages.
class Surveyor {
public:
    Surveyor(const Side& truth, const Side& found, const LabelNumbers& numbers)
        : truth_(truth), found_(found), groups_(numbers), counter_(area_counter(truth, found)) {}

    void survey(std::size_t page, PageAreas& out) {
        if (counter_)
            counter_->begin(page);
        else
            read_truths(page);
        labelled_.clear();
        for (const Group& group : groups_.of(truth_, found_, page))
            if (counts(group)) labelled_.push_back({label_of(group), group});
        std::sort(labelled_.begin(), labelled_.end(), [](const auto& a, const auto& b) { return a.label < b.label; });
        for (const auto& [label, group] : labelled_) {
            StateAreas sums;
            if (counter_) {
                gather_rows(page, label, group);
                counter_->measure(sums);
            } else {
                gather(label, group);
                sweep_.measure(sums);
            }
            out.page.push_back(static_cast<std::int32_t>(page));
            out.label.push_back(label);
            out.areas.resize(out.areas.size() + area_kinds);
            add_kinds(sums, out.areas.data() + out.areas.size() - area_kinds);
        }
    }

private:
    struct Truth {
        Box box;
        std::int32_t label;
        bool absorbs;
    };
    struct Labelled {
        std::int32_t label;
        Group group;
    };

    void read_truths(std::size_t page) {
        truths_.clear();
        for (auto i = truth_.offsets[page]; i < truth_.offsets[page + 1]; ++i) {
            const auto row = static_cast<std::size_t>(i);
            const Box box = truth_.box(row);
            if (truth_.roles[row] != Role::left_out && solid(box))
                truths_.push_back({box, truth_.labels[row], truth_.roles[row] == Role::absorbs});
        }
    }

    bool counts(const Group& group) const {
        return !group.found.empty() || std::any_of(group.truth.begin(), group.truth.end(), [&](std::int32_t row) {
            return truth_.roles[static_cast<std::size_t>(row)] == Role::counts;
        });
    }

    std::int32_t label_of(const Group& group) const {
        return group.found.empty() ? truth_.labels[static_cast<std::size_t>(group.truth.front())]
                                   : found_.labels[static_cast<std::size_t>(group.found.front())];
    }

    void gather(std::int32_t label, const Group& group) {
        sweep_.clear();
        predicted_.clear();
        for (const std::int32_t row : group.found) {
            const Box box = found_.box(static_cast<std::size_t>(row));
            if (!solid(box)) continue;
            predicted_.push_back(box);
            sweep_.add(box, predicted);
        }
        for (const Truth& truth : truths_) {
            interrupts_.tick(predicted_.size());
            const bool same = truth.label == label;
            if (same && !truth.absorbs)
                sweep_.add(truth.box, own);
            else if (same == truth.absorbs && on_a_prediction(truth.box))
                sweep_.add(truth.box, same ? excusing : other);
        }
    }

    // Rows that are more than boxes: what shares nothing with a prediction is no matter here.
    void gather_rows(std::size_t page, std::int32_t label, const Group& group) {
        counter_->clear();
        on_predictions_.clear();
        const SharedAreas& shared = found_.shared;
        for (const std::int32_t i : group.found) {
            const auto row = static_cast<std::size_t>(i);
            counter_->add_found(row);
            const auto begin = shared.truths.begin();
            on_predictions_.insert(on_predictions_.end(), begin + shared.offsets[row], begin + shared.offsets[row + 1]);
        }
        std::sort(on_predictions_.begin(), on_predictions_.end());
        for (auto i = truth_.offsets[page]; i < truth_.offsets[page + 1]; ++i) {
            const auto row = static_cast<std::size_t>(i);
            if (truth_.roles[row] == Role::left_out) continue;
            const bool same = truth_.labels[row] == label, absorbs = truth_.roles[row] == Role::absorbs;
            if (same && !absorbs)
                counter_->add_truth(row, own);
            else if (same == absorbs && std::binary_search(on_predictions_.begin(), on_predictions_.end(), static_cast<std::int32_t>(i)))
                counter_->add_truth(row, same ? excusing : other);
        }
    }

    bool on_a_prediction(const Box& box) const {
        return std::any_of(predicted_.begin(), predicted_.end(), [&](const Box& found) { return touch(box, found); });
    }

    const Side& truth_;
    const Side& found_;
    PageGroups groups_;
    std::vector<Truth> truths_;  // of the page
    std::vector<Labelled> labelled_;
    std::vector<Box> predicted_;  // of the label
    std::unique_ptr<AreaCounter> counter_;  // where rows are more than boxes
    std::vector<std::int32_t> on_predictions_;
    Sweep sweep_;
    InterruptTicker interrupts_;
};

template <class T>
void append(std::vector<T>& all, const std::vector<T>& part) {
    all.insert(all.end(), part.begin(), part.end());
}

}  // namespace

PageAreas page_areas(const Side& truth, const Side& found, int jobs) {
    const LabelNumbers numbers(truth, found);
    const auto cuts = page_shares(truth, found);
    std::vector<PageAreas> parts(cuts.size() - 1);
    in_threads(parts.size(), jobs, [&](auto next) {
        Surveyor surveyor(truth, found, numbers);
        for (std::size_t share; (share = next()) < parts.size();)
            for (std::size_t page = cuts[share]; page < cuts[share + 1]; ++page) surveyor.survey(page, parts[share]);
    });
    PageAreas out;
    for (const PageAreas& part : parts) {
        append(out.page, part.page);
        append(out.label, part.label);
        append<double>(out.areas, part.areas);
    }
    out.areas.shape = {out.page.size(), area_kinds};
    return out;
}

}  // namespace calque
