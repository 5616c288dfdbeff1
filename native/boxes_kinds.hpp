// Why a prediction or a truth is wrong: exactly one kind for each.
#pragma once

#include <cstdint>
#include <tuple>
#include <span>

#include "boxes_tables.hpp"
#include "columns.hpp"

namespace calque {

// The numbers of calque.kernels.structs.Kind, where each is explained.
enum Kind : std::uint8_t {
    none, true_positive, wrong_label, merge, merged, split, duplicate, duplicate_wrong_label, fragment, envelope,
    misplaced, misplaced_wrong_label, background, missed, partial
};

// The numbers of calque.kernels.structs.Subtype.
enum Subtype : std::uint8_t { plain, tight, loose, shifted, swallows };

struct KindLimits {
    double match, background, part, most;

    auto fields() { return std::tie(match, background, part, most); }
};

// For each row its kind, and the row of the other side that explains it (or -1).
struct Kinds {
    Rows<std::uint8_t> truth;
    Rows<std::int32_t> truth_partner;
    Rows<std::uint8_t> found;
    Rows<std::int32_t> found_partner;
    Rows<std::uint8_t> subtype;

    auto fields() { return std::tie(truth, truth_partner, found, found_partner, subtype); }
};

// truth_match holds the row of the prediction that finds a truth, or -1.
Kinds error_kinds(const Side& truth, const Side& found, std::span<const double> scores,
                  std::span<const std::int32_t> truth_match, const KindLimits& limits, int jobs);

}  // namespace calque
