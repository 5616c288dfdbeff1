// The columns that records become: for each field codes of values, confidences, boxes and pages.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace calque::records {

inline constexpr std::int32_t nothing = -1, empty_text = -2;
enum ListState : std::uint8_t { no_list = 0, empty_list = 1, a_list = 2 };

// A value as JSON has it; texts stand in the column's own store.
struct Value {
    enum Kind : std::uint8_t { text, whole, real, truth };
    union {
        std::int64_t integer;  // or the number of a text, or a truth value
        double number;
    };
    Kind kind;

    Value(Kind kind, std::int64_t integer) : integer(integer), kind(kind) {}
    explicit Value(double number) : number(number), kind(real) {}
};

// Different texts, one after the other, each with a number that came with it.
class TextStore {
   public:
    std::vector<std::uint8_t> bytes;  // UTF-8
    std::vector<std::int64_t> offsets{0};

    std::string_view operator[](std::size_t text) const {
        const auto start = static_cast<std::size_t>(offsets[text]), end = static_cast<std::size_t>(offsets[text + 1]);
        return {reinterpret_cast<const char*>(bytes.data()) + start, end - start};
    }
    std::size_t size() const { return offsets.size() - 1; }
    // The number of a text that is known; else `number`, which it has from now on.
    std::int32_t number_of(std::string_view text, std::int32_t number);

   private:
    struct Slot {
        std::uint32_t hash;
        std::int32_t number = -1;
        std::size_t text;
    };
    void grow();

    std::vector<Slot> slots_;  // a power of two, at least half of them free
};

// A number of each record that many columns have nowhere: then they have no room for it.
class Seldom {
   public:
    std::vector<double> numbers;

    void forget(std::size_t row) {
        if (!numbers.empty()) numbers[row] = std::numeric_limits<double>::quiet_NaN();
    }
    void set(std::size_t row, double number, std::size_t room) {
        if (numbers.empty()) numbers.assign(room, std::numeric_limits<double>::quiet_NaN());
        numbers[row] = number;
    }
    void resize(std::size_t room) {
        if (!numbers.empty()) numbers.resize(room, std::numeric_limits<double>::quiet_NaN());
    }
};

// One field of many records.
class LeafColumn {
   public:
    std::vector<std::int32_t> codes, ranks;
    std::vector<double> boxes;
    Seldom confidences, pages;
    std::vector<Value> values;
    TextStore texts;

    // A record that has nothing yet; what is read of it is written to the last row.
    void add_nothing(std::int32_t rank);
    std::int32_t& code() { return codes[rows_ - 1]; }
    void set_confidence(double number) { confidences.set(rows_ - 1, number, codes.size()); }
    void set_page(double number) { pages.set(rows_ - 1, number, codes.size()); }
    double* box() { return boxes.data() + 4 * (rows_ - 1); }

    std::int32_t code_of(std::string_view text);
    std::int32_t code_of(Value value);
    // Keeps only so many records.
    void cut(std::size_t records) { rows_ = records; }
    // When all are there: the columns have no room beyond them any longer.
    void finish();

   private:
    void resize(std::size_t room);

    std::size_t rows_ = 0;  // the columns have room for more
};

struct ListColumn {
    std::vector<std::string> keys;
    std::vector<LeafColumn> leaves;
    std::vector<std::uint8_t> states;
    std::vector<std::int64_t> offsets{0};

    void cut(std::size_t documents);
};

}  // namespace calque::records
