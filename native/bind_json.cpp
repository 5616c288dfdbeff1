// The Python face of the scanner: Scan, ScanError, and columns as NumPy arrays that take the memory over.
#include <nanobind/eval.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cerrno>
#include <mutex>

#include "json_job.hpp"
#include "json_keys.hpp"
#include "json_pages.hpp"

namespace nb = nanobind;
using namespace calque::json;

namespace {

// Made once at import and kept for the life of the process.
PyObject* scan_error = nullptr;

constexpr const char kScanErrorSource[] =
    "class ScanError(ValueError):\n"
    "    \"\"\"The fast scanner met something it does not take; `offset` is in bytes.\"\"\"\n"
    "    def __init__(self, message, offset):\n"
    "        super().__init__(message, offset)\n"
    "        self.message = message\n"
    "        self.offset = offset\n"
    "    def __str__(self):\n"
    "        return f'{self.message} (at byte {self.offset})'\n";

// Bytes that are UTF-8 but for lone surrogates, which JSON can escape.
nb::object to_str(std::string_view bytes) {
  PyObject* const result = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogatepass");
  if (result == nullptr) nb::raise_python_error();
  return nb::steal(result);
}

// An array that owns the column from now on; `width` > 0 makes it two-dimensional.
template <class T>
nb::object to_array(Column<T>& column, std::size_t width = 0) {
  auto* const owned = new Column<T>(std::move(column));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Column<T>*>(p); });
  static T nothing{};
  T* const data = owned->empty() ? &nothing : owned->data();
  const std::size_t shape[2] = {width == 0 ? owned->size() : owned->size() / width, width};
  return nb::cast(nb::ndarray<nb::numpy, T>(data, width == 0 ? 1 : 2, shape, owner));
}

nb::object to_array(Column<char>& column) {
  auto* const owned = new Column<char>(std::move(column));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Column<char>*>(p); });
  static std::uint8_t nothing = 0;
  auto* const data = owned->empty() ? &nothing : reinterpret_cast<std::uint8_t*>(owned->data());
  const std::size_t shape[1] = {owned->size()};
  return nb::cast(nb::ndarray<nb::numpy, std::uint8_t>(data, 1, shape, owner));
}

nb::dict to_dict(StringColumn& strings) {
  nb::dict result;
  result["data"] = to_array(strings.bytes);
  result["offsets"] = to_array(strings.ends);
  return result;
}

nb::object to_dict(OptionalStrings& optional) {
  if (!optional.any()) return nb::none();
  nb::dict result = to_dict(optional.strings);
  result["present"] = to_array(optional.present);
  return result;
}

nb::dict to_dict(NameColumn& column) {
  nb::list values;
  for (std::size_t i = 0; i < column.names.size(); ++i) {
    if (column.names.is_integer(i)) values.append(column.names.integer(i));
    else values.append(to_str(column.names.bytes(i)));
  }
  nb::dict result;
  result["codes"] = to_array(column.codes);
  result["values"] = values;
  return result;
}

nb::dict to_dict(IdColumn& ids) {
  if (ids.named() != nullptr) return to_dict(*ids.named());
  nb::dict result;
  result["ints"] = to_array(ids.integers());
  return result;
}

nb::object to_tuple(const std::optional<Span>& span) {
  if (!span) return nb::none();
  return nb::make_tuple(span->start, span->end);
}

nb::dict to_dict(Images& images) {
  nb::dict result;
  result["id"] = to_dict(images.id);
  result["width"] = to_array(images.width);
  result["height"] = to_array(images.height);
  result["file_name"] = to_dict(images.file_name);
  const bool any_doc_id = images.doc_id.any();
  result["doc_id"] = to_dict(images.doc_id);
  result["doc_id_is_int"] = any_doc_id ? to_array(images.doc_id_is_int) : nb::none();
  result["doc_name"] = to_dict(images.doc_name);
  return result;
}

nb::object to_dict(MaskSpans& masks, Column<std::uint8_t>& boxless) {
  if (masks.starts.empty()) return nb::none();
  nb::dict result;
  result["starts"] = to_array(masks.starts);
  result["ends"] = to_array(masks.ends);
  result["boxless"] = boxless.empty() ? nb::object(nb::none()) : to_array(boxless);
  return result;
}

nb::dict to_dict(Annotations& annotations) {
  nb::dict result;
  result["id"] = annotations.id.size() == 0 ? nb::object(nb::none()) : nb::object(to_dict(annotations.id));
  result["image_id"] = to_dict(annotations.image_id);
  result["category_id"] = to_dict(annotations.category_id);
  result["bbox"] = to_array(annotations.bbox, 4);
  result["area"] = to_array(annotations.area);
  result["iscrowd"] = to_array(annotations.iscrowd);
  result["ignore"] = to_array(annotations.ignore);
  result["score"] = annotations.score.empty() ? nb::object(nb::none()) : to_array(annotations.score);
  result["masks"] = to_dict(annotations.masks, annotations.boxless);
  return result;
}

