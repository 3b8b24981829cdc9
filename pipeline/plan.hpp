// Everything that an executor prepares for one chain and one input shape: the stages and the images between
// them. The same for host and device.
#pragma once

#include "pipeline/chain.hpp"
#include "pipeline/frame.hpp"
#include "pipeline/result.hpp"

#include <memory>
#include <vector>

namespace specklescope {

/// Memory for a plan's images.
struct PlanMemory {
    std::shared_ptr<SlotMemory> stages; ///< input and output of stages
    /// destination of results for the host; null: they are there already
    std::shared_ptr<SlotMemory> downloads;
    int in_flight = 0;   ///< frames in flight besides the one being processed
    bool results = true; ///< false: the plan has no ring for results, the caller provides memory
};

/// The constructor throws UsageError if the chain cannot run on the shape. Images between stages exist once:
/// frames run through the chain one after the other.
template <Space S> struct Plan {
    struct Step {
        ChainStage link; ///< as of the creation of the stage
        std::unique_ptr<Stage<S>> stage;
        Shape converted;  ///< input of the stage
        Frame conversion; ///< its memory, if it differs from the incoming image
        Shape output;
        Frame between; ///< output; empty for the last step, which writes into a result slot
        /// The stage passes and is not the last: it is skipped, and its input is used instead.
        bool skipped = false;
        int counted_over = 1;    ///< Stage::count_over()
        bool incomplete = false; ///< at the last run, a stage before this one was warming up

        /// Call before each run. `complete`: all earlier stages have finished their warm-up. When they have,
        /// this stage forgets its earlier input and starts its own warm-up.
        void begin(bool complete) {
            if (complete && incomplete)
                stage->reset();
            incomplete = !complete;
        }
    };
    /// A named output of a step with its memory.
    struct Also {
        ChainOutput made; ///< its stage is a place in the chain
        std::size_t step = 0;
        std::shared_ptr<const Chain> chain;            ///< the stages up to its own
        std::shared_ptr<FrameRing> results, downloads; ///< downloads as of the plan
        Frame spare, spare_download;                   ///< found by wait_also()
    };
    Shape input;
    Shape output;
    GreyChannel channel = GreyChannel::luma; ///< for conversions from colour to grey
    bool to_grey = false;                    ///< such a conversion exists
    std::vector<Step> steps;                 ///< of the stages that are not bypassed
    std::vector<Also> also;                  ///< in the order of their steps
    std::shared_ptr<const StageNotes> notes;
    /// device: incoming frames; with an empty chain these are the results
    std::shared_ptr<FrameRing> uploads;
    std::shared_ptr<FrameRing> results;   ///< null with an empty chain or external result memory
    std::shared_ptr<FrameRing> downloads; ///< device: null until a sink requests host pixels

    /// Reuses the rings of `old` (may be null) that fit, so that an edit of a radius allocates nothing.
    /// Stages before the first non-free difference are kept with their windows; take_over() moves them. The
    /// stage that differs may inherit() from its predecessor; all later stages start again.
    Plan(const Chain& chain, const Shape& shape, const PlanMemory& memory, const Plan* old);
    /// Second and last step of making a plan, when nothing can fail any more. Do not use `old` afterwards.
    void take_over(const Chain& chain, Plan* old);

    /// Waits until each named output has a free slot; false at the end of the time.
    bool wait_also(SteadyClock::time_point end);
    /// Slots of a frame for the named outputs. Throws NoSlot.
    std::vector<NamedImage> take_also(bool download);
    /// Makes `downloads` if they are missing, the chain is not empty and the stages do not run on the host.
    void make_downloads();

    /// Sets free parameters on every stage; resets the windows of later stages whose input changes. Throws
    /// UsageError, before any change, if the chain cannot be settled().
    void set_params(const Chain& chain);
    /// Resets the windows of all stages.
    void reset();
    /// Warm-up of the first stage that is not complete, of all or of the first `count` steps.
    Warmup warmup(std::size_t count = kMaxStages) const;
    /// Call after each run: notes of stages may change during the warm-up.
    void refresh_notes();
    /// No stage is warming up, and none changes its note with each run.
    bool notes_settled() const { return notes_settled_; }
    /// Call before a frame that was recorded in a warm-up: stages warm up again after it.
    void unsettle() { notes_settled_ = false; }

private:
    void make_rings(const Plan* old);
    void make_also(const Plan* old);
    void describe_also(const Chain& chain);
    void take_notes();

    PlanMemory memory_;
    Quantity source_;                 ///< of the frames
    std::vector<std::string> advice_; ///< per step: place in the chain
    std::vector<bool> places_;        ///< per stage of the chain: it has a step, so it is not bypassed
    std::size_t kept_ = 0;            ///< steps taken over from the old plan
    bool notes_settled_ = false;      ///< no stage was warming up when the notes were taken
};

extern template struct Plan<Space::host>;
extern template struct Plan<Space::device>;

} // namespace specklescope
