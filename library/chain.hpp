// A chain that callers feed frame by frame.
#pragma once

#include "library/convert.hpp"
#include "library/handles.hpp"
#include "library/settings.hpp"
#include "pipeline/executor.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace specklescope::library {

/// A stage by its index from 0, or by its name if that is unique.
using StagePlace = std::variant<std::size_t, std::string_view>;
/// "0", "speckle".
StagePlace stage_named(std::string_view text);
/// Index from 0. Throws UsageError if the chain has no such stage, or several.
std::size_t place_of(const Chain& chain, const StagePlace& stage);

/// Names and values of parameters.
using Values = std::vector<std::pair<std::string, std::string>>;
/// Parses "radius=3,output=sfi". Throws UsageError.
Values values_of(std::string_view text);
/// Throws the UsageError of the stage's table.
void set_values(ChainStage& stage, const Values& values);

class ChainObject final : public Object {
public:
    static constexpr Kind kKind{"chain", "specklescope_chain_create"};

    ChainObject(Chain chain, const Settings& settings, const Watcher& watcher);

    // Any thread.
    /// Checks the edit on a copy; it takes effect with the next frame.
    template <class Edit> void edit(Edit&& change) {
        const std::scoped_lock lock(edits_);
        Chain next = wanted_;
        change(next);
        take(std::move(next));
    }
    /// Copies the stages of another chain. Before the first frame this replaces the initial chain and is not
    /// an edit.
    void copy(Chain stages);
    Chain wanted() const {
        const std::scoped_lock lock(edits_);
        return wanted_;
    }
    std::shared_ptr<SlotMemory> callers_memory() const { return callers_memory_; }
    void set_regions(std::vector<Region> regions);
    std::vector<Region> regions() const;

    // Call from one thread at a time.
    Shape output(const Shape& input);
    /// Waits for the GPU only if `wait` is set or one of the images is on the host.
    void process(const Place& input, const FrameInfo& facts, const Place& output, bool wait);
    void reset() { gap_ = true; }
    /// Result of the last frame; waits for it.
    const Result& last();
    /// Its further images; call last() before.
    const std::vector<Result>& also() const { return also_; }
    Executor& executor() { return *executor_; }

private:
    void take(Chain next);
    /// Shape of the returned image of such frames; `last`: of the chain's last image. Throws UsageError if
    /// the chain does not give the image.
    Shape returned(const Chain& chain, const Shape& input, const Shape& last) const;
    /// Throws UsageError if the caller refuses results of that shape.
    void agree(const Chain& next, const Shape& output) const;
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
    std::string show_; ///< further image that is returned instead of the last one; empty: none
    std::unique_ptr<Executor> executor_;
    std::shared_ptr<SlotMemory> callers_memory_; ///< from the executor, which only one thread uses
    bool gap_ = true;                            ///< the next frame does not follow the previous one
    std::uint64_t frames_ = 0;
    std::optional<Shape> shape_; ///< input for which the executor is prepared
    Shape returned_;             ///< shape of the returned image then
    Result last_;                ///< without pixels
    std::vector<Result> also_;   ///< its further images, with pixels
    Frame made_;                 ///< pixels of last_ until they are copied to the caller

    mutable std::mutex edits_;
    Chain wanted_, applied_;
    std::shared_ptr<const RegionOutlines> wanted_regions_, applied_regions_; ///< null: none
    std::uint64_t version_ = 0, applied_version_ = 0;
    bool begun_ = false; ///< the executor was prepared for a frame
};

/// Output shape of the chain on frames of that shape, from a temporary executor. Throws UsageError if the
/// chain cannot run on them.
Shape check_runs(const Chain& chain, const Shape& input);
/// True if no stage moves pixels.
bool in_place(const Chain& chain);
} // namespace specklescope::library
