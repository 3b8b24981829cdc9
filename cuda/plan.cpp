#include "cuda/plan.hpp"

#include "stages/convert.hpp"

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

Plan::Plan(const Chain& chain, const Shape& shape, const std::shared_ptr<SlotMemory>& memory, const Plan* old)
    : input(shape), output(shape) {
    for (const ChainStage& link : chain.stages()) {
        if (!link.type->make_device)
            throw UsageError("stage " + std::string(link.type->name) +
                             " does not run on the GPU; use --backend cpu for this chain.");
        Step step;
        step.type = link.type;
        step.converted = accepted_shape(*link.type, output);
        step.stage = link.type->make_device(link.params);
        step.output = step.stage->prepare(step.converted);
        if (step.converted != output)
            step.conversion = FrameRing(step.converted, 1, memory).try_acquire();
        output = step.output;
        steps.push_back(std::move(step));
    }
    for (std::size_t i = 0; i + 1 < steps.size(); ++i)
        steps[i].between = FrameRing(steps[i].output, 1, memory).try_acquire();
    uploads = ring(input, steps.empty() ? result_slots(input) : kFramesInFlight, memory,
                   old ? old->uploads : nullptr);
    if (!steps.empty())
        results = ring(output, result_slots(output), memory, old ? old->results : nullptr);
    if (old && old->downloads && !steps.empty() && old->downloads->shape() == output)
        downloads = old->downloads;
}

void Plan::make_downloads(const std::shared_ptr<SlotMemory>& page_locked) {
    if (!downloads && !steps.empty())
        downloads = std::make_shared<FrameRing>(output, result_slots(output), page_locked);
}

void Plan::set_params(const Chain& chain) {
    for (std::size_t i = 0; i < steps.size(); ++i)
        steps[i].stage->set_params(chain.stages()[i].params);
}

} // namespace specklescope::cuda
