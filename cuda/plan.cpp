#include "cuda/plan.hpp"

namespace specklescope::cuda {

namespace {

/// A fraction of a gigabyte beyond what is in flight: the viewer, the mailbox and recorders hold results too.
int result_slots(const Shape& shape) { return default_slots(shape) + kFramesInFlight; }

std::shared_ptr<FrameRing> ring(const Shape& shape, int slots, const std::shared_ptr<SlotMemory>& memory,
                                const std::shared_ptr<FrameRing>& old) {
    return old && old->shape() == shape && old->slots() == slots
               ? old
               : std::make_shared<FrameRing>(shape, slots, memory);
}

} // namespace

DevicePlan::DevicePlan(const Chain& chain, const Shape& shape, const std::shared_ptr<SlotMemory>& memory,
                       const DevicePlan* old)
    : Plan(chain, shape, memory, old) {
    uploads = ring(input, steps.empty() ? result_slots(input) : kFramesInFlight, memory,
                   old ? old->uploads : nullptr);
    if (!steps.empty())
        results = ring(output, result_slots(output), memory, old ? old->results : nullptr);
    if (old && old->downloads && !steps.empty() && old->downloads->shape() == output)
        downloads = old->downloads;
}

void DevicePlan::make_downloads(const std::shared_ptr<SlotMemory>& page_locked) {
    if (!downloads && !steps.empty())
        downloads = std::make_shared<FrameRing>(output, result_slots(output), page_locked);
}

} // namespace specklescope::cuda
