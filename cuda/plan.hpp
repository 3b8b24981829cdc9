// What the device executor prepares for one chain and one input shape: stages, and memory for every image
// between them. Inside cuda/ only.
#pragma once

#include "pipeline/chain.hpp"
#include "pipeline/frame.hpp"

#include <memory>
#include <vector>

namespace specklescope::cuda {

inline constexpr int kFramesInFlight = 4;

/// Built whole or not at all; the constructor throws UsageError if the chain cannot run on the shape. Images
/// between stages exist once: the compute stream takes frames one after the other.
struct Plan {
    struct Step {
        const StageType* type = nullptr;
        std::unique_ptr<DeviceStage> stage;
        Shape converted;  ///< what the stage reads
        Frame conversion; ///< holds it, if it differs from what comes in
        Shape output;
        Frame between; ///< holds the output; empty for the last step, which writes into a result slot
    };
    Shape input;
    Shape output;
    std::vector<Step> steps;
    std::shared_ptr<FrameRing> uploads;   ///< on the device; with an empty chain these are the results
    std::shared_ptr<FrameRing> results;   ///< on the device; null with an empty chain
    std::shared_ptr<FrameRing> downloads; ///< page-locked; null until a sink asks for host pixels

    /// Rings of `old` (may be null) that fit are taken over: an edit of a radius allocates nothing anew.
    Plan(const Chain& chain, const Shape& shape, const std::shared_ptr<SlotMemory>& memory, const Plan* old);

    /// Makes `downloads` if it is missing and the chain is not empty.
    void make_downloads(const std::shared_ptr<SlotMemory>& page_locked);
    void set_params(const Chain& chain);
};

} // namespace specklescope::cuda
