// Longest common subsequences with sparse bit rows; the alignment comes from a log of changed blocks, read backwards.
#include "words_align.hpp"

#include "parallel.hpp"

namespace calque {

namespace {

// What two documents share at both ends, and the two middles.
struct Middle {
    std::span<const Word> reference;
    std::span<const Word> predicted;
    std::size_t prefix = 0;
    std::size_t suffix = 0;

    Middle(std::span<const Word> r, std::span<const Word> p) {
        const std::size_t shorter = std::min(r.size(), p.size());
        while (prefix < shorter && r[prefix] == p[prefix]) ++prefix;
        while (suffix < shorter - prefix && r[r.size() - 1 - suffix] == p[p.size() - 1 - suffix]) ++suffix;
        reference = r.subspan(prefix, r.size() - prefix - suffix);
        predicted = p.subspan(prefix, p.size() - prefix - suffix);
    }
};

// The blocks that each word changed, with what they held before.
struct Log {
    std::vector<std::uint32_t> blocks;
    std::vector<Bits> before;
    std::vector<std::size_t> starts;

    void clear() {
        blocks.clear();
        before.clear();
        starts.clear();
    }
};

// Aligns one pair of documents. When the log would grow beyond its limit the row is kept instead and the log begins
// anew; on the way back each stretch is played again from its row, so that memory stays bounded for any length.
class Aligner {
   public:
    Aligner(std::size_t vocabulary, std::size_t log_limit) : index_(vocabulary), log_limit_(log_limit) {}

    void align(const Middle& middle, std::span<std::int32_t> partners) {
        index_.build(middle.reference);
        const std::size_t blocks = blocks_for(middle.reference.size());
        row_.reset(blocks);
        checkpoints_.assign(1, {0, row_});
        log_.clear();
        for (std::size_t j = 0; j < middle.predicted.size(); ++j) {
            if (log_.blocks.size() > log_limit_) {
                checkpoints_.push_back({j, row_});
                log_.clear();
            }
            step(middle.predicted[j], blocks);
        }
        walk_back(middle, partners);
    }

   private:
    struct Checkpoint {
        std::size_t first;  // the predicted word that comes next
        Row row;
    };

    void step(Word word, std::size_t limit) {
        const auto marks = index_.marks(word);
        interrupts_.tick(1 + marks.size);
        log_.starts.push_back(log_.blocks.size());
        advance(row_, marks, limit, [this](std::size_t block, Bits bits) {
            log_.blocks.push_back(static_cast<std::uint32_t>(block));
            log_.before.push_back(bits);
        });
    }

    void walk_back(const Middle& middle, std::span<std::int32_t> partners) {
        std::int64_t open = last_rise(row_, static_cast<std::int64_t>(middle.reference.size()));
        std::size_t end = middle.predicted.size();
        bool logged = true;  // the last stretch is still in the log
        while (!checkpoints_.empty() && open >= 0) {
            Checkpoint& checkpoint = checkpoints_.back();
            const std::size_t first = checkpoint.first;
            if (!logged) replay(middle, checkpoint, end, static_cast<std::size_t>(open) / block_bits + 1);
            open = unwind(first, end, open, middle, partners);
            end = first;
            checkpoints_.pop_back();
            logged = false;
        }
    }

    void replay(const Middle& middle, Checkpoint& checkpoint, std::size_t end, std::size_t limit) {
        std::swap(row_, checkpoint.row);
        log_.clear();
        for (std::size_t j = checkpoint.first; j < end; ++j) step(middle.predicted[j], limit);
    }

    // Undoes the words [first, end). A rise that a word brought to `open` is a pair; the next one lies below it.
    std::int64_t unwind(std::size_t first, std::size_t end, std::int64_t open, const Middle& middle,
                        std::span<std::int32_t> partners) {
        for (std::size_t j = end; j-- > first && open >= 0;) {
            const std::size_t begin = log_.starts[j - first];
            for (std::size_t k = log_.blocks.size(); k-- > begin;) row_.bits[log_.blocks[k]] = log_.before[k];
            log_.blocks.resize(begin);
            log_.before.resize(begin);
            const auto at = static_cast<std::size_t>(open);
            if ((row_.bits[at / block_bits] >> (at % block_bits) & 1) != 0) {
                partners[middle.prefix + at] = static_cast<std::int32_t>(middle.prefix + j);
                open = last_rise(row_, open);
            }
        }
        return open;
    }

    WordIndex index_;
    std::size_t log_limit_;
    InterruptTicker interrupts_;
    Row row_;
    Log log_;
    std::vector<Checkpoint> checkpoints_;
};

}  // namespace

std::vector<std::int32_t> lcs_partners(const Sequences& reference, const Sequences& predicted, std::size_t vocabulary,
                                       std::size_t log_limit, int jobs) {
    std::vector<std::int32_t> partners(reference.words.size(), -1);
    in_threads(reference.documents(), jobs, [&](auto next) {
        Aligner aligner(vocabulary, log_limit);
        for (std::size_t i = next(); i < reference.documents(); i = next()) {
            const auto r = reference.document(i);
            const auto p = predicted.document(i);
            const std::span<std::int32_t> mine(partners.data() + reference.offsets[i], r.size());
            const Middle middle(r, p);
            for (std::size_t k = 0; k < middle.prefix; ++k) mine[k] = static_cast<std::int32_t>(k);
            for (std::size_t k = 1; k <= middle.suffix; ++k)
                mine[r.size() - k] = static_cast<std::int32_t>(p.size() - k);
            if (!middle.reference.empty() && !middle.predicted.empty()) aligner.align(middle, mine);
        }
    });
    return partners;
}

}  // namespace calque
