// Kinds of errors, page by page: each step looks at the kinds as they stand when it begins, then gives its own at once.
#include "boxes_kinds.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "boxes_groups.hpp"
#include "boxes_overlaps.hpp"
#include "parallel.hpp"
#include "area_counter.hpp"

namespace calque {

namespace {

constexpr double fits = 0.9;  // coverage or purity from which a poor box is called loose or tight and not shifted

// A truth and a prediction that share some area, counted from the first row of the page.
struct Contact {
    std::size_t truth, found;
    double iou, coverage, purity;
    bool same;  // whether they have the same label
};

bool overlaps_more(const Contact& a, const Contact& b) { return a.iou > b.iou; }

bool overlaps_more_or_alike(const Contact& a, const Contact& b) {
    return a.iou > b.iou || (a.iou == b.iou && a.same && !b.same);
}

bool is_purer(const Contact& a, const Contact& b) { return a.purity > b.purity; }

bool is_known(std::uint8_t kind) { return kind == true_positive || kind == wrong_label; }

// The objects of one side of a page: what is known of them so far.
struct Objects {
    std::size_t begin;
    std::span<std::uint8_t> kinds;
    std::span<std::int32_t> partners;  // rows of the other side

    Objects(const Side& side, std::size_t page, Rows<std::uint8_t>& all_kinds, Rows<std::int32_t>& all_partners)
        : begin(static_cast<std::size_t>(side.offsets[page])) {
        const std::size_t count = static_cast<std::size_t>(side.offsets[page + 1]) - begin;
        kinds = std::span(all_kinds).subspan(begin, count);
        partners = std::span(all_partners).subspan(begin, count);
    }

    std::size_t size() const { return kinds.size(); }
    bool is_open(std::size_t at) const { return kinds[at] == none; }
    void give(std::size_t at, Kind kind, std::size_t partner) {
        kinds[at] = kind;
        partners[at] = static_cast<std::int32_t>(partner);
    }
};

// The best contact of every truth, or of every prediction; the first among equals.
class Best {
public:
    void begin(std::size_t size) { chosen_.assign(size, nullptr); }

    template <class Better>
    void offer(std::size_t at, const Contact& contact, Better better) {
        if (!chosen_[at] || better(contact, *chosen_[at])) chosen_[at] = &contact;
    }

    template <class Visit>
    void each(Visit visit) const {
        for (const Contact* contact : chosen_)
            if (contact) visit(*contact);
    }

private:
    std::vector<const Contact*> chosen_;
};

// Reused from page to page, so that a page costs no allocation.
class PageKinds {
public:
    PageKinds(const Side& truth, const Side& found, std::span<const double> scores,
              std::span<const std::int32_t> truth_match, const KindLimits& limits, Kinds& out)
        : truth_(truth), found_(found), scores_(scores), truth_match_(truth_match), limits_(limits), out_(out),
          counter_(area_counter(truth, found)) {}

    void classify(std::size_t page) {
        if (counter_) counter_->begin(page);
        Objects truths(truth_, page, out_.truth, out_.truth_partner);
        Objects founds(found_, page, out_.found, out_.found_partner);
        find_contacts(truths, founds, page);
        take_pairs(truths, founds);
        wrong_labels(truths, founds);
        merges(truths, founds);
        splits(truths, founds);
        duplicates(truths, founds);
        misplacements(truths, founds);
        for (std::size_t at = 0; at < founds.size(); ++at)
            if (founds.is_open(at) && found_.roles[founds.begin + at] == Role::counts) founds.kinds[at] = background;
        misses(truths, founds);
    }

private:
    void find_contacts(const Objects& truths, const Objects& founds, std::size_t page) {
        contacts_.clear();
        overlaps_.each(truth_, found_, page, [&](const PageBox& truth, const PageBox& found, double shared) {
            const double overlap = iou(shared, truth.box, found.box);
            if (std::isnan(overlap)) return;  // boxes too large for a number
            contacts_.push_back({truth.row - truths.begin, found.row - founds.begin, overlap, shared / truth.box.area,
                                 shared / found.box.area, truth_.labels[truth.row] == found_.labels[found.row]});
        });
    }

    static void pair(Objects& truths, Objects& founds, std::size_t truth, std::size_t found, Kind kind) {
        truths.give(truth, kind, founds.begin + found);
        founds.give(found, kind, truths.begin + truth);
    }

    // Step 1: what precision counts as found.
    void take_pairs(Objects& truths, Objects& founds) {
        for (std::size_t at = 0; at < truths.size(); ++at) {
            const std::int32_t row = truth_match_[truths.begin + at];
            if (row >= 0) pair(truths, founds, at, static_cast<std::size_t>(row) - founds.begin, true_positive);
        }
    }

