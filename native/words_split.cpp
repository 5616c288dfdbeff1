// One pass over UTF-8 texts; most bytes are letters and digits.
#include "words_split.hpp"

namespace calque {

namespace {

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
    const auto add = [&](const unsigned char* from, const unsigned char* to) {
        const std::string_view word(reinterpret_cast<const char*>(from), static_cast<std::size_t>(to - from));
        if (!word.empty()) out.codes.push_back(out.vocabulary.code_of(word, false));
    };
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
            add(word, at);
            at += space;
            word = at;
        }
        add(word, at);
        out.offsets.push_back(static_cast<std::int64_t>(out.codes.size()));
    }
    return out;
}

}  // namespace calque
