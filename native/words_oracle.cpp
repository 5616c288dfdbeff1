// The lattice oracle. Forwards, each node gets a row: the pointwise maximum over its in-edges. Backwards, only the few
// (node, position) states that lie on a best path are followed, with the best rest of a path from each.
#include "words_oracle.hpp"

#include <memory>
#include <tuple>

#include "interrupt.hpp"

namespace calque {

namespace {

// The edges that enter or leave each node, in ascending order.
struct Neighbours {
    std::vector<std::size_t> starts;
    std::vector<std::int32_t> edges;

    Neighbours(std::span<const std::int32_t> ends, std::size_t nodes) : starts(nodes + 1, 0), edges(ends.size()) {
        for (const std::int32_t node : ends) ++starts[static_cast<std::size_t>(node) + 1];
        for (std::size_t i = 0; i < nodes; ++i) starts[i + 1] += starts[i];
        std::vector<std::size_t> filled(starts.begin(), starts.end() - 1);
        for (std::size_t edge = 0; edge < ends.size(); ++edge)
            edges[filled[static_cast<std::size_t>(ends[edge])]++] = static_cast<std::int32_t>(edge);
    }

    std::span<const std::int32_t> of(std::size_t node) const {
        return {edges.data() + starts[node], starts[node + 1] - starts[node]};
    }
};

constexpr std::size_t longest_piece = 8;

// The lattice with long edges cut into pieces, so that no step has to look at more than a few words. The pieces of an edge
// stand just before the node that it leads to, so that edges still lead upwards.
struct Pieces {
    std::vector<std::int32_t> from, to, origin;  // origin: the edge that a piece belongs to
    std::vector<std::int64_t> begin, end;        // its words
    std::vector<std::int32_t> node_of;           // by node of the lattice
    std::size_t nodes = 0;

    Pieces(const Lattice& lattice, const Neighbours& in) : node_of(lattice.nodes()) {
        for (std::size_t node = 0; node < lattice.nodes(); ++node) {
            std::vector<std::size_t> closing;
            for (const std::int32_t edge : in.of(node)) closing.push_back(open(lattice, static_cast<std::size_t>(edge)));
            node_of[node] = static_cast<std::int32_t>(nodes++);
            for (const std::size_t piece : closing) to[piece] = node_of[node];
        }
    }

   private:
    // Adds the pieces of an edge; the last one, which is returned, still lacks its end.
    std::size_t open(const Lattice& lattice, std::size_t edge) {
        std::int64_t first = lattice.offsets[edge];
        const std::int64_t last = lattice.offsets[edge + 1];
        std::int32_t at = node_of[static_cast<std::size_t>(lattice.from[edge])];
        while (last - first > static_cast<std::int64_t>(longest_piece)) {
            const auto middle = static_cast<std::int32_t>(nodes++);
            add(at, middle, edge, first, first + static_cast<std::int64_t>(longest_piece));
            first += static_cast<std::int64_t>(longest_piece);
            at = middle;
        }
        add(at, 0, edge, first, last);
        return from.size() - 1;
    }

    void add(std::int32_t source, std::int32_t target, std::size_t edge, std::int64_t first, std::int64_t last) {
        from.push_back(source);
        to.push_back(target);
        origin.push_back(static_cast<std::int32_t>(edge));
        begin.push_back(first);
        end.push_back(last);
    }
};


// Rows by node; a row is let go when no later node needs it, and its memory is used again.
class Rows {
   public:
    explicit Rows(std::size_t nodes) : rows_(nodes) {}

    const Row& operator[](std::size_t node) const { return *rows_[node]; }
    bool has(std::size_t node) const { return rows_[node] != nullptr; }

    void put(std::size_t node, Row&& row) { rows_[node] = std::make_unique<Row>(std::move(row)); }

    void free(std::size_t node) {
        if (rows_[node]) spare_.push_back(std::move(*rows_[node]));
        rows_[node].reset();
    }

    Row spare() {
        if (spare_.empty()) return {};
        Row row = std::move(spare_.back());
        spare_.pop_back();
        return row;
    }

    void give_back(Row&& row) { spare_.push_back(std::move(row)); }

   private:
    std::vector<std::unique_ptr<Row>> rows_;
    std::vector<Row> spare_;
};

// A point that a best path goes through, with the best rest of a path from there.
struct State {
    std::int64_t position;  // reference words before it belong to the path so far
    std::int64_t level;     // matches of the path so far
    std::int64_t words;     // words of the rest of the path
    std::int32_t edge;      // the first edge of the rest; -1 where the path ends
    std::int32_t rank;      // order among the states of its node: fewer words, then lower edges
    std::int32_t next_rank;
    std::size_t next;  // the state after that edge, in the arena

