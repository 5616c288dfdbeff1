// Records into columns: one JSON object a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json_keys.hpp"
#include "records_columns.hpp"

namespace calque::records {

// A field at the root: a value, a list of objects, an object (a list of at most one), or something that is not compared.
struct Field {
    enum Kind : std::uint8_t { leaf, items, object, ignored } kind;
    std::string key;
    LeafColumn column;
    ListColumn list;
};

// What it takes in is plain; anything else is left to readers that can name it. `paired` refuses what is nested under
// keys that the schema does not know; `sized` boxes are a corner and a size.
class LineReader {
   public:
    LineReader(std::vector<Field> fields, bool paired, bool sized) : fields(std::move(fields)), paired_(paired), sized_(sized) {}

    // Takes one record in, without what stands under `id_key`; false, and nothing is kept, when it is not plain.
    bool add(const char* line, std::size_t size, std::string_view id_key) { return read(line, size, id_key, nullptr); }
    // The same for a record at which nobody has looked before, and its id: it must repeat no key anywhere, and what is not
    // compared must not nest.
    bool take(const char* line, std::size_t size, std::string_view id_key, json::RecordId& id) {
        return read(line, size, id_key, &id);
    }
    // Keeps only so many documents.
    void cut(std::size_t documents);
    std::size_t size() const { return boxes.size(); }

    std::vector<Field> fields;
    std::vector<std::int32_t> boxes, ignored_boxes, unknown;
    std::vector<std::pair<std::size_t, std::string>> outside;  // documents, and paths that the schema does not know

   private:
    class Line;
    bool read(const char* line, std::size_t size, std::string_view id_key, json::RecordId* id);

    bool paired_, sized_;
};

}  // namespace calque::records