nb::dict to_dict(CocoTruth& truth) {
  nb::dict spans;
  if (truth.images_span) spans["images"] = to_tuple(truth.images_span);
  if (truth.annotations_span) spans["annotations"] = to_tuple(truth.annotations_span);
  if (truth.categories_span) spans["categories"] = to_tuple(truth.categories_span);
  if (truth.info_span) spans["info"] = to_tuple(truth.info_span);
  nb::dict result;
  result["kind"] = "coco_truth";
  result["images"] = to_dict(truth.images);
  result["annotations"] = to_dict(truth.annotations);
  result["spans"] = spans;
  return result;
}

nb::dict to_dict(CocoResults& results) {
  nb::dict result;
  result["kind"] = "coco_results";
  result["image_id"] = to_dict(results.image_id);
  result["category_id"] = to_dict(results.category_id);
  result["bbox"] = to_array(results.bbox, 4);
  result["score"] = to_array(results.score);
  result["masks"] = to_dict(results.masks, results.boxless);
  return result;
}

nb::dict to_dict(Documents& documents) {
  nb::dict result;
  result["doc_id"] = to_dict(documents.doc_id);
  result["doc_name"] = to_dict(documents.doc_name);
  result["doc_path"] = to_dict(documents.doc_path);
  return result;
}

nb::dict to_dict(Pages& pages) {
  nb::dict result;
  result["page_id"] = to_dict(pages.page_id);
  result["doc"] = to_dict(pages.doc);
  result["page_index"] = to_array(pages.page_index);
  return result;
}

nb::dict to_dict(Objects& objects) {
  nb::dict result;
  result["page"] = to_array(objects.page);
  result["id"] = to_dict(objects.id);
  result["label"] = to_dict(objects.label);
  result["bbox"] = to_array(objects.bbox, 4);
  result["score"] = to_array(objects.score);
  result["score_state"] = to_array(objects.score_state);
  return result;
}

nb::dict to_dict(Snapshot& snapshot) {
  nb::list label_map;
  for (const auto& [key, name] : snapshot.label_map) label_map.append(nb::make_tuple(to_str(key), to_str(name)));
  nb::dict result;
  result["kind"] = "snapshot";
  result["label_map"] = label_map;
  result["info"] = to_tuple(snapshot.info_span);
  result["documents"] = to_dict(snapshot.documents);
  result["pages"] = to_dict(snapshot.pages);
  result["objects"] = to_dict(snapshot.objects);
  return result;
}

// None for a column that no object has a value in.
template <class T>
nb::object to_array_if_any(Column<T>& column) {
  return column.empty() ? nb::object(nb::none()) : to_array(column);
}

nb::dict to_dict(PageLines& pages) {
  nb::dict result;
  result["line"] = to_array(pages.line);
  result["document"] = to_dict(pages.document);
  result["page_index"] = to_array(pages.page_index);
  result["sizes"] = to_array(pages.sizes, 2);
  result["counts"] = to_array(pages.counts);
  result["boxes"] = to_array(pages.boxes, 4);
  result["labels"] = to_dict(pages.labels);
  result["scores"] = to_array_if_any(pages.scores);
  result["area"] = to_array_if_any(pages.area);
  result["crowd"] = to_array_if_any(pages.crowd);
  result["integer_ids"] = to_array_if_any(pages.integer_ids);
  result["text_ids"] = pages.text_ids.size() == 0 ? nb::object(nb::none()) : nb::object(to_dict(pages.text_ids));
  result["lacks_scores"] = pages.lacks_scores;
  result["has_others"] = pages.has_others;
  return result;
}

nb::object scan_page_lines(const nb::bytes& lines) {
  PageLines pages;
  bool plain = true;
  {
    nb::gil_scoped_release release;
    try {
      Text text(lines.c_str(), lines.size());
      scan_pages(text, pages);
    } catch (const ScanFailure&) {
      plain = false;
    }
  }
  return plain ? nb::object(to_dict(pages)) : nb::none();
}

bool bound_repeats_a_key(const nb::bytes& json) {
  const nb::gil_scoped_release release;
  try {
    return repeats_a_key(Text(json.c_str(), json.size()));
  } catch (const ScanFailure&) {
    return false;
  }
}

bool bound_nests_beyond(const nb::bytes& json, std::int64_t levels) {
  const nb::gil_scoped_release release;
  return nests_beyond(Text(json.c_str(), json.size()), levels);
}

nb::object to_ids(const std::vector<nb::object>& keys, const RecordLine& line) {
  if (!line.plain) return nb::none();
  nb::dict found;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (const auto* text = std::get_if<std::string>(&line.ids[i])) found[keys[i]] = to_str(*text);
    if (const auto* number = std::get_if<std::int64_t>(&line.ids[i])) found[keys[i]] = *number;
  }
  return found;
}

