#include "records_lines.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "json_number.hpp"
#include "json_skip.hpp"
#include "json_string.hpp"

namespace calque::records {

using json::ScanFailure;
using json::skip_space;
using json::Text;

namespace {

constexpr double far_away = 1e150;                      // as in calque.geometry.forms
constexpr double fine = 1 << 25;                        // whole numbers up to here have exact areas
constexpr std::int64_t fullest = 100'000;               // items of a list, as in calque.fields.comparison.cells
constexpr int deepest = 200;                            // records are checked for their depth before
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Number {
    double value;
    bool whole;
};

}  // namespace

// One line while it is read. Whatever is not plain throws a ScanFailure, as bad JSON does.
class LineReader::Line {
   public:
    // An id is asked for of a line at which nobody has looked before.
    Line(LineReader& reader, const char* line, std::size_t size, json::RecordId* id)
        : reader_(reader), text_(line, size), id_(id) {}

    void read(std::string_view id_key) {
        seen_.assign(reader_.fields.size(), 0);
        const char* p = skip_space(text_, text_.begin);
        p = each_key(p, [&](const char* at, std::string_view key) { return root_value(at, key, id_key); });
        if (p > text_.end || skip_space(text_, p) < text_.end) odd(p);  // the next line is no part of this one
        for (std::size_t i = 0; i < seen_.size(); ++i)
            if (seen_[i] == 0) absent(reader_.fields[i]);
        reader_.boxes.push_back(boxes_);
        reader_.ignored_boxes.push_back(ignored_);
        reader_.unknown.push_back(static_cast<std::int32_t>(strange_.size()));
        tell_strange();
    }

   private:
    // What stands in items field by field as in the schema, then what stands beside the fields.
    void tell_strange() {
        const std::size_t document = reader_.boxes.size() - 1;
        std::stable_sort(strange_inside_.begin(), strange_inside_.end(),
                         [](const auto& one, const auto& other) { return one.first < other.first; });
        for (auto& [field, path] : strange_inside_) reader_.outside.emplace_back(document, std::move(path));
        for (auto& key : strange_) reader_.outside.emplace_back(document, std::move(key));
    }

    [[noreturn]] void odd(const char* at) const { text_.fail(at, "not plain"); }

    // Calls `take` with the place of each value and its key; it returns the place after the value.
    template <class Take>
    const char* each_key(const char* p, Take take) {
        if (*p != '{') odd(p);
        p = skip_space(text_, p + 1);
        if (*p == '}') return p + 1;
        for (;;) {
            std::string_view key;
            p = skip_space(text_, json::read_string(text_, p, key_scratch_, key));
            if (*p != ':') odd(p);
            p = skip_space(text_, take(skip_space(text_, p + 1), key));
            if (*p == '}') return p + 1;
            if (*p != ',') odd(p);
            p = skip_space(text_, p + 1);
            if (*p != '"') odd(p);
        }
    }

    static bool is_mark(std::string_view key) { return key == "_value" || key == "_bbox" || key == "_confidence"; }

    const char* root_value(const char* p, std::string_view key, std::string_view id_key) {
        if (!id_key.empty() && key == id_key) return id_ == nullptr ? json::skip_value(text_, p) : own_id(p);
        if (is_mark(key)) odd(p);
        for (std::size_t step = 0; step < reader_.fields.size(); ++step) {
            // Keys mostly come in the order of the schema.
            const std::size_t i = next_ + step < reader_.fields.size() ? next_ + step : next_ + step - reader_.fields.size();
            Field& field = reader_.fields[i];
            if (field.key != key) continue;
            if (seen_[i]++ != 0) odd(p);
            next_ = i + 1 < reader_.fields.size() ? i + 1 : 0;
            if (field.kind == Field::leaf) return leaf(p, field.column, 0);
            if (field.kind == Field::items) return items(p, field, i);
            if (field.kind == Field::object) return object(p, field, i);
            return counted(p, ignored_, 0);
        }
        for (const auto& other : strange_)
            if (other == key) odd(p);
        strange_.emplace_back(key);
        if (reader_.paired_ && (*p == '{' || *p == '[')) odd(p);
        return counted(p, ignored_, 0);
    }

