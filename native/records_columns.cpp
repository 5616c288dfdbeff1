#include "records_columns.hpp"

#include <algorithm>
#include <cstring>

namespace calque::records {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// Of eight bytes at a time: most texts are short.
std::uint32_t hash_of(std::string_view text) {
    constexpr std::uint64_t factor = 0x9E3779B97F4A7C15U;
    std::uint64_t hash = text.size() * factor;
    const auto mix = [&](std::size_t at, std::size_t bytes) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + at, bytes);
        hash = (hash ^ word) * factor;
        hash ^= hash >> 32;
    };
    std::size_t at = 0;
    for (; at + 8 <= text.size(); at += 8) mix(at, 8);
    if (at < text.size()) mix(at, text.size() - at);
    return static_cast<std::uint32_t>(hash);
}

}  // namespace

std::int32_t TextStore::number_of(std::string_view text, std::int32_t number) {
    if (2 * (size() + 1) > slots_.size()) grow();
    const std::uint32_t hash = hash_of(text);
    for (std::size_t at = hash;; ++at) {
        Slot& slot = slots_[at & (slots_.size() - 1)];
        if (slot.number < 0) {
            slot = {hash, number, size()};
            bytes.insert(bytes.end(), text.begin(), text.end());
            offsets.push_back(static_cast<std::int64_t>(bytes.size()));
            return number;
        }
        if (slot.hash == hash && (*this)[slot.text] == text) return slot.number;
    }
}

void TextStore::grow() {
    std::vector<Slot> known(std::max<std::size_t>(64, 2 * slots_.size()));
    known.swap(slots_);
    for (const Slot& slot : known) {
        if (slot.number < 0) continue;
        std::size_t at = slot.hash;
        while (slots_[at & (slots_.size() - 1)].number >= 0) ++at;
        slots_[at & (slots_.size() - 1)] = slot;
    }
}

void LeafColumn::add_nothing(std::int32_t rank) {
    if (rows_ == codes.size()) resize(std::max<std::size_t>(256, 2 * rows_));
    const std::size_t row = rows_++;
    codes[row] = nothing;
    ranks[row] = rank;
    confidences.forget(row);
    pages.forget(row);
    std::fill_n(box(), 4, nan);
}

// All columns at once: a row is written without asking each of them for room.
void LeafColumn::resize(std::size_t room) {
    codes.resize(room);
    ranks.resize(room);
    confidences.resize(room);
    boxes.resize(4 * room);
    pages.resize(room);
}

std::int32_t LeafColumn::code_of(std::string_view text) {
    if (text.empty()) return empty_text;
    const auto next = static_cast<std::int32_t>(values.size());
    const std::size_t known = texts.size();
    const std::int32_t code = texts.number_of(text, next);
    if (code == next) values.emplace_back(Value::text, static_cast<std::int64_t>(known));
    return code;
}

std::int32_t LeafColumn::code_of(Value value) {
    values.push_back(value);
    return static_cast<std::int32_t>(values.size()) - 1;
}

void LeafColumn::finish() { resize(rows_); }

void ListColumn::cut(std::size_t documents) {
    states.resize(documents);
    offsets.resize(documents + 1);
    for (auto& leaf : leaves) leaf.cut(static_cast<std::size_t>(offsets.back()));
}

}  // namespace calque::records
