// The splitter and its hash table: open addressing, the words themselves one after the other in one array.
#include "words_split.hpp"

#include <cstring>

namespace calque {

namespace {

std::uint64_t hash(const unsigned char* text, std::size_t size) {
    std::uint64_t value = 0x9E3779B97F4A7C15u ^ size;
    while (size >= 8) {
        std::uint64_t part;
        std::memcpy(&part, text, 8);
        value = (value ^ part) * 0xD6E8FEB86659FD93u;
        value ^= value >> 32;
        text += 8;
        size -= 8;
    }
    std::uint64_t part = 0;
    std::memcpy(&part, text, size);
    value = (value ^ part) * 0xD6E8FEB86659FD93u;
    return value ^ (value >> 29);
}

class Vocabulary {
   public:
    explicit Vocabulary(SplitWords& out) : out_(out), slots_(1 << 12, {0, -1}) { out_.vocabulary_offsets.push_back(0); }

    std::int32_t code(const unsigned char* word, std::size_t size) {
        const std::uint64_t key = hash(word, size);
        std::size_t at = key & (slots_.size() - 1);
        while (slots_[at].code >= 0) {
            if (slots_[at].key == key && same(slots_[at].code, word, size)) return slots_[at].code;
            at = (at + 1) & (slots_.size() - 1);
        }
        return add(at, key, word, size);
    }

   private:
    struct Slot {
        std::uint64_t key;
        std::int32_t code;
    };

    bool same(std::int32_t code, const unsigned char* word, std::size_t size) const {
        const auto begin = static_cast<std::size_t>(out_.vocabulary_offsets[static_cast<std::size_t>(code)]);
        const auto end = static_cast<std::size_t>(out_.vocabulary_offsets[static_cast<std::size_t>(code) + 1]);
        return end - begin == size && std::memcmp(out_.vocabulary.data() + begin, word, size) == 0;
    }

    std::int32_t add(std::size_t at, std::uint64_t key, const unsigned char* word, std::size_t size) {
        const auto code = static_cast<std::int32_t>(out_.vocabulary_offsets.size() - 1);
        slots_[at] = {key, code};
        out_.vocabulary.insert(out_.vocabulary.end(), word, word + size);
        out_.vocabulary_offsets.push_back(static_cast<std::int64_t>(out_.vocabulary.size()));
        if (out_.vocabulary_offsets.size() * 2 > slots_.size()) grow();
        return code;
    }

    void grow() {
        std::vector<Slot> larger(slots_.size() * 2, {0, -1});
        for (const Slot& slot : slots_) {
            if (slot.code < 0) continue;
            std::size_t at = slot.key & (larger.size() - 1);
            while (larger[at].code >= 0) at = (at + 1) & (larger.size() - 1);
            larger[at] = slot;
        }
        slots_ = std::move(larger);
    }

    SplitWords& out_;
    std::vector<Slot> slots_;
};

// The length in bytes of the white space that begins here, or 0.
std::size_t space_at(const unsigned char* at, const unsigned char* end) {
    const unsigned char c = *at;
    if (c == ' ' || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F)) return 1;
    if (c < 0x80) return 0;
    if (c == 0xC2 && end - at >= 2) return at[1] == 0x85 || at[1] == 0xA0 ? 2 : 0;
    if (end - at < 3) return 0;
    if (c == 0xE1) return at[1] == 0x9A && at[2] == 0x80 ? 3 : 0;
    if (c == 0xE3) return at[1] == 0x80 && at[2] == 0x80 ? 3 : 0;
    if (c != 0xE2) return 0;
    if (at[1] == 0x81) return at[2] == 0x9F ? 3 : 0;
    const bool general = at[2] <= 0x8A || at[2] == 0xA8 || at[2] == 0xA9 || at[2] == 0xAF;
    return at[1] == 0x80 && general ? 3 : 0;
}

}  // namespace

SplitWords split_words(std::span<const std::string_view> texts) {
    SplitWords out;
    Vocabulary vocabulary(out);
    out.offsets.push_back(0);
    for (const std::string_view text : texts) {
        const auto* at = reinterpret_cast<const unsigned char*>(text.data());
        const auto* const end = at + text.size();
        const unsigned char* word = at;
        while (at < end) {
            // Letters and digits first: most bytes are.
            if (*at > 0x20 && *at < 0x80) {
                ++at;
                continue;
            }
            const std::size_t space = space_at(at, end);
            if (space == 0) {
                ++at;
                continue;
            }
            if (word < at) out.codes.push_back(vocabulary.code(word, static_cast<std::size_t>(at - word)));
            at += space;
            word = at;
        }
        if (word < at) out.codes.push_back(vocabulary.code(word, static_cast<std::size_t>(at - word)));
        out.offsets.push_back(static_cast<std::int64_t>(out.codes.size()));
    }
    return out;
}

}  // namespace calque