    const char* own_id(const char* p) {
        if (id_->index() != 0) odd(p);  // there was one before
        if (*p == '"') {
            std::string_view read;
            p = json::read_string(text_, p, scratch_, read);
            *id_ = std::string(read);
            return p;
        }
        std::int64_t whole = 0;
        p = json::read_integer(text_, p, whole);
        *id_ = whole;
        return p;
    }

    static void absent(Field& field) {
        if (field.kind == Field::leaf) field.column.add_nothing(0);
        if (field.kind == Field::items || field.kind == Field::object) absent(field.list);
    }

    static void absent(ListColumn& list) {
        list.states.push_back(no_list);
        list.offsets.push_back(list.offsets.back());
    }

    const char* object(const char* p, Field& field, std::size_t number) {
        ListColumn& list = field.list;
        if (*p == 'n') {
            absent(list);
            return word(p, "null");
        }
        p = item(p, field, number);
        list.states.push_back(a_list);
        list.offsets.push_back(list.offsets.back() + 1);
        return p;
    }

    const char* items(const char* p, Field& field, std::size_t number) {
        ListColumn& list = field.list;
        if (*p == 'n') {
            absent(list);
            return word(p, "null");
        }
        if (*p != '[') odd(p);
        p = skip_space(text_, p + 1);
        std::int64_t count = 0;
        if (*p != ']') {
            for (;;) {
                p = skip_space(text_, item(p, field, number));
                if (++count > fullest) odd(p);
                if (*p == ']') break;
                if (*p != ',') odd(p);
                p = skip_space(text_, p + 1);
            }
        }
        list.states.push_back(count == 0 ? empty_list : a_list);
        list.offsets.push_back(list.offsets.back() + count);
        return p + 1;
    }

    const char* item(const char* p, Field& field, std::size_t number) {
        ListColumn& list = field.list;
        const std::size_t told = strange_inside_.size();
        item_seen_.assign(list.leaves.size(), 0);
        std::int32_t rank = 0;
        std::size_t next = 0;
        bool something = false;
        p = each_key(p, [&](const char* at, std::string_view key) {
            for (std::size_t step = 0; step < list.keys.size(); ++step) {
                const std::size_t i = next + step < list.keys.size() ? next + step : next + step - list.keys.size();
                if (list.keys[i] != key) continue;
                if (item_seen_[i]++ != 0) odd(at);
                next = i + 1 < list.keys.size() ? i + 1 : 0;
                at = leaf(at, list.leaves[i], rank++);
                something |= list.leaves[i].code() >= 0;
                return at;
            }
            ++rank;
            return strange_in_item(at, key, field, number, told);
        });
        if (!something) odd(p);
        for (std::size_t i = 0; i < list.leaves.size(); ++i)
            if (item_seen_[i] == 0) list.leaves[i].add_nothing(-1);
        return p;
    }

    // A key of an item that the schema does not know. Stickler's way counts those of objects, and their boxes.
    const char* strange_in_item(const char* p, std::string_view key, const Field& field, std::size_t number, std::size_t told) {
        if (is_mark(key) || (reader_.paired_ && (field.kind == Field::object || *p == '{' || *p == '['))) odd(p);
        std::string path = field.key + (field.kind == Field::object ? "." : "[].") + std::string(key);
        for (std::size_t i = told; i < strange_inside_.size(); ++i)
            if (strange_inside_[i].second == path) odd(p);
        strange_inside_.emplace_back(number, std::move(path));
        return counted(p, ignored_, 0);
    }