    auto key() const { return std::tuple{words, edge, next_rank}; }
};

class Oracle {
   public:
    Oracle(std::span<const Word> reference, const Lattice& lattice, std::size_t vocabulary)
        : words_(lattice.words),
          length_(reference.size()),
          blocks_(blocks_for(reference.size())),
          index_(vocabulary),
          pieces_(lattice, Neighbours(lattice.to, lattice.nodes())),
          nodes_(pieces_.nodes),
          in_(pieces_.to, nodes_),
          out_(pieces_.from, nodes_),
          rows_(nodes_),
          final_(nodes_, 0),
          last_use_(nodes_),
          done_at_(nodes_) {
        index_.build(reference);
        for (std::size_t node = 0; node < lattice.nodes(); ++node)
            final_[static_cast<std::size_t>(pieces_.node_of[node])] = lattice.final_nodes[node];
        for (std::size_t node = 0; node < nodes_; ++node) {
            last_use_[node] = node;
            for (const std::int32_t piece : out_.of(node)) last_use_[node] = std::max(last_use_[node], target(piece));
            done_at_[last_use_[node]].push_back(node);
        }
    }

    BestPath path(std::size_t row_limit) {
        const std::size_t stretch = std::max<std::size_t>(row_limit, 1);
        const bool all_fit = nodes_ <= stretch;
        std::vector<Checkpoint> checkpoints;
        for (std::size_t node = 0; node < nodes_; ++node) {
            if (node % stretch == 0) checkpoints.push_back(checkpoint(node));
            reach(node);
            if (!all_fit)
                for (const std::size_t finished : done_at_[node]) rows_.free(finished);
        }
        frontiers_.resize(nodes_);
        std::size_t end = nodes_;
        for (; !checkpoints.empty(); checkpoints.pop_back()) {
            Checkpoint& at = checkpoints.back();
            if (!all_fit) replay(at, end);
            for (std::size_t node = end; node-- > at.first;) {
                visit(node);
                rows_.free(node);
            }
            end = at.first;
        }
        return {most_, follow()};
    }

   private:
    struct Checkpoint {
        std::size_t first;
        std::vector<std::pair<std::size_t, Row>> rows;
    };
    struct Frontier {
        std::size_t begin = 0;  // in the arena
        std::size_t size = 0;
    };

    std::size_t source(std::int32_t piece) const {
        return static_cast<std::size_t>(pieces_.from[static_cast<std::size_t>(piece)]);
    }
    std::size_t target(std::int32_t piece) const {
        return static_cast<std::size_t>(pieces_.to[static_cast<std::size_t>(piece)]);
    }
    std::span<const Word> words_of(std::int32_t piece) const {
        const auto begin = static_cast<std::size_t>(pieces_.begin[static_cast<std::size_t>(piece)]);
        return words_.subspan(begin, static_cast<std::size_t>(pieces_.end[static_cast<std::size_t>(piece)]) - begin);
    }

    void reach(std::size_t node) {
        make_row(node, blocks_);
        if (final_[node] != 0) most_ = std::max(most_, rises(rows_[node].bits.data(), 0, blocks_));
    }

    void make_row(std::size_t node, std::size_t limit) {
        Row row = rows_.spare();
        const auto entering = in_.of(node);
        if (entering.empty()) {
            row.reset(blocks_);
        } else {
            follow_piece(row, entering.front(), limit);
            for (const std::int32_t piece : entering.subspan(1)) {
                Row other = rows_.spare();
                follow_piece(other, piece, limit);
                take_maximum(row, other, limit);
                rows_.give_back(std::move(other));
            }
        }
        rows_.put(node, std::move(row));
    }

    void follow_piece(Row& row, std::int32_t piece, std::size_t limit) {
        row = rows_[source(piece)];
        interrupts_.tick(limit);
        for (const Word word : words_of(piece)) {
            const auto marks = index_.marks(word);
            interrupts_.tick(1 + marks.size);
            advance(row, marks, limit);
        }
    }

    Checkpoint checkpoint(std::size_t node) {
        Checkpoint kept{node, {}};
        for (std::size_t earlier = 0; earlier < node; ++earlier)
            if (rows_.has(earlier) && last_use_[earlier] >= node) kept.rows.emplace_back(earlier, rows_[earlier]);
        return kept;
    }

    // The rows of a stretch of nodes once more, as far into the reference as the states after it need them.
    void replay(Checkpoint& from, std::size_t end) {
        for (std::size_t node = 0; node < end; ++node) rows_.free(node);
        for (auto& [node, row] : from.rows) rows_.put(node, std::move(row));
        const std::size_t limit = needed_blocks(from.first, end);
        for (std::size_t node = from.first; node < end; ++node) make_row(node, limit);
    }

    std::size_t needed_blocks(std::size_t first, std::size_t end) const {
        std::int64_t furthest = 0;
        for (std::size_t node = 0; node < end; ++node) {
            if (node >= first && final_[node] != 0) return blocks_;
            for (const std::int32_t piece : out_.of(node)) {
                if (target(piece) < end) continue;
                const Frontier& after = frontiers_[target(piece)];
                for (std::size_t i = 0; i < after.size; ++i)
                    furthest = std::max(furthest, arena_[after.begin + i].position);
            }
        }
        return std::min(blocks_, blocks_for(static_cast<std::size_t>(furthest) + 1));
    }