    // Step 2: the same pairing once more with what is left. Of two boxes of one label that could pair, one has paired.
    void wrong_labels(Objects& truths, Objects& founds) {
        near_.clear();
        for (const Contact& contact : contacts_)
            if (contact.iou >= limits_.match && truths.is_open(contact.truth) && founds.is_open(contact.found))
                near_.push_back(&contact);
        const auto place = [&](const Contact* contact) {
            return std::tuple{-contact->iou, falling_key(scores_[founds.begin + contact->found]), contact->found, contact->truth};
        };
        std::sort(near_.begin(), near_.end(), [&](auto* a, auto* b) { return place(a) < place(b); });
        for (const Contact* contact : near_)
            if (truths.is_open(contact->truth) && founds.is_open(contact->found))
                pair(truths, founds, contact->truth, contact->found, wrong_label);
    }

    // Step 3: predictions that hold several truths, and the truths that nothing else finds.
    void merges(Objects& truths, Objects& founds) {
        held_.assign(founds.size(), 0);
        for (const Contact& contact : contacts_)
            if (contact.coverage >= limits_.part) ++held_[contact.found];
        best_of_truth_.begin(truths.size());
        best_of_found_.begin(founds.size());
        for (const Contact& contact : contacts_) {
            if (contact.coverage < limits_.part) continue;
            const bool merging = held_[contact.found] >= 2 && founds.is_open(contact.found);
            const bool known = is_known(founds.kinds[contact.found]);
            if (merging) best_of_found_.offer(contact.found, contact, overlaps_more);
            if (!(merging || known) || !truths.is_open(contact.truth)) continue;
            best_of_truth_.offer(contact.truth, contact, overlaps_more);
            if (known) out_.subtype[founds.begin + contact.found] = swallows;
        }
        give_best(truths, founds, merged, merge);
    }

    // Step 4: truths that two or more predictions cover together, each of them a piece.
    void splits(Objects& truths, Objects& founds) {
        const auto is_piece = [&](const Contact& contact) {
            return truths.is_open(contact.truth) && founds.is_open(contact.found) && contact.purity >= limits_.part &&
                   contact.coverage < limits_.most;
        };
        collect(truths, is_piece);
        best_of_truth_.begin(truths.size());
        best_of_found_.begin(founds.size());
        each_truth(truths, [&](std::size_t, std::span<const Contact* const> pieces) {
            if (pieces.size() < 2 || covered(truths, founds, pieces) < limits_.part) return;
            for (const Contact* piece : pieces) {
                best_of_truth_.offer(piece->truth, *piece, overlaps_more);
                best_of_found_.offer(piece->found, *piece, is_purer);
            }
        });
        give_best(truths, founds, split, split);
    }

    void give_best(Objects& truths, Objects& founds, Kind truth_kind, Kind found_kind) {
        best_of_truth_.each([&](const Contact& best) { truths.give(best.truth, truth_kind, founds.begin + best.found); });
        best_of_found_.each([&](const Contact& best) { founds.give(best.found, found_kind, truths.begin + best.truth); });
    }

    // Step 5: predictions on a truth that another prediction has found.
    void duplicates(const Objects& truths, Objects& founds) {
        best_of_found_.begin(founds.size());
        for (const Contact& contact : contacts_)
            if (founds.is_open(contact.found) && is_known(truths.kinds[contact.truth]))
                best_of_found_.offer(contact.found, contact, overlaps_more_or_alike);
        best_of_found_.each([&](const Contact& best) {
            const Kind kind = best.iou >= limits_.match ? (best.same ? duplicate : duplicate_wrong_label)
                              : best.purity >= limits_.most   ? fragment
                              : best.coverage >= limits_.most ? envelope
                                                              : none;
            if (kind != none) founds.give(best.found, kind, truths.begin + best.truth);
        });
    }

    // Step 6: predictions that overlap a truth too little.
    void misplacements(Objects& truths, Objects& founds) {
        best_of_found_.begin(founds.size());
        for (const Contact& contact : contacts_)
            if (founds.is_open(contact.found)) best_of_found_.offer(contact.found, contact, overlaps_more_or_alike);
        best_of_truth_.begin(truths.size());
        best_of_found_.each([&](const Contact& best) {
            if (best.iou < limits_.background || best.iou >= limits_.match) return;
            founds.give(best.found, best.same ? misplaced : misplaced_wrong_label, truths.begin + best.truth);
            if (best.same) out_.subtype[founds.begin + best.found] = fault(best);
            if (truths.is_open(best.truth)) best_of_truth_.offer(best.truth, best, overlaps_more_or_alike);
        });
        best_of_truth_.each([&](const Contact& best) {
            truths.give(best.truth, best.same ? misplaced : misplaced_wrong_label, founds.begin + best.found);
        });
    }

