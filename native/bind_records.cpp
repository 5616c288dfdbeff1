// Texts and lists of records for Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include "bind_structs.hpp"
#include "records_lines.hpp"
#include "records_lists.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace calque;

Texts checked(const given::TextPoints& texts) {
    check_offsets("texts.offsets", view(texts.offsets), texts.points.shape(0), "points");
    const auto points = view(texts.points);
    require(std::all_of(points.begin(), points.end(), [](auto point) { return point >= 0; }), "points must not be negative");
    return {points, view(texts.offsets)};
}

void check_numbers(std::span<const std::int32_t> numbers, std::size_t texts) {
    require(std::all_of(numbers.begin(), numbers.end(),
                        [=](auto number) { return number >= 0 && static_cast<std::size_t>(number) < texts; }),
            "pairs must be numbers of texts");
}

auto bound_edit_distances(const given::TextPoints& texts, const Column<std::int32_t>& first, const Column<std::int32_t>& second,
                          int /*jobs*/) {
    const Texts known = checked(texts);
    require(first.shape(0) == second.shape(0), "each pair needs two texts");
    check_numbers(view(first), known.size());
    check_numbers(view(second), known.size());
    std::vector<std::int32_t> distances(first.shape(0));
    {
        const nb::gil_scoped_release released;
        edit_distances(known, view(first), view(second), distances);
    }
    return array(std::move(distances));
}

auto bound_plain_partners(const Column<double>& scores, const Column<std::int64_t>& heights, const Column<std::int64_t>& widths,
                          double slack) {
    require(heights.shape(0) == widths.shape(0), "each matrix needs a height and a width");
    std::size_t rows = 0, cells = 0;
    for (std::size_t i = 0; i < heights.shape(0); ++i) {
        require(heights.data()[i] > 0 && widths.data()[i] > 0, "matrices must not be empty");
        rows += static_cast<std::size_t>(heights.data()[i]);
        cells += static_cast<std::size_t>(heights.data()[i]) * static_cast<std::size_t>(widths.data()[i]);
    }
    require(cells == scores.shape(0), "matrices must have height times width scores");
    std::vector<std::int32_t> partners(rows);
    std::vector<std::uint8_t> settled(heights.shape(0));
    {
        const nb::gil_scoped_release released;
        plain_partners(view(scores), view(heights), view(widths), slack, partners, settled);
    }
    return std::tuple{array(std::move(partners)), array(std::move(settled))};
}

// Bytes that are UTF-8 but for lone surrogates, which JSON can escape.
nb::object to_str(std::string_view bytes) {
    PyObject* const made = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogatepass");
    if (made == nullptr) nb::raise_python_error();
    return nb::steal(made);
}

nb::object to_object(const records::LeafColumn& column, const records::Value& value) {
    switch (value.kind) {
        case records::Value::text: return to_str(column.texts[static_cast<std::size_t>(value.integer)]);
        case records::Value::whole: return nb::int_(value.integer);
        case records::Value::real: return nb::float_(value.number);
        default: return nb::bool_(value.integer != 0);
    }
}

nb::tuple to_tuple(records::LeafColumn& column) {
    nb::list values;
    for (const auto& value : column.values) values.append(to_object(column, value));
    const std::size_t size = column.codes.size();
    return nb::make_tuple(array(std::move(column.codes)), values, array(std::move(column.confidences)),
                          array(std::move(column.boxes), {size, 4}), array(std::move(column.pages)),
                          array(std::move(column.ranks)));
}

nb::tuple to_tuple(records::ListColumn& list) {
    nb::list leaves;
    for (auto& leaf : list.leaves) leaves.append(to_tuple(leaf));
    return nb::make_tuple(array(std::move(list.states)), array(std::move(list.offsets)), leaves);
}

constexpr std::array<std::string_view, 4> kinds{"leaf", "items", "object", "ignored"};  // as in records::Field

// Fields as Python has them: a key, what it is, and the keys of the items where it is a list.
records::LineReader reader_of(const std::vector<std::tuple<std::string, std::string, std::vector<std::string>>>& fields,
                              bool paired, bool sized) {
    std::vector<records::Field> made;
    for (const auto& [key, kind, keys] : fields) {
        auto& field = made.emplace_back();
        const auto known = std::find(kinds.begin(), kinds.end(), kind);
        require(known != kinds.end(), "a field is leaf, items, object or ignored");
        field.kind = static_cast<records::Field::Kind>(known - kinds.begin());
        field.key = key;
        field.list.keys = keys;
        field.list.leaves.resize(keys.size());
    }
    return records::LineReader(std::move(made), paired, sized);
}

// The columns, which the reader has no longer.
nb::tuple columns_of(records::LineReader& reader) {
    nb::list fields;
    for (auto& field : reader.fields) {
        if (field.kind == records::Field::leaf) fields.append(to_tuple(field.column));
        if (field.kind == records::Field::items || field.kind == records::Field::object) fields.append(to_tuple(field.list));
    }
    nb::list outside;
    for (const auto& [document, key] : reader.outside) outside.append(nb::make_tuple(document, to_str(key)));
    return nb::make_tuple(fields, array(std::move(reader.boxes)), array(std::move(reader.ignored_boxes)),
                          array(std::move(reader.unknown)), outside);
}

}  // namespace

void bind_records(nb::module_& m) {
    nb::class_<records::LineReader>(m, "LineReader", "Reads records, one JSON object a line, into columns.")
        .def("__init__",
             [](records::LineReader* self, const std::vector<std::tuple<std::string, std::string, std::vector<std::string>>>& fields,
                bool paired, bool sized) { new (self) records::LineReader(reader_of(fields, paired, sized)); },
             "fields"_a, "paired"_a, "sized"_a)
        .def("__len__", &records::LineReader::size)
        .def(
            "add",
            [](records::LineReader& self, const nb::bytes& line, const std::string& id_key) {
                return self.add(line.c_str(), line.size(), id_key);
            },
            "line"_a, "id_key"_a, "Take a record in, if it is plain; says whether it is.")
        .def("cut", &records::LineReader::cut, "documents"_a, "Keep only so many documents.")
        .def("columns", &columns_of, "What was taken in; the reader does not have it any longer.");
    m.def("edit_distances", &bound_edit_distances, "texts"_a, "first"_a, "second"_a, "jobs"_a = 1,
          "The edit distance of the texts of each pair.");
    m.def("plain_partners", &bound_plain_partners, "scores"_a, "heights"_a, "widths"_a, "slack"_a,
          "For each row of many matrices its partner where that is plain, else -1; and which matrices are settled by that.");
}