    // A value, plain or with metadata.
    const char* leaf(const char* p, LeafColumn& column, std::int32_t rank) {
        column.add_nothing(rank);
        if (*p != '{') return value(p, column);
        unsigned seen = 0;
        page_ = page_in_box_ = nan;
        p = each_key(p, [&](const char* at, std::string_view key) {
            const auto once = [&](unsigned bit) {
                if ((seen & bit) != 0) odd(at);
                seen |= bit;
            };
            if (key == "_value") {
                once(1);
                return value(at, column);
            }
            if (key == "_confidence") {
                once(2);
                return confidence(at, column);
            }
            if (key == "_bbox") {
                once(4);
                return box(at, column);
            }
            if (key == "_page") {
                once(8);
                return page(at);
            }
            if (key == "_alternatives" || id_ != nullptr) odd(at);
            return json::skip_value(text_, at);
        });
        if ((seen & 1) == 0) odd(p);
        if ((seen & 4) != 0) {
            ++boxes_;
            const double page = std::isnan(page_in_box_) ? page_ : page_in_box_;
            if (!std::isnan(page)) column.set_page(page);
        }
        return p;
    }

    const char* value(const char* p, LeafColumn& column) {
        std::int32_t& code = column.code();
        switch (*p) {
            case '"': {
                std::string_view read;
                p = json::read_string(text_, p, scratch_, read);
                code = column.code_of(read);
                return p;
            }
            case 'n': return word(p, "null");
            case 't': p = word(p, "true"); code = column.code_of(Value(Value::truth, 1)); return p;
            case 'f': p = word(p, "false"); code = column.code_of(Value(Value::truth, 0)); return p;
            default: break;
        }
        json::Decimal decimal;
        const char* const after = json::read_decimal(text_, p, decimal);
        if (after == nullptr) odd(p);
        if (decimal.integer) {
            std::int64_t whole = 0;
            json::read_integer(text_, p, whole);
            code = column.code_of(Value(Value::whole, whole));
        } else {
            const double real = json::convert(text_, decimal);
            if (!std::isfinite(real)) odd(p);
            code = column.code_of(Value(real));
        }
        return after;
    }

    const char* number(const char* p, Number& out) {
        // Edges are mostly whole numbers of some digits.
        const json::DigitRun run = json::digit_run(json::load8(text_, p));
        const char* const end = p + run.count;
        if (run.count > 0 && run.count < 8 && (*end == ',' || *end == ']') && (*p != '0' || run.count == 1)) {
            out = {static_cast<double>(run.value), true};
            return end;
        }
        json::Decimal decimal;
        const char* const after = json::read_decimal(text_, p, decimal);
        if (after == nullptr) odd(p);
        out = {json::convert(text_, decimal), decimal.integer};
        if (decimal.integer && out.value == 0) out.value = 0.0;  // a whole number has no negative zero
        return after;
    }

    const char* confidence(const char* p, LeafColumn& column) {
        if (*p == 'n') return word(p, "null");
        Number sure{};
        p = number(p, sure);
        if (!(sure.value >= 0 && sure.value <= 1)) odd(p);
        column.set_confidence(sure.value);
        return p;
    }

    const char* page(const char* p) {
        if (*p == 'n') return word(p, "null");
        Number read{};
        p = number(p, read);
        if (!(std::fabs(read.value) <= fine)) odd(p);
        page_ = read.value;
        return p;
    }

    // Four numbers, five with the page, or two points.
    const char* box(const char* p, LeafColumn& column) {
        double edges[5];
        std::size_t count = 0;
        if (*p != '[') odd(p);
        p = skip_space(text_, p + 1);
        const bool points = *p == '[';
        for (;;) {
            if (points) {
                if (*p != '[') odd(p);
                p = edge(skip_space(text_, p + 1), edges, count, 4);
                p = skip_space(text_, p);
                if (*p != ',') odd(p);
                p = skip_space(text_, edge(skip_space(text_, p + 1), edges, count, 4));
                if (*p != ']') odd(p);
                p = skip_space(text_, p + 1);
            } else {
                p = skip_space(text_, edge(p, edges, count, 5));
            }
            if (*p == ']') break;
            if (*p != ',') odd(p);
            p = skip_space(text_, p + 1);
        }
        if (count < 4) odd(p);
        if (count == 5) page_in_box_ = edges[4];
        double* const out = column.box();
        const double right = reader_.sized_ ? edges[0] + edges[2] : edges[2];
        const double bottom = reader_.sized_ ? edges[1] + edges[3] : edges[3];
        out[0] = right < edges[0] ? right : edges[0];
        out[1] = bottom < edges[1] ? bottom : edges[1];
        out[2] = right > edges[0] ? right : edges[0];
        out[3] = bottom > edges[1] ? bottom : edges[1];
        return p + 1;
    }

