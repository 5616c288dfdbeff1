#include "records_lists.hpp"

#include <algorithm>
#include <limits>

#include "interrupt.hpp"

namespace calque {

namespace {

constexpr std::int32_t short_alphabet = 0x400;

// Texts, of which one is ready to be compared with others.
class Distances {
   public:
    explicit Distances(const Texts& texts)
        : few_(std::all_of(texts.points.begin(), texts.points.end(), [](auto point) { return point < short_alphabet; })),
          compact_(few_ ? Texts{{}, texts.offsets} : texts),
          texts_(few_ ? texts : compact_.texts()),
          pattern_(few_ ? static_cast<std::size_t>(short_alphabet) : compact_.alphabet()) {}
    Distances(Distances&&) = default;  // a copy would look at the texts of the original

    std::int32_t operator()(std::size_t one, std::size_t other) {
        interrupts_.tick(1 + texts_.length(other));
        const auto text = texts_.text(one), with = texts_.text(other);
        if (std::equal(text.begin(), text.end(), with.begin(), with.end())) return 0;  // most that are compared are the same
        if (one != set_) {
            set_ = one;
            pattern_.set(text);
        }
        return pattern_.distance(with);
    }

   private:
    bool few_;  // characters of most languages of Europe need no numbers of their own
    CompactTexts compact_;
    Texts texts_;
    TextPattern pattern_;
    std::size_t set_ = static_cast<std::size_t>(-1);
    InterruptTicker interrupts_;
};

// The items of one list after the other, seen from the shorter side: its items are the rows, the others the columns.
class Similarities {
   public:
    explicit Similarities(const std::vector<ItemLeaf>& leaves) : leaves_(leaves), columns_(leaves.size()) {
        for (const auto& leaf : leaves) {
            if (leaf.texts) distances_.emplace_back(Distances(*leaf.texts));
            else distances_.emplace_back(std::nullopt);
        }
    }

    void begin(std::size_t truth, std::size_t height, std::size_t found, std::size_t width, std::size_t first_pair) {
        turned_ = height > width;
        rows = turned_ ? width : height;
        columns = turned_ ? height : width;
        first_row_ = turned_ ? found : truth;
        down_ = turned_ ? 1 : width;
        across_ = turned_ ? width : 1;
        first_pair_ = first_pair;
        for (std::size_t l = 0; l < leaves_.size(); ++l) columns_[l].begin(leaves_[l], turned_ ? truth : found, columns, !turned_);
    }

    // For every column what its similarity to a row cannot exceed: the distance of two texts is at least that of their lengths.
    const std::vector<double>& bounds(std::size_t row) {
        total_.assign(columns, 0.0);
        weight_.assign(columns, 0.0);
        compared_.assign(columns, 0);
        for (std::size_t l = 0; l < leaves_.size(); ++l) {
            const ItemLeaf& leaf = leaves_[l];
            const Values& others = columns_[l];
            const Value mine = value(leaf, first_row_ + row, turned_);
            if (mine.there && leaf.truth_keys && !leaf.texts && !leaf.scores) {
                // What most fields are, in a loop without conditions.
                for (std::size_t c = 0; c < columns; ++c) total_[c] += others.keys[c] == mine.key ? leaf.weight : 0.0;
            } else if (mine.there) {
                for (std::size_t c = 0; c < columns; ++c)
                    total_[c] += alike(l, row, c, mine, others[c], [&] { return apart(mine.length, others.lengths[c]); }) * leaf.weight;
            }
            for (std::size_t c = 0; c < columns; ++c) {
                const bool there = mine.there || others.there[c] != 0;
                weight_[c] += there ? leaf.weight : 0.0;
                compared_[c] |= static_cast<std::uint8_t>(there);
            }
        }
        for (std::size_t c = 0; c < columns; ++c) total_[c] = share(total_[c], weight_[c], compared_[c] != 0);
        return total_;
    }

    // The similarity itself, in the same steps.
    double exact(std::size_t row, std::size_t c) {
        double total = 0.0, weight = 0.0;
        bool compared = false;
        for (std::size_t l = 0; l < leaves_.size(); ++l) {
            const Value mine = value(leaves_[l], first_row_ + row, turned_), other = columns_[l][c];
            const auto distance = [&] { return static_cast<std::int64_t>((*distances_[l])(mine.text, other.text)); };
            total += alike(l, row, c, mine, other, distance) * leaves_[l].weight;
            weight += mine.there || other.there ? leaves_[l].weight : 0.0;
            compared |= mine.there || other.there;
        }
        return share(total, weight, compared);
    }

    std::size_t rows = 0, columns = 0;

    bool turned() const { return turned_; }

   private:
    struct Value {
        double key = std::numeric_limits<double>::quiet_NaN();  // equal to none
        std::size_t text = 0;
        std::int64_t length = 0;
        bool there = false;
    };

    // One field of the items in the columns.
    struct Values {
        std::vector<double> keys;
        std::vector<std::size_t> texts;
        std::vector<std::int64_t> lengths;
        std::vector<std::uint8_t> there;