    // The states of a node: from the states of the nodes after it, back over the edges between.
    void visit(std::size_t node) {
        found_.clear();
        if (final_[node] != 0) found_.push_back({static_cast<std::int64_t>(length_), most_, 0, -1, 0, 0, 0});
        for (const std::int32_t piece : out_.of(node)) step_back(piece);
        keep_reached(rows_[node]);
        keep_undominated();
        rank();
        frontiers_[node] = {arena_.size(), found_.size()};
        arena_.insert(arena_.end(), found_.begin(), found_.end());
    }

    // For each number of matches within the piece's words, the state that is as late in the reference as possible.
    void step_back(std::int32_t piece) {
        const auto words = words_of(piece);
        const Frontier frontier = frontiers_[target(piece)];
        for (std::size_t id = frontier.begin; id < frontier.begin + frontier.size; ++id) {
            const State& after = arena_[id];
            latest_.assign(1, after.position);
            for (std::size_t i = words.size(); i-- > 0;) {
                interrupts_.tick(latest_.size());
                const std::int64_t one_more = index_.last_before(words[i], latest_.back());
                for (std::size_t gained = latest_.size(); gained-- > 1;)
                    latest_[gained] = std::max(latest_[gained], index_.last_before(words[i], latest_[gained - 1]));
                if (one_more >= 0) latest_.push_back(one_more);
            }
            for (std::size_t gained = 0; gained < latest_.size(); ++gained) {
                const std::int64_t level = after.level - static_cast<std::int64_t>(gained);
                if (level < 0) break;
                found_.push_back({latest_[gained], level, after.words + static_cast<std::int64_t>(words.size()),
                                  pieces_.origin[static_cast<std::size_t>(piece)], 0, after.rank, id});
            }
        }
    }

    // Only states that some path reaches with as many matches as they need.
    void keep_reached(const Row& row) {
        if (found_.size() > 1)
            std::sort(found_.begin(), found_.end(), [](const State& a, const State& b) { return a.position < b.position; });
        std::size_t kept = 0;
        std::size_t counted = 0;
        std::int64_t count = 0;
        for (const State& state : found_) {
            const auto position = static_cast<std::size_t>(state.position);
            const std::size_t whole = position / block_bits;
            count += rises(row.bits.data(), counted, whole);
            counted = whole;
            const std::size_t rest = position % block_bits;
            const Bits below = rest == 0 ? 0 : ~row.bits[whole] & ((Bits{1} << rest) - 1);
            if (count + std::popcount(below) == state.level) found_[kept++] = state;
        }
        found_.resize(kept);
    }

    // Of two states with as many matches, the later one can be reached by every path that reaches the earlier one: the
    // earlier one stays only if its rest is better.
    void keep_undominated() {
        if (found_.size() < 2) return;
        std::sort(found_.begin(), found_.end(), [](const State& a, const State& b) {
            return std::tuple{a.level, -a.position, a.key()} < std::tuple{b.level, -b.position, b.key()};
        });
        std::size_t kept = 0;
        for (const State& state : found_) {
            const bool same_level = kept > 0 && found_[kept - 1].level == state.level;
            if (!same_level || state.key() < found_[kept - 1].key()) found_[kept++] = state;
        }
        found_.resize(kept);
    }

    void rank() {
        if (found_.size() < 2) return;
        std::sort(found_.begin(), found_.end(), [](const State& a, const State& b) { return a.key() < b.key(); });
        for (std::size_t i = 1; i < found_.size(); ++i)
            found_[i].rank = found_[i - 1].rank + (found_[i - 1].key() < found_[i].key() ? 1 : 0);
    }

    // The edges from the best state of the start on; the pieces of one edge come one after the other.
    std::vector<std::int32_t> follow() const {
        std::vector<std::int32_t> edges;
        std::size_t at = frontiers_[0].begin;
        for (bool first_piece = true; arena_[at].edge >= 0; at = arena_[at].next) {
            if (first_piece) edges.push_back(arena_[at].edge);
            first_piece = ends_edge(at);
        }
        return edges;
    }

    // Whether the step from this state ends its edge: the next one then takes another edge, or ends the path.
    bool ends_edge(std::size_t at) const { return arena_[arena_[at].next].edge != arena_[at].edge; }

    std::span<const Word> words_;
    std::size_t length_;
    std::size_t blocks_;
    WordIndex index_;
    Pieces pieces_;
    std::size_t nodes_;
    Neighbours in_;
    Neighbours out_;
    Rows rows_;
    std::vector<std::uint8_t> final_;
    std::vector<std::size_t> last_use_;
    std::vector<std::vector<std::size_t>> done_at_;
    std::int64_t most_ = 0;
    std::vector<State> arena_;
    std::vector<Frontier> frontiers_;
    std::vector<State> found_;
    std::vector<std::int64_t> latest_;
    InterruptTicker interrupts_;
};

}  // namespace

BestPath best_path(std::span<const Word> reference, const Lattice& lattice, std::size_t vocabulary, std::size_t row_limit) {
    return Oracle(reference, lattice, vocabulary).path(row_limit);
}

}  // namespace calque
