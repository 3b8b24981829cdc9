// A chain that callers feed frame by frame.
#pragma once

#include "library/convert.hpp"
#include "library/handles.hpp"
#include "library/settings.hpp"
#include "pipeline/executor.hpp"

#include <mutex>
#include <optional>

namespace specklescope::library {

class ChainObject final : public Object {
public:
    static constexpr Kind kKind{"chain", "specklescope_chain_create"};

    ChainObject(Chain chain, const Settings& settings, const Watcher& watcher);

    // Any thread.
    /// Tries the edit on a copy; the next frame is made with it.
    template <class Edit> void edit(Edit&& change) {
        const std::scoped_lock lock(edits_);
        Chain next = wanted_;
        change(next);
        take(std::move(next));
    }
    Chain wanted() const {
        const std::scoped_lock lock(edits_);
        return wanted_;
    }
    std::shared_ptr<SlotMemory> callers_memory() const { return callers_memory_; }
    void set_regions(std::vector<Region> regions);
    std::vector<Region> regions() const;

    // One thread at a time.
    Shape output(const Shape& input);
    /// Waits for what it begins on a device only where `wait` says so, or one of the two lies on the host.
    void process(const Place& input, const FrameInfo& facts, const Place& output, bool wait);
    void reset() { gap_ = true; }
    /// Of the last frame, which is waited for.
    const Result& last();
    Executor& executor() { return *executor_; }

private:
    void take(Chain next);
    void fit(const Shape& input);
    void fit_regions();
    void move_to(const Shape& input);
    void set_anew(const Chain& next, std::uint64_t version, const Shape& input);
    void submit(const Place& input, const FrameInfo& info, const Place& output);
    void collect();

    Watcher watcher_;
    int threads_;
    bool medians_;
    GreyChannel channel_;
    std::unique_ptr<Executor> executor_;
    std::shared_ptr<SlotMemory> callers_memory_; ///< the executor's, which is one thread's at a time
    bool gap_ = true;                            ///< the next frame does not follow the last one
    std::uint64_t frames_ = 0;
    std::optional<Shape> shape_; ///< that the executor is ready for
    Result last_;                ///< without pixels
    Frame made_;                 ///< its pixels, until they are where the caller wants them

    mutable std::mutex edits_;
    Chain wanted_, applied_;
    std::shared_ptr<const RegionOutlines> wanted_regions_, applied_regions_; ///< null: none
    std::uint64_t version_ = 0, applied_version_ = 0;
};

/// Makes all that the chain needs, and lets go of it again. Throws UsageError where it cannot run on frames
/// of that shape.
void check_runs(const Chain& chain, const Shape& input);
} // namespace specklescope::library
