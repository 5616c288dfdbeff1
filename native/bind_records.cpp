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

#include "bind_records.hpp"
#include "records_assignment.hpp"
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

// Values of one side that a field has keys or texts for.
void check_values(std::span<const std::int32_t> codes, std::size_t values, const char* what) {
    require(std::all_of(codes.begin(), codes.end(), [=](auto code) { return code < 0 || static_cast<std::size_t>(code) < values; }),
            std::string("each value needs ") + what);
}

ItemLeaf checked(const given::ItemLeaf& leaf, std::size_t pairs) {
    ItemLeaf made{view(leaf.truth), view(leaf.found), leaf.weight, {}, {}, {}, static_cast<std::size_t>(leaf.truth_texts), {}};
    require(leaf.weight >= 0, "weights must not be negative");
    require(leaf.truth_keys.has_value() == leaf.found_keys.has_value(), "keys must be given for both sides or for none");
    if (leaf.truth_keys) {
        made.truth_keys = view(*leaf.truth_keys);
        made.found_keys = view(*leaf.found_keys);
        check_values(made.truth, made.truth_keys->size(), "a key");
        check_values(made.found, made.found_keys->size(), "a key");
    }
    if (leaf.texts) {
        made.texts = checked(*leaf.texts);
        require(leaf.truth_texts >= 0 && made.truth_texts <= made.texts->size(), "truth_texts must be a number of texts");
        check_values(made.truth, made.truth_texts, "a text");
        check_values(made.found, made.texts->size() - made.truth_texts, "a text");
    }
    if (leaf.scores) {
        made.scores = view(*leaf.scores);
        require(made.scores->size() == pairs, "each pair of items needs a score");
    }
    return made;
}

// Checks that every list has items, and that they are there.
std::size_t checked_pairs(const given::ItemRows& lists, const std::vector<given::ItemLeaf>& leaves) {
    const std::size_t size = lists.heights.shape(0);
    require(lists.truth.shape(0) == size && lists.found.shape(0) == size && lists.widths.shape(0) == size,
            "each list needs a place and a length on both sides");
    const auto within = [](std::int64_t first, std::int64_t count, std::size_t items) {
        return first >= 0 && count > 0 && static_cast<std::size_t>(first) <= items &&
               static_cast<std::size_t>(count) <= items - static_cast<std::size_t>(first);
    };
    std::size_t pairs = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const std::int64_t height = lists.heights.data()[i], width = lists.widths.data()[i];
        require(height > 0 && width > 0, "lists must not be empty");
        for (const auto& leaf : leaves)
            require(within(lists.truth.data()[i], height, leaf.truth.shape(0)) &&
                        within(lists.found.data()[i], width, leaf.found.shape(0)),
                    "lists must lie within the items");
        pairs += static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
    }
    return pairs;
}

auto bound_item_partners(const std::vector<given::ItemLeaf>& leaves, const given::ItemRows& lists, double slack) {
    require(!leaves.empty(), "items need a field");
    const std::size_t pairs = checked_pairs(lists, leaves);
    std::vector<ItemLeaf> made;
    for (const auto& leaf : leaves) made.push_back(checked(leaf, pairs));
    const auto heights = view(lists.heights);
    std::vector<std::int32_t> partners(static_cast<std::size_t>(std::accumulate(heights.begin(), heights.end(), std::int64_t{0})));
    std::vector<std::uint8_t> settled(heights.size());
    {
        const nb::gil_scoped_release released;
        item_partners(made, {view(lists.truth), heights, view(lists.found), view(lists.widths)}, slack, partners, settled);
    }
    return std::tuple{array(std::move(partners)), array(std::move(settled))};
}

auto bound_best_partners(const Column<std::int64_t>& worth, const Column<std::int64_t>& heights, const Column<std::int64_t>& widths) {
    const auto pairs = view(worth), rows = view(heights), columns = view(widths);
    require(rows.size() == columns.size(), "each matrix needs a height and a width");
    std::size_t size = 0, partners = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        require(rows[i] > 0 && rows[i] <= columns[i] && columns[i] <= most_items, "matrices must be at least as wide as high");
        size += static_cast<std::size_t>(rows[i] * columns[i]);
        partners += static_cast<std::size_t>(rows[i]);
    }
    require(size == pairs.size(), "each pair needs its worth");
    require(std::all_of(pairs.begin(), pairs.end(), [](auto each) { return each >= 0 && each <= most_worth; }),
            "a pair is worth too much, or less than nothing");
    std::vector<std::int32_t> found(partners);
    {
        const nb::gil_scoped_release released;
        best_partners(pairs, rows, columns, found);
    }
    return array(std::move(found));
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

using Kinds = std::array<bool, 4>;

Kinds kinds_in(const std::vector<records::Value>& values) {
    Kinds there{};
    for (const auto& value : values) there[value.kind] = true;
    return there;
}

// The types of some values: a set that tells whether each has to be looked at.
nb::object to_types(const Kinds& there) {
    const std::array<PyTypeObject*, 4> types{&PyUnicode_Type, &PyLong_Type, &PyFloat_Type, &PyBool_Type};  // as in records::Value
    nb::set found;
    for (std::size_t kind = 0; kind < types.size(); ++kind)
        if (there[kind]) found.add(nb::borrow(reinterpret_cast<PyObject*>(types[kind])));
    return nb::steal(PyFrozenSet_New(found.ptr()));
}

