// The device executor's plan: the stages, and rings of slots for what comes in and goes out. Inside cuda/
// only.
#pragma once

#include "pipeline/plan.hpp"

namespace specklescope::cuda {

inline constexpr int kFramesInFlight = 4;

struct DevicePlan : Plan<Space::device> {
    std::shared_ptr<FrameRing> uploads;   ///< on the device; with an empty chain these are the results
    std::shared_ptr<FrameRing> results;   ///< on the device; null with an empty chain
    std::shared_ptr<FrameRing> downloads; ///< page-locked; null until a sink asks for host pixels

    /// Rings of `old` (may be null) that fit are taken over: an edit of a radius allocates nothing anew.
    DevicePlan(const Chain& chain, const Shape& shape, const std::shared_ptr<SlotMemory>& memory,
               const DevicePlan* old);

    /// Makes `downloads` if it is missing and the chain is not empty.
    void make_downloads(const std::shared_ptr<SlotMemory>& page_locked);
};

} // namespace specklescope::cuda