    const char* edge(const char* p, double* edges, std::size_t& count, std::size_t most) {
        Number read{};
        p = number(p, read);
        if (count == most || !(std::fabs(read.value) < far_away) || (read.whole && std::fabs(read.value) > fine)) odd(p);
        edges[count++] = read.value;
        return p;
    }

    const char* word(const char* p, const char* expected) const {
        const char* const after = json::past_word(p, expected);
        if (after == nullptr) odd(p);
        return after;
    }

    // Past a value that is not compared; the boxes on values in it are added to `boxes`.
    const char* counted(const char* p, std::int32_t& boxes, int depth) {
        if (depth > deepest || (id_ != nullptr && (*p == '[' || *p == '{'))) odd(p);
        if (*p == '[') {
            p = skip_space(text_, p + 1);
            if (*p == ']') return p + 1;
            for (;;) {
                p = skip_space(text_, counted(p, boxes, depth + 1));
                if (*p == ']') return p + 1;
                if (*p != ',') odd(p);
                p = skip_space(text_, p + 1);
            }
        }
        if (*p != '{') return json::skip_value(text_, p);
        return counted_object(p, boxes, depth);
    }

    // An object with `_value`, or with nothing but metadata, is a value: its box counts, and what stands under `_value`.
    const char* counted_object(const char* p, std::int32_t& boxes, int depth) {
        std::vector<std::string> keys;
        std::int32_t inside = 0, in_value = 0, own = 0;
        bool has_value = false, is_marked = false, all_marks = true;
        p = each_key(p, [&](const char* at, std::string_view key) {
            for (const auto& other : keys)
                if (other == key) odd(at);
            keys.emplace_back(key);
            has_value |= key == "_value";
            is_marked |= key == "_bbox" || key == "_confidence";
            all_marks &= !key.empty() && key.front() == '_';
            if (key == "_bbox") own = *at != 'n';
            std::int32_t here = 0;
            const bool wanted = key == "_value";
            const char* const after = counted(at, here, depth + 1);
            inside += here;
            if (wanted) in_value = here;
            return after;
        });
        boxes += has_value || (is_marked && all_marks) ? own + in_value : inside;
        return p;
    }

    LineReader& reader_;
    Text text_;
    json::RecordId* id_;
    std::string key_scratch_, scratch_;
    std::vector<std::uint8_t> seen_, item_seen_;
    std::vector<std::string> strange_;
    std::vector<std::pair<std::size_t, std::string>> strange_inside_;
    std::size_t next_ = 0;
    std::int32_t boxes_ = 0, ignored_ = 0;
    double page_ = nan, page_in_box_ = nan;
};

bool LineReader::read(const char* line, std::size_t size, std::string_view id_key, json::RecordId* id) {
    const std::size_t before = boxes.size();
    try {
        Line(*this, line, size, id).read(id_key);
        return true;
    } catch (const ScanFailure&) {
        cut(before);
        return false;
    }
}

void LineReader::cut(std::size_t documents) {
    for (auto& field : fields) {
        if (field.kind == Field::leaf) field.column.cut(documents);
        if (field.kind == Field::items || field.kind == Field::object) field.list.cut(documents);
    }
    boxes.resize(documents);
    ignored_boxes.resize(documents);
    unknown.resize(documents);
    while (!outside.empty() && outside.back().first >= documents) outside.pop_back();
}

}  // namespace calque::records