// A list; or, where all are texts, their bytes and where each begins, and where all are numbers with a fraction, an array: as
// many objects would cost more than reading them.
nb::object to_values(records::LeafColumn& column, const Kinds& there) {
    if (there == Kinds{true, false, false, false})
        return nb::make_tuple(array(std::move(column.texts.bytes)), array(std::move(column.texts.offsets)));
    if (there == Kinds{false, false, true, false}) {
        std::vector<double> numbers;
        numbers.reserve(column.values.size());
        for (const auto& value : column.values) numbers.push_back(value.number);
        return nb::cast(array(std::move(numbers)));
    }
    nb::list values;
    for (const auto& value : column.values) values.append(to_object(column, value));
    return values;
}

// None where no record has such a number.
nb::object to_numbers(records::Seldom& column) {
    return column.numbers.empty() ? nb::none() : nb::cast(array(std::move(column.numbers)));
}

nb::tuple to_tuple(records::LeafColumn& column) {
    column.finish();
    const std::size_t size = column.codes.size();
    const Kinds there = kinds_in(column.values);
    return nb::make_tuple(array(std::move(column.codes)), to_values(column, there), to_numbers(column.confidences),
                          array(std::move(column.boxes), {size, 4}), to_numbers(column.pages), array(std::move(column.ranks)),
                          to_types(there));
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

// Takes in the records that stand at some places of a text; says of each whether it is plain, and so was taken in.
auto add_lines(records::LineReader& reader, const nb::bytes& text, const Column<std::int64_t>& starts,
               const Column<std::int64_t>& lengths, const std::string& id_key) {
    require(starts.shape(0) == lengths.shape(0), "each line needs a place and a length");
    std::vector<std::uint8_t> plain(starts.shape(0));
    const auto size = static_cast<std::int64_t>(text.size());
    for (std::size_t i = 0; i < plain.size(); ++i) {
        const std::int64_t start = starts.data()[i], length = lengths.data()[i];
        require(start >= 0 && length >= 0 && start <= size && length <= size - start, "lines must lie within the text");
    }
    {
        const nb::gil_scoped_release released;
        for (std::size_t i = 0; i < plain.size(); ++i)
            plain[i] = reader.add(text.c_str() + starts.data()[i], static_cast<std::size_t>(lengths.data()[i]), id_key);
    }
    return array(std::move(plain));
}

// Takes in the lines of a text from a place on, up to so many that are not blank: for each its number, which goes on from
// `number`, its place, its length and its id; then the number and the place of the line after them. None when one is not plain.
nb::object take_lines(records::LineReader& reader, const nb::bytes& text, std::int64_t place, std::int64_t number, std::int64_t most,
                      const std::string& id_key) {
    const std::string_view whole(text.c_str(), text.size());
    require(place >= 0 && static_cast<std::size_t>(place) <= whole.size(), "lines must lie within the text");
    std::vector<json::RecordLine> lines;
    auto start = static_cast<std::size_t>(place);
    bool plain = true;
    {
        const nb::gil_scoped_release released;
        for (; plain && start < whole.size() && static_cast<std::int64_t>(lines.size()) < most; ++number) {
            const std::size_t end = whole.find('\n', start);
            const std::string_view line = whole.substr(start, end == std::string_view::npos ? end : end + 1 - start);
            if (!json::is_blank(line)) {
                lines.push_back({number, static_cast<std::int64_t>(start), static_cast<std::int64_t>(line.size()), false, {}});
                plain = reader.take(line.data(), line.size(), id_key, lines.back().ids.emplace_back());
            }
            start += line.size();
        }
    }
    if (!plain) return nb::none();
    nb::list made;
    for (const auto& line : lines) {
        nb::object id = nb::none();
        if (const auto* own = std::get_if<std::string>(&line.ids[0])) id = to_str(*own);
        if (const auto* own = std::get_if<std::int64_t>(&line.ids[0])) id = nb::int_(*own);
        made.append(nb::make_tuple(line.number, line.start, line.length, id));
    }
    return nb::make_tuple(made, number, start);
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
        .def("add", &add_lines, "text"_a, "starts"_a, "lengths"_a, "id_key"_a,
             "Take in the records at these places, if they are plain; says of each whether it is.")
        .def("take", &take_lines, "text"_a, "place"_a, "number"_a, "most"_a, "id_key"_a,
             "Take in lines at which nobody has looked before: number, place, length and id of each, and where the next begins; "
             "None when one is not plain.")
        .def("columns", &columns_of, "What was taken in; the reader does not have it any longer.");
    m.def("edit_distances", &bound_edit_distances, "texts"_a, "first"_a, "second"_a, "jobs"_a = 1,
          "The edit distance of the texts of each pair.");
    m.def("best_partners", &bound_best_partners, "worth"_a, "heights"_a, "widths"_a,
          "For each row of many matrices its column in the assignment of the greatest total; ties give the earliest row the earliest.");
    m.def("item_partners", &bound_item_partners, "leaves"_a, "lists"_a, "slack"_a,
          nb::sig("def item_partners(leaves: list[ItemLeaf], lists: ItemRows, slack: float) -> tuple[Codes, Bytes]"),
          "For each item of many lists its partner where that is plain, else -1; and which lists are settled by that.");
}
