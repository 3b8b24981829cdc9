// A long series of samples in bounded memory: the newest at full resolution, older ones as blocks of powers
// of two, so that a block's properties (minimum and maximum, first and last) are never lost.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace specklescope {

/// The newest entries of an endless series, found by index. Memory grows with the content, up to `capacity`
/// entries, a power of two.
template <class T> class NewestRing {
public:
    explicit NewestRing(std::size_t capacity) : capacity_(capacity) {}
    std::uint64_t begin() const { return begin_; }
    std::uint64_t end() const { return end_; }
    bool empty() const { return begin_ == end_; }
    bool has(std::uint64_t index) const { return index >= begin_ && index < end_; }
    const T& operator[](std::uint64_t index) const { return entries_[index & (entries_.size() - 1)]; }
    std::size_t bytes() const { return entries_.size() * sizeof(T); }

    /// `index` must be end(); the first entry may have any index.
    void push(std::uint64_t index, const T& entry) {
        if (empty())
            begin_ = end_ = index;
        if (end_ - begin_ == entries_.size())
            make_room();
        entries_[end_ & (entries_.size() - 1)] = entry;
        ++end_;
    }
    /// Removes the oldest entries if there are too many.
    void limit(std::size_t capacity) {
        capacity_ = capacity;
        if (entries_.size() > capacity)
            move_to(capacity);
    }

private:
    void make_room() {
        constexpr std::size_t kFirst = 64;
        if (entries_.size() < capacity_)
            move_to(std::min(capacity_, std::max(kFirst, 2 * entries_.size())));
        else
            ++begin_;
    }
    void move_to(std::size_t size) {
        std::vector<T> moved(size);
        begin_ = std::max(begin_, end_ - std::min<std::uint64_t>(end_, size));
        for (std::uint64_t i = begin_; i < end_; ++i)
            moved[i & (size - 1)] = (*this)[i];
        entries_ = std::move(moved);
    }

    std::size_t capacity_;
    std::vector<T> entries_;
    std::uint64_t begin_ = 0, end_ = 0;
};

/// Size of a pyramid: `whole` newest samples, and on each level as many blocks as cover those.
struct PyramidSize {
    static constexpr int kFirstShift = 4;     ///< blocks of the lowest level contain 2⁴ samples
    std::size_t whole = std::size_t{1} << 18; ///< a power of two
    std::size_t blocks() const { return std::max<std::size_t>(whole >> kFirstShift, 2); }
};

/// Leaf: a sample. Block: summary of several; default-constructed from none, made from one Leaf, add(Block)
/// adds the following block.
template <class Leaf, class Block> class Pyramid {
public:
    explicit Pyramid(PyramidSize size) : size_(size), whole_(size.whole) {}

    const NewestRing<Leaf>& whole() const { return whole_; }
    std::size_t levels() const { return levels_.size(); }
    const NewestRing<Block>& level(std::size_t level) const { return levels_[level]; }
    static int shift(std::size_t level) { return PyramidSize::kFirstShift + static_cast<int>(level); }
    std::uint64_t end() const { return whole_.end(); }

    /// `index` must be end(); the first sample may have any index.
    void push(std::uint64_t index, const Leaf& leaf) {
        whole_.push(index, leaf);
        if (((index + 1) & ((std::uint64_t{1} << PyramidSize::kFirstShift) - 1)) != 0)
            return;
        const std::uint64_t first = (index >> PyramidSize::kFirstShift) << PyramidSize::kFirstShift;
        Block block;
        for (std::uint64_t i = std::max(first, whole_.begin()); i <= index; ++i)
            block.add(Block(whole_[i]));
        push_block(0, index >> PyramidSize::kFirstShift, block);
    }

    /// Summary of the samples [from, to). Where only blocks are stored, of whole blocks: those that contain
    /// the samples, or with `within` only those inside.
    Block range(std::uint64_t from, std::uint64_t to, bool within = false) const {
        Block sum;
        while (from < to) {
            const std::size_t level = largest(from, to);
            if (level < levels_.size()) {
                sum.add(levels_[level][from >> shift(level)]);
                from += std::uint64_t{1} << shift(level);
            } else if (whole_.has(from)) {
                const std::uint64_t mask = (std::uint64_t{1} << PyramidSize::kFirstShift) - 1;
                const std::uint64_t stop = std::min({to, (from | mask) + 1, whole_.end()});
                for (; from < stop; ++from)
                    sum.add(Block(whole_[from]));
            } else {
                Block around;
                from = coarse(from, to, around);
                if (!within)
                    sum.add(around);
            }
        }
        return sum;
    }

    void limit(PyramidSize size) {
        size_ = size;
        whole_.limit(size.whole);
        for (NewestRing<Block>& level : levels_)
            level.limit(size.blocks());
    }
    std::size_t bytes() const {
        std::size_t sum = whole_.bytes();
        for (const NewestRing<Block>& level : levels_)
            sum += level.bytes();
        return sum;
    }

private:
    void push_block(std::size_t level, std::uint64_t index, const Block& block) {
        if (level == levels_.size())
            levels_.emplace_back(size_.blocks());
        NewestRing<Block>& ring = levels_[level];
        ring.push(index, block);
        if ((index & 1) == 0)
            return;
        Block both;
        if (ring.has(index - 1))
            both = ring[index - 1];
        both.add(block);
        push_block(level + 1, index >> 1, both);
    }

    /// Highest level with a block that begins at `from` and ends within `to`; levels() if there is none.
    std::size_t largest(std::uint64_t from, std::uint64_t to) const {
        const int fits = std::min(from == 0 ? 63 : std::countr_zero(from),
                                  static_cast<int>(std::bit_width(to - from)) - 1);
        for (int at = std::min(fits - PyramidSize::kFirstShift, static_cast<int>(levels_.size()) - 1);
             at >= 0; --at) {
            const auto level = static_cast<std::size_t>(at);
            if (levels_[level].has(from >> shift(level)))
                return level;
        }
        return levels_.size();
    }

    /// Where neither a sample nor a fitting block is stored: uses the smallest block that contains it, or the
    /// next one.
    std::uint64_t coarse(std::uint64_t from, std::uint64_t to, Block& sum) const {
        std::uint64_t next = whole_.begin() > from ? whole_.begin() : to;
        for (std::size_t level = 0; level < levels_.size(); ++level) {
            const std::uint64_t block = from >> shift(level);
            if (levels_[level].has(block)) {
                sum.add(levels_[level][block]);
                return (block + 1) << shift(level);
            }
            if (levels_[level].begin() > block)
                next = std::min(next, levels_[level].begin() << shift(level));
        }
        return next;
    }

    PyramidSize size_;
    NewestRing<Leaf> whole_;
    std::vector<NewestRing<Block>> levels_;
};

} // namespace specklescope
