// Rows of one or several frames in parallel on the host, for stages whose pixels depend on earlier values of
// their own row alone.
#pragma once

#include "base/parallel.hpp"
#include "pipeline/counts.hpp"
#include "pipeline/stage.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace specklescope {

class FrameRows {
public:
    using Run = StageRun<Space::host>;

    void prepare(int height) {
        height_ = height;
        slots_ = parallel_threads();
        counts_.resize(static_cast<std::size_t>(slots_));
    }
    int slots() const { return slots_; }

    /// Calls f(frame, y, slot, counts) for every row: a core takes a band of rows of all frames, in the order
    /// of the frames. Adds what f counts to the frame's context.
    template <class F> void run(std::span<const Run> frames, F&& f) {
        constexpr int kRows = 16; // at least, in a band of all frames
        const auto slots = static_cast<std::size_t>(slots_);
        counts_.assign(slots * frames.size(), {});
        const int bands = band_count(height_, slots_, std::max(1, kRows / static_cast<int>(frames.size())));
        for_bands(height_, bands, slots_, [&](Band rows, int slot) {
            for (std::size_t k = 0; k < frames.size(); ++k)
                for (int y = rows.begin; y < rows.end; ++y)
                    f(k, y, slot, counts_[k * slots + static_cast<std::size_t>(slot)].counts);
        });
        for (std::size_t k = 0; k < frames.size(); ++k)
            add_counts(std::span(counts_).subspan(k * slots, slots), frames[k].context.counts);
    }

private:
    int height_ = 0, slots_ = 1;
    std::vector<SlotCounts> counts_; ///< per frame and slot
};

} // namespace specklescope
