// What an executor prepares for one chain and one input shape: the stages, and memory for every image between
// them. The same for the host and the device.
#pragma once

#include "pipeline/chain.hpp"
#include "pipeline/frame.hpp"
#include "pipeline/result.hpp"

#include <memory>
#include <vector>

namespace specklescope {

/// Where a plan's images lie.
struct PlanMemory {
    std::shared_ptr<SlotMemory> stages;    ///< what stages read and write
    std::shared_ptr<SlotMemory> downloads; ///< where results are copied to for the host; null: they are there
    int in_flight = 0;                     ///< frames on their way at once, beyond the one in work
    bool results = true; ///< false: whoever runs the plan has room for results, and the plan has none
};

/// Built whole or not at all; the constructor throws UsageError if the chain cannot run on the shape. Images
/// between stages exist once: frames go through the chain one after the other.
template <Space S> struct Plan {
    struct Step {
        ChainStage link; ///< as it was when the stage was made
        std::unique_ptr<Stage<S>> stage;
        Shape converted;  ///< what the stage reads
        Frame conversion; ///< holds it, if it differs from what comes in
        Shape output;
        Frame between; ///< holds the output; empty for the last step, which writes into a result slot
        /// The stage passes, and others follow: it is not run, what it would read goes on.
        bool left_out = false;
        int counted_over = 1;    ///< Stage::count_over()
        bool incomplete = false; ///< a stage before this one filled its history at the last run

        /// Call before each run. `complete`: no stage before this one still fills its history. A stage
        /// forgets what it took in before its input was complete: its own warm-up begins then.
        void begin(bool complete) {
            if (complete && incomplete)
                stage->reset();
            incomplete = !complete;
        }
    };
    Shape input;
    Shape output;
    GreyChannel channel = GreyChannel::luma; ///< of conversions of colour to grey
    bool to_grey = false;                    ///< there is one
    std::vector<Step> steps;                 ///< of the stages that are not bypassed
    std::shared_ptr<const StageNotes> notes;
    std::shared_ptr<FrameRing> uploads; ///< device: what comes in; with an empty chain these are the results
    std::shared_ptr<FrameRing> results; ///< null with an empty chain, and where they lie elsewhere
    std::shared_ptr<FrameRing> downloads; ///< device: null until a sink asks for host pixels

    /// Rings of `old` (may be null) that fit are taken over: an edit of a radius allocates nothing anew. Its
    /// stages before the first one that differs in more than free parameters are not
    /// made again: take_over() fetches them. They keep their history, the one that differs may inherit() from
    /// the one in its place, everything behind starts afresh.
    Plan(const Chain& chain, const Shape& shape, const PlanMemory& memory, const Plan* old);
    /// Second and last step of making a plan, once nothing can fail any more; `old` is of no use afterwards.
    void take_over(const Chain& chain, Plan* old);

    /// Makes `downloads` if it is missing, the chain is not empty and stages run elsewhere than on the host.
    void make_downloads();

    /// Free parameters, to every stage; histories after a stage that they change begin again. Throws
    /// UsageError, before any stage has them, if the chain cannot be settled().
    void set_params(const Chain& chain);
    /// Every stage forgets its history.
    void reset();
    /// Of the first stage that still fills its history.
    Warmup warmup() const;
    /// To be called after each run: what a stage says of itself may change while it fills its history.
    void refresh_notes();

private:
    void make_rings(const Plan* old);
    void take_notes();

    PlanMemory memory_;
    std::vector<std::string> advice_; ///< of each step: its place in the chain
    std::vector<bool> places_;        ///< of each stage of the chain: it has a step, and is not bypassed
    std::size_t kept_ = 0;            ///< steps that come from the old plan
    bool notes_settled_ = false;      ///< no stage was filling its history when they were taken
};

extern template struct Plan<Space::host>;
extern template struct Plan<Space::device>;

} // namespace specklescope
