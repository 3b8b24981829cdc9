// Measured values of the regions in a film: one value per region and frame of the film, whatever is played,
// sought or repeated.
#pragma once

#include "analysis/trace_history.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace specklescope {

/// Summaries of 2⁴, 2⁵ … leaves, so that a range costs a few steps. Block: default-constructed from none;
/// add() adds the following one. `leaf(i)` returns the Block of leaf i.
template <class Block> class BlockTree {
public:
    static constexpr int kFirst = 4;
    /// After leaf `index` of `count` has changed.
    template <class Leaf> void update(std::size_t index, std::size_t count, const Leaf& leaf) {
        std::size_t block = index >> kFirst;
        Block sum;
        for (std::size_t i = block << kFirst; i < std::min(count, (block + 1) << kFirst); ++i)
            sum.add(leaf(i));
        put(0, block, sum);
        for (std::size_t level = 1; levels_[level - 1].size() > 1; ++level) {
            block >>= 1;
            const std::vector<Block>& below = levels_[level - 1];
            sum = below[2 * block];
            if (2 * block + 1 < below.size())
                sum.add(below[2 * block + 1]);
            put(level, block, sum);
        }
    }
    template <class Leaf> void rebuild(std::size_t count, const Leaf& leaf) {
        levels_.clear();
        for (std::size_t i = 0; i < count; i += std::size_t{1} << kFirst)
            update(i, count, leaf);
    }
    template <class Leaf> Block range(std::size_t from, std::size_t to, const Leaf& leaf) const {
        Block sum;
        while (from < to) {
            const int level = std::min(largest(from, to) - kFirst, static_cast<int>(levels_.size()) - 1);
            if (level < 0) {
                sum.add(leaf(from++));
                continue;
            }
            const std::vector<Block>& blocks = levels_[static_cast<std::size_t>(level)];
            if (const std::size_t at = from >> (kFirst + level); at < blocks.size())
                sum.add(blocks[at]);
            from += std::size_t{1} << (kFirst + level);
        }
        return sum;
    }
    /// First leaf whose block is `wanted`; a block is wanted if one of its leaves is. `count`: none.
    template <class Leaf, class Wanted>
    std::size_t first(std::size_t count, const Leaf& leaf, const Wanted& wanted) const {
        std::size_t at = 0;
        for (std::size_t level = levels_.size(); level-- > 0; at <<= 1) {
            const std::vector<Block>& blocks = levels_[level];
            while (at < blocks.size() && !wanted(blocks[at]))
                ++at;
            if (at == blocks.size())
                return count;
            if (level == 0)
                break;
        }
        for (at <<= kFirst; at < count && !wanted(leaf(at));)
            ++at;
        return std::min(at, count);
    }
    /// Calls visit(from, to, block) for the largest blocks in [from, to) that are `plain`, and for leaves.
    template <class Leaf, class Plain, class Visit> void
    walk(std::size_t from, std::size_t to, const Leaf& leaf, const Plain& plain, const Visit& visit) const {
        while (from < to) {
            int level = std::min(largest(from, to) - kFirst, static_cast<int>(levels_.size()) - 1);
            const auto block = [&] {
                const std::vector<Block>& blocks = levels_[static_cast<std::size_t>(level)];
                const std::size_t at = from >> (kFirst + level);
                return at < blocks.size() ? blocks[at] : Block();
            };
            while (level >= 0 && !plain(block()))
                --level;
            const std::size_t end = from + (level < 0 ? 1 : std::size_t{1} << (kFirst + level));
            visit(from, end, level < 0 ? leaf(from) : block());
            from = end;
        }
    }
    std::size_t bytes() const {
        std::size_t sum = 0;
        for (const std::vector<Block>& level : levels_)
            sum += level.capacity() * sizeof(Block);
        return sum;
    }

private:
    static int largest(std::size_t from, std::size_t to) {
        return std::min(from == 0 ? 63 : std::countr_zero(from),
                        static_cast<int>(std::bit_width(to - from)) - 1);
    }
    void put(std::size_t level, std::size_t block, const Block& sum) {
        if (level == levels_.size())
            levels_.emplace_back();
        if (levels_[level].size() <= block)
            levels_[level].resize(block + 1);
        levels_[level][block] = sum;
    }
    std::vector<std::vector<Block>> levels_;
};

/// A frame replaces the value of its position, unless it is of the same settings and its warm-up had come
/// less far: after a seek into the film, values of a filled window stay. Memory grows with the highest
/// position, up to the budget; in a longer film a cell holds the minimum and maximum of 2, 4, 8 … frames. Not
/// synchronised.
class FilmTraces {
public:
    FilmTraces(std::size_t budget, std::uint64_t& next_region, std::uint64_t& next_settings)
        : budget_(budget), next_region_(next_region), next_settings_(next_settings) {}

    /// `shown`: its regions are those of the session, and its values the newest.
    void put(const FilmFrame& frame, bool shown);
    void no_regions() {
        series_.clear();
        matched_.reset();
    }
    /// Regions, frames, marks, settings, ends and bytes.
    void describe(TraceOverview& about) const;