        void begin(const ItemLeaf& leaf, std::size_t first, std::size_t size, bool found) {
            keys.resize(size);
            texts.resize(size);
            lengths.resize(size);
            there.resize(size);
            for (std::size_t c = 0; c < size; ++c) {
                const Value made = value(leaf, first + c, found);
                keys[c] = made.key;
                texts[c] = made.text;
                lengths[c] = made.length;
                there[c] = static_cast<std::uint8_t>(made.there);
            }
        }
        Value operator[](std::size_t c) const { return {keys[c], texts[c], lengths[c], there[c] != 0}; }
    };

    static Value value(const ItemLeaf& leaf, std::size_t item, bool found) {
        const std::int32_t code = (found ? leaf.found : leaf.truth)[item];
        Value made;
        if (code < 0) return made;
        made.there = true;
        const auto number = static_cast<std::size_t>(code);
        if (leaf.truth_keys) made.key = (found ? *leaf.found_keys : *leaf.truth_keys)[number];
        if (leaf.texts) {
            made.text = found ? leaf.truth_texts + number : number;
            made.length = static_cast<std::int64_t>(leaf.texts->length(made.text));
        }
        return made;
    }

    static std::int64_t apart(std::int64_t one, std::int64_t other) { return one > other ? one - other : other - one; }

    template <class Distance>
    double alike(std::size_t l, std::size_t row, std::size_t c, const Value& mine, const Value& other, Distance distance) const {
        if (!mine.there || !other.there) return 0.0;
        const ItemLeaf& leaf = leaves_[l];
        if (leaf.truth_keys && mine.key != other.key) return 0.0;
        const double score = leaf.scores ? (*leaf.scores)[first_pair_ + row * down_ + c * across_] : 1.0;
        if (!leaf.texts) return score;
        const std::int64_t longest = std::max({mine.length, other.length, std::int64_t{1}});
        return score * (1.0 - static_cast<double>(distance()) / static_cast<double>(longest));
    }

    static double share(double total, double weight, bool compared) {
        return weight > 0 ? total / weight : compared ? 0.0 : 1.0;
    }

    const std::vector<ItemLeaf>& leaves_;
    std::vector<std::optional<Distances>> distances_;
    std::vector<Values> columns_;
    std::vector<double> total_, weight_;
    std::vector<std::uint8_t> compared_;
    bool turned_ = false;
    std::size_t first_row_ = 0, down_ = 0, across_ = 0, first_pair_ = 0;
};

// A row's best column, if it prefers that by more than `slack`; else none. Only columns that may come near are looked at.
std::optional<std::size_t> plain_best(Similarities& list, std::size_t row, double slack, std::vector<double>& near) {
    const auto& bounds = list.bounds(row);
    std::size_t best = static_cast<std::size_t>(std::max_element(bounds.begin(), bounds.end()) - bounds.begin());
    const std::size_t likely = best;
    double highest = list.exact(row, best);
    near.clear();
    for (std::size_t c = 0; c < list.columns; ++c) {
        if (c == likely || highest - bounds[c] > slack) continue;
        const double score = list.exact(row, c);
        if (score > highest) {
            near.push_back(highest);
            highest = score;
            best = c;
        } else {
            near.push_back(score);
        }
    }
    const bool plain = std::all_of(near.begin(), near.end(), [=](double score) { return highest - score > slack; });
    return plain ? std::optional(best) : std::nullopt;
}

bool settle(Similarities& list, double slack, std::vector<std::size_t>& wanted, std::vector<std::uint8_t>& taken,
            std::vector<double>& near) {
    wanted.assign(list.rows, 0);
    taken.assign(list.columns, 0);
    InterruptTicker interrupts;
    for (std::size_t row = 0; row < list.rows; ++row) {
        interrupts.tick(list.columns);
        const auto best = plain_best(list, row, slack, near);
        if (!best || taken[*best]++ != 0) return false;
        wanted[row] = *best;
    }
    return true;
}

}  // namespace

void edit_distances(const Texts& texts, std::span<const std::int32_t> first, std::span<const std::int32_t> second,
                    std::span<std::int32_t> distances) {
    Distances distance(texts);
    for (std::size_t pair = 0; pair < first.size(); ++pair)
        distances[pair] = distance(static_cast<std::size_t>(first[pair]), static_cast<std::size_t>(second[pair]));
}

void item_partners(const std::vector<ItemLeaf>& leaves, const ItemRows& lists, double slack, std::span<std::int32_t> partners,
                   std::span<std::uint8_t> settled) {
    Similarities similarities(leaves);
    std::vector<std::size_t> wanted;
    std::vector<std::uint8_t> taken;
    std::vector<double> near;
    std::int32_t* mine = partners.data();
    std::size_t pair = 0;
    for (std::size_t list = 0; list < lists.heights.size(); ++list) {
        const auto height = static_cast<std::size_t>(lists.heights[list]), width = static_cast<std::size_t>(lists.widths[list]);
        similarities.begin(static_cast<std::size_t>(lists.truth[list]), height, static_cast<std::size_t>(lists.found[list]), width,
                           pair);
        std::fill_n(mine, height, -1);
        settled[list] = settle(similarities, slack, wanted, taken, near);
        if (settled[list] != 0)
            for (std::size_t row = 0; row < similarities.rows; ++row) {
                if (similarities.turned()) mine[wanted[row]] = static_cast<std::int32_t>(row);
                else mine[row] = static_cast<std::int32_t>(wanted[row]);
            }
        pair += height * width;
        mine += height;
    }
}

}  // namespace calque
