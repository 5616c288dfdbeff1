// Python's view of the word kernels: checks what it is given, lets go of the GIL, hands over arrays without a copy.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "bind_arrays.hpp"
#include "words_align.hpp"
#include "words_oracle.hpp"
#include "words_split.hpp"

using namespace nanobind::literals;

namespace {

using namespace calque;

void check_words(const std::string& name, std::span<const Word> words, std::size_t vocabulary) {
    std::uint32_t highest = 0;  // a negative word, taken as unsigned, is too high as well
    for (const Word word : words) highest = std::max(highest, static_cast<std::uint32_t>(word));
    require(words.empty() || highest < vocabulary, name + " holds a word outside the vocabulary");
    require(words.size() <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()), name + " has too many words");
}

struct Pair {
    Sequences reference;
    Sequences predicted;
};

Pair checked(const Column<Word>& reference, const Column<std::int64_t>& reference_offsets, const Column<Word>& predicted,
             const Column<std::int64_t>& predicted_offsets, std::size_t vocabulary) {
    check_offsets("reference_offsets", view(reference_offsets), reference.shape(0), "words");
    check_offsets("predicted_offsets", view(predicted_offsets), predicted.shape(0), "words");
    require(reference_offsets.shape(0) == predicted_offsets.shape(0), "both sides must have the same documents");
    check_words("reference", view(reference), vocabulary);
    check_words("predicted", view(predicted), vocabulary);
    return {{view(reference), view(reference_offsets)}, {view(predicted), view(predicted_offsets)}};
}

auto bound_lcs_lengths(const Column<Word>& reference, const Column<std::int64_t>& reference_offsets,
                       const Column<Word>& predicted, const Column<std::int64_t>& predicted_offsets, std::size_t vocabulary,
                       int jobs) {
    const Pair pair = checked(reference, reference_offsets, predicted, predicted_offsets, vocabulary);
    std::vector<std::int64_t> out;
    {
        const nb::gil_scoped_release released;
        out = lcs_lengths(pair.reference, pair.predicted, vocabulary, jobs);
    }
    return array(std::move(out));
}

auto bound_lcs_partners(const Column<Word>& reference, const Column<std::int64_t>& reference_offsets,
                        const Column<Word>& predicted, const Column<std::int64_t>& predicted_offsets, std::size_t vocabulary,
                        std::size_t log_limit, int jobs) {
    const Pair pair = checked(reference, reference_offsets, predicted, predicted_offsets, vocabulary);
    std::vector<std::int32_t> out;
    {
        const nb::gil_scoped_release released;
        out = lcs_partners(pair.reference, pair.predicted, vocabulary, log_limit, jobs);
    }
    return array(std::move(out));
}

auto bound_bag_matches(const Column<Word>& reference, const Column<std::int64_t>& reference_offsets,
                       const Column<Word>& predicted, const Column<std::int64_t>& predicted_offsets, std::size_t vocabulary,
                       int jobs) {
    const Pair pair = checked(reference, reference_offsets, predicted, predicted_offsets, vocabulary);
    std::vector<std::int64_t> out;
    {
        const nb::gil_scoped_release released;
        out = bag_matches(pair.reference, pair.predicted, vocabulary, jobs);
    }
    return array(std::move(out));
}

Lattice lattice(const Column<std::int32_t>& from, const Column<std::int32_t>& to, const Column<std::int64_t>& offsets,
                const Column<Word>& words, const Column<std::uint8_t>& final_nodes, std::size_t vocabulary) {
    const Lattice made{view(from), view(to), view(offsets), view(words), view(final_nodes)};
    require(made.nodes() > 0 && from.shape(0) == to.shape(0) && offsets.shape(0) == from.shape(0) + 1,
            "every edge needs a from, a to and words, and there must be a node");
    check_offsets("word_offsets", made.offsets, words.shape(0), "words");
    check_words("words", made.words, vocabulary);
    for (std::size_t edge = 0; edge < made.edges(); ++edge)
        require(0 <= made.from[edge] && made.from[edge] < made.to[edge] &&
                    static_cast<std::size_t>(made.to[edge]) < made.nodes(),
                "edges must lead from a lower to a higher node");
    // Edges lead upwards: where every node is final or has an edge, a path from any of them ends in a final one.
    std::vector<std::uint8_t> leads_on(made.final_nodes.begin(), made.final_nodes.end());
    for (const std::int32_t node : made.from) leads_on[static_cast<std::size_t>(node)] = 1;
    require(std::all_of(leads_on.begin(), leads_on.end(), [](std::uint8_t each) { return each != 0; }),
            "every node must lead to a final one");
    return made;
}

auto bound_lattice_path(const Column<Word>& reference, const Column<std::int32_t>& edge_from,
                        const Column<std::int32_t>& edge_to, const Column<std::int64_t>& word_offsets,
                        const Column<Word>& words, const Column<std::uint8_t>& final_nodes, std::size_t vocabulary,
                        std::size_t row_limit) {
    check_words("reference", view(reference), vocabulary);
    const Lattice made = lattice(edge_from, edge_to, word_offsets, words, final_nodes, vocabulary);
    BestPath out;
    {
        const nb::gil_scoped_release released;
        out = best_path(view(reference), made, vocabulary, row_limit);
    }
    return std::pair{out.matches, array(std::move(out.edges))};
}

auto bound_split_words(const nb::typed<nb::list, nb::bytes>& texts) {
    std::vector<std::string_view> views;
    for (const nb::handle text : texts) {
        const auto data = nb::cast<nb::bytes>(text);
        views.emplace_back(data.c_str(), data.size());  // the list keeps the bytes alive
    }
    SplitWords out;
    {
        const nb::gil_scoped_release released;
        out = split_words(views);
    }
    require(out.codes.size() <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()), "too many words");
    return std::tuple{array(std::move(out.codes)), array(std::move(out.offsets)), array(std::move(out.vocabulary)),
                      array(std::move(out.vocabulary_offsets))};
}

}  // namespace

void bind_words(nb::module_& m) {
    m.def("lcs_lengths", &bound_lcs_lengths, "reference"_a, "reference_offsets"_a, "predicted"_a, "predicted_offsets"_a,
          "vocabulary"_a, "jobs"_a, "For each document the length of the longest common subsequence.");
    m.def("lcs_partners", &bound_lcs_partners, "reference"_a, "reference_offsets"_a, "predicted"_a, "predicted_offsets"_a,
          "vocabulary"_a, "log_limit"_a, "jobs"_a, "For each reference word the position of its partner, or -1.");
    m.def("bag_matches", &bound_bag_matches, "reference"_a, "reference_offsets"_a, "predicted"_a, "predicted_offsets"_a,
          "vocabulary"_a, "jobs"_a, "For each document how many words both sides have, in any order.");
    m.def("lattice_path", &bound_lattice_path, "reference"_a, "edge_from"_a, "edge_to"_a, "word_offsets"_a, "words"_a,
          "final_nodes"_a, "vocabulary"_a, "row_limit"_a, "The most words that a path shares with the reference, in order, and the edges of the best path.");
    m.def("split_words", &bound_split_words, "texts"_a, "Words of UTF-8 texts, split at white space and numbered.");
}