    // As in TraceHistory.
    std::vector<std::vector<TraceColumn>> curves(std::int64_t from_ns, std::int64_t to_ns, int columns) const;
    std::vector<std::optional<TraceExtremes>> extremes(std::int64_t from_ns, std::int64_t to_ns,
                                                       const std::optional<MadeWith>& with) const;
    std::optional<TraceValues> values_at(std::int64_t time_ns) const;
    std::optional<TraceMeans> means(double seconds, RegionMean mean) const;
    std::optional<TraceMeans> means(std::int64_t from_ns, std::int64_t to_ns, RegionMean mean) const;

private:
    using Extremes = TraceHistory::Extremes;
    struct Cell {
        std::int64_t time_ns = 0;
        std::uint32_t made = 0; ///< index + 1 of made_; 0: no frame
        std::uint32_t progress = 0;
    };
    struct Part { ///< of cells
        void add(const Part& next) {
            if (!next.any)
                return;
            const Part before = *this;
            *this = next;
            if (!before.any)
                return;
            first_ns = before.first_ns;
            last_ns = std::max(before.last_ns, next.last_ns);
            first = before.first;
            mixed = before.mixed || next.mixed || before.last != next.first;
            warm = before.warm || next.warm;
            settled = before.settled || next.settled;
        }
        std::int64_t first_ns = 0, last_ns = 0;
        std::uint32_t first = 0, last = 0; ///< Cell::made of its ends
        bool any = false, mixed = false;   ///< mixed: of several
        bool warm = false, settled = false;
    };
    struct Value { ///< the frame's, or the minimum and maximum of several
        double low = std::numeric_limits<double>::quiet_NaN(), high = low;
        double centre() const;
        Extremes extremes() const;
        void add(const Value& more);
    };
    struct Series {
        TraceRegion region;
        std::vector<Value> values; ///< a value for each cell
        BlockTree<Extremes> blocks;
    };
    /// Settings and outlines of the regions that values were made with.
    struct Made {
        TraceSettings about;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> outlines; ///< TraceRegion::id, outline
        std::uint64_t outline(std::uint64_t region) const;             ///< 0: none
    };
    struct Run { ///< of cells
        std::size_t from = 0, to = 0;
        std::uint32_t made = 0;
        bool settled = true;
    };

    struct Column { ///< of a plot: cells [from, to)
        std::size_t from = 0, to = 0;
        std::int64_t time_ns = 0; ///< its centre
        Part part;
    };

    /// Over the complete frames in cells [first, last] that were made as the one in `last`.
    std::optional<TraceMeans> means_over(std::size_t first, std::size_t last, RegionMean mean) const;
    std::size_t most_cells() const;
    void match(const PlacedRegions& placed);
    std::uint32_t made_of(const FilmFrame& frame, bool shown);
    void forget_unused();
    std::int64_t fitting_time(std::size_t index, std::int64_t time_ns) const;
    void scale(const FilmFrame& frame);
    void coarsen();
    void update(std::size_t index);
    void rebuild();
    Part part_at(std::size_t index) const;
    Part parts(std::size_t from, std::size_t to) const;
    std::size_t index_at(std::int64_t time_ns) const; ///< first cell with a frame at or after it
    TraceMoment moment_of(std::size_t index) const;
    bool joined(const Series& series, std::size_t before, std::size_t index) const;
    std::uint64_t settings_of(const Series& series, std::uint32_t made) const;
    Extremes range(const Series& series, std::size_t from, std::size_t to) const;
    std::vector<Run> runs(std::size_t from, std::size_t to, bool by_warmup) const;
    std::vector<TraceRestart> marks() const;
    std::vector<TraceColumn> samples(const Series& series, std::size_t from, std::size_t to) const;
    std::vector<TraceColumn> columns(const Series& series, const std::vector<Column>& wanted) const;

    const std::size_t budget_;
    std::uint64_t &next_region_, &next_settings_;
    std::vector<Cell> cells_;
    BlockTree<Part> parts_;
    std::vector<Series> series_;
    std::shared_ptr<const PlacedRegions> matched_; ///< series_ have these regions
    std::vector<Made> made_;
    std::uint64_t frames_ = 0; ///< cells with a frame
    std::uint64_t changes_ = 0;
    int shift_ = 0; ///< a cell holds 2^shift_ positions
    bool by_rate_ = true, timed_ = true;
    double step_ns_ = 0;     ///< between two frames of a film without own times
    std::size_t newest_ = 0; ///< cell of the frame shown last
    std::uint32_t newest_made_ = 0;
    struct Known { ///< of the last frame
        std::shared_ptr<const MadeWith> with;
        std::shared_ptr<const PlacedRegions> placed;
        std::uint32_t made = 0;
    };
    std::array<Known, 2> known_; ///< shown, or in the background
};

} // namespace specklescope