nb::tuple bound_record_lines(const nb::bytes& text, const std::vector<std::string>& keys, std::int64_t levels) {
  std::vector<RecordLine> lines;
  std::int64_t size = 0;
  {
    const nb::gil_scoped_release release;
    size = record_lines({text.c_str(), text.size()}, keys, levels, lines);
  }
  std::vector<nb::object> names;
  for (const auto& key : keys) names.push_back(to_str(key));
  nb::list made;
  for (const auto& line : lines) made.append(nb::make_tuple(line.number, line.start, line.length, to_ids(names, line)));
  return nb::make_tuple(made, size);
}

Kind parse_kind(const std::string& name) {
  Kind kind;
  if (!kind_from_name(name, kind)) {
    throw nb::value_error("kind must be 'auto', 'coco_truth', 'coco_results' or 'snapshot'");
  }
  return kind;
}

// The path as the system spells it, as os.fsencode would.
std::string encode_path(const nb::str& path) {
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), &encoded) == 0) nb::raise_python_error();
  const auto bytes = nb::steal<nb::bytes>(encoded);
  return std::string(bytes.c_str(), bytes.size());
}

class Scan {
 public:
  Scan(nb::str path, const std::string& kind) : source_(path), job_(encode_path(path), parse_kind(kind)) {}
  Scan(nb::bytes data, const std::string& kind)
      : source_(data), job_(Memory{data.c_str(), data.size()}, parse_kind(kind)) {}

  nb::object columns() {
    if (!job_.is_ours()) throw std::runtime_error("this scan was started in another process");
    std::unique_lock lock(mutex_, std::defer_lock);
    Outcome* outcome = nullptr;
    {
      // The lock too is taken without the GIL: its holder may need the GIL to finish.
      nb::gil_scoped_release release;
      lock.lock();
      outcome = &job_.wait();
    }
    if (!columns_.is_valid()) columns_ = build(*outcome);
    return columns_;
  }

  nb::object kind() { return columns()["kind"]; }

 private:
  nb::object build(Outcome& outcome) {
    if (const auto* failure = std::get_if<ScanFailure>(&outcome)) {
      const nb::object error = nb::handle(scan_error)(to_str(failure->message), failure->offset);
      PyErr_SetObject(scan_error, error.ptr());
      nb::raise_python_error();
    }
    if (const auto* failure = std::get_if<SystemFailure>(&outcome)) {
      errno = failure->code;
      PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, source_.ptr());
      nb::raise_python_error();
    }
    auto* const tables = std::get_if<Tables>(&outcome);
    if (tables == nullptr) throw std::bad_alloc();
    // Building moves the columns out: should it fail half-way, there is nothing to try again with.
    Tables taken = std::move(*tables);
    outcome.emplace<std::bad_alloc>();
    return std::visit([](auto& table) { return nb::object(to_dict(table)); }, taken);
  }

  nb::object source_;  // keeps the bytes alive for as long as the job
  ScanJob job_;
  std::mutex mutex_;
  nb::object columns_;
};

}  // namespace

void bind_json(nb::module_& m) {
  nb::dict scope;
  scope["__builtins__"] = nb::module_::import_("builtins");
  scope["__name__"] = m.attr("__name__");
  nb::exec(nb::str(kScanErrorSource), scope);
  scan_error = nb::object(scope["ScanError"]).release().ptr();
  m.attr("ScanError") = nb::handle(scan_error);

  nb::class_<Scan>(m, "Scan", "A JSON file being read into columns, in a thread of its own.")
      .def(nb::init<nb::str, const std::string&>(), nb::arg("source"), nb::arg("kind") = "auto")
      .def(nb::init<nb::bytes, const std::string&>(), nb::arg("source"), nb::arg("kind") = "auto")
      .def("columns", &Scan::columns, "Wait for the scan and return its columns; raises ScanError or OSError.")
      .def("kind", &Scan::kind, "The kind of file, once it is read.");
  m.def("scan_pages", &scan_page_lines, nb::arg("lines"),
        "The columns of page rows, one a line; None when a line is anything but plain.");
  m.def("repeats_a_key", &bound_repeats_a_key, nb::arg("text"), "Whether any object in a JSON text has a key twice.");
  m.def("nests_beyond", &bound_nests_beyond, nb::arg("text"), nb::arg("levels"),
        "Whether a JSON text nests its values more than so many levels deep.");
  m.def("record_lines", &bound_record_lines, nb::arg("text"), nb::arg("keys"), nb::arg("levels"),
        nb::sig("def record_lines(text: bytes, keys: list[str], levels: int) "
                "-> tuple[list[tuple[int, int, int, dict[str, str | int] | None]], int]"),
        "The lines that are not blank, each with what stands under some keys of a plain JSON object (None when it is not plain); "
        "and how many lines there are.");
}