    static Subtype fault(const Contact& contact) {
        const bool pure = contact.purity >= fits, whole = contact.coverage >= fits;
        return pure && !whole ? tight : whole && !pure ? loose : shifted;
    }

    // Step 8: truths that all predictions together leave alone, and those that they touch.
    void misses(Objects& truths, const Objects& founds) {
        for (std::size_t at = 0; at < truths.size(); ++at)
            if (truths.is_open(at) && truth_.roles[truths.begin + at] == Role::counts) truths.kinds[at] = missed;
        collect(truths, [&](const Contact& contact) { return truths.kinds[contact.truth] == missed; });
        each_truth(truths, [&](std::size_t truth, std::span<const Contact* const> touching) {
            if (covered(truths, founds, touching) >= limits_.background) truths.kinds[truth] = partial;
        });
    }

    // Keeps the contacts for which something holds, by truth.
    template <class Holds>
    void collect(const Objects& truths, Holds holds) {
        ends_.assign(truths.size() + 1, 0);
        for (const Contact& contact : contacts_)
            if (holds(contact)) ++ends_[contact.truth + 1];
        for (std::size_t at = 1; at < ends_.size(); ++at) ends_[at] += ends_[at - 1];
        by_truth_.resize(ends_.back());
        for (const Contact& contact : contacts_)
            if (holds(contact)) by_truth_[ends_[contact.truth]++] = &contact;
    }

    template <class Visit>
    void each_truth(const Objects& truths, Visit visit) {
        std::size_t begin = 0;
        for (std::size_t truth = 0; truth < truths.size(); ++truth) {
            if (ends_[truth] > begin) visit(truth, std::span<const Contact* const>(by_truth_).subspan(begin, ends_[truth] - begin));
            begin = ends_[truth];
        }
    }

    // The share of a truth that predictions in contact with it cover together.
    double covered(const Objects& truths, const Objects& founds, std::span<const Contact* const> contacts) {
        const std::size_t truth = truths.begin + contacts.front()->truth;
        const Box frame = truth_.box(truth);
        if (counter_) return covered_by_rows(truth, founds, contacts) / frame.area;
        clipped_.clear();
        for (const Contact* contact : contacts) {
            const Box box = found_.box(founds.begin + contact->found);
            clipped_.insert(clipped_.end(), {std::max(box.left, frame.left), std::max(box.top, frame.top),
                                             std::min(box.right, frame.right), std::min(box.bottom, frame.bottom)});
        }
        return union_.of(clipped_) / frame.area;
    }

    double covered_by_rows(std::size_t truth, const Objects& founds, std::span<const Contact* const> contacts) {
        if (contacts.size() == 1) return found_.shared.of(truth, founds.begin + contacts.front()->found);
        StateAreas sums;
        counter_->clear();
        counter_->add_truth(truth, own);
        for (const Contact* contact : contacts) counter_->add_found(founds.begin + contact->found);
        counter_->measure(sums);
        return covered_area(sums);
    }

    const Side& truth_;
    const Side& found_;
    std::span<const double> scores_;
    std::span<const std::int32_t> truth_match_;
    const KindLimits& limits_;
    Kinds& out_;

    PageOverlaps overlaps_;
    UnionArea union_;
    std::unique_ptr<AreaCounter> counter_;  // where rows are more than boxes
    std::vector<Contact> contacts_;  // by prediction, then truth
    std::vector<const Contact*> near_, by_truth_;
    std::vector<std::size_t> ends_;  // of the contacts of each truth in by_truth_
    std::vector<std::uint32_t> held_;
    Best best_of_truth_, best_of_found_;
    std::vector<double> clipped_;
};

}  // namespace

Kinds error_kinds(const Side& truth, const Side& found, std::span<const double> scores,
                  std::span<const std::int32_t> truth_match, const KindLimits& limits, int jobs) {
    Kinds out{Rows<std::uint8_t>(truth.rows(), none), Rows<std::int32_t>(truth.rows(), -1),
              Rows<std::uint8_t>(found.rows(), none), Rows<std::int32_t>(found.rows(), -1),
              Rows<std::uint8_t>(found.rows(), plain)};
    const auto cuts = page_shares(truth, found);
    in_threads(cuts.size() - 1, jobs, [&](auto next) {
        PageKinds page_kinds(truth, found, scores, truth_match, limits, out);
        for (std::size_t share; (share = next()) < cuts.size() - 1;)
            for (std::size_t page = cuts[share]; page < cuts[share + 1]; ++page) page_kinds.classify(page);
    });
    return out;
}

}  // namespace calque
