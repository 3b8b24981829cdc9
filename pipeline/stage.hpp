// A stage turns one image into another. Parameters, validation and coefficients are shared; only the inner
// loop is written twice, for the host and for the device.
#pragma once

#include "pipeline/frame.hpp"
#include "pipeline/param.hpp"
#include "pipeline/quantity.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// The part of the raw frame's samples that is at full scale, 0…1.
constexpr double saturated_share(const PixelCounts& counts) {
    return counts.raw_samples == 0
               ? 0
               : static_cast<double>(counts.raw_saturated) / static_cast<double>(counts.raw_samples);
}
/// Above this share it is said, in the log and on the picture.
inline constexpr double kSaturationWarning = 0.01;

/// Which of its PixelCounts a stage adds to.
struct Counted {
    bool undefined = false; ///< undefined and infinite
    bool saturated = false; ///< where its samples have a full scale
};

template <Space S> struct RunContext;
template <> struct RunContext<Space::host> {
    const FrameInfo& info; ///< as the stages before have described it
    PixelCounts& counts;   ///< zero on entry; see Stage::counted
    /// The frame of the run before once more, after an edit: a stage with history shows what it holds and
    /// takes the frame in only if it holds nothing.
    bool again = false;
};
template <> struct RunContext<Space::device> {
    const FrameInfo& info;
    PixelCounts* counts; ///< in device memory, zeroed on the stream before the run
    void* stream;        ///< cudaStream_t; every run of a stage is on the same one
    bool again = false;
};

/// How many frames a stage with history holds of those it wants; `wanted` 0: it needs none.
struct Warmup {
    std::string_view stage; ///< set by the executor
    int frames = 0, wanted = 0;
    bool done() const { return frames >= wanted; }
    bool operator==(const Warmup&) const = default;
};

/// "temporal 7/25"; empty when done.
std::string to_string(const Warmup& warmup);

/// One stage on one backend. prepare() allocates; run() never does.
template <Space S> class Stage {
public:
    virtual ~Stage() = default;
    /// Shape of the output for this input; called on a size change and after a rebuild edit. Throws
    /// UsageError when the parameters and the shape cannot go together.
    virtual Shape prepare(const Shape& input) = 0;
    virtual void run(ConstImageView<S> input, ImageView<S> output, const RunContext<S>& context) = 0;
    /// New values of free parameters; those of Cost::rebuild are as they were when the stage was made. Does
    /// not throw: whatever may fail is of Cost::rebuild.
    virtual void set_params(const Params& params) = 0;
    /// Called once after prepare(), when an edit of Cost::rebuild has made this stage in place of `old`,
    /// which is of the same type and was prepared for the same input: takes over what still holds. Does not
    /// throw; `old` is of no use afterwards.
    virtual void inherit(Stage& /*old*/) {}
    /// Forgets every frame; called between two runs, before a frame that does not follow the last one.
    virtual void reset() {}
    /// Results are averaged over so many frames later in the chain: a window counts as saturated as long as
    /// its result enters a mean. Called after prepare(), where it may allocate; of a stage with history also
    /// between two runs, where it must not throw.
    virtual void count_over(int /*frames*/) {}
    /// Asked after each run.
    virtual Warmup warmup() const { return {}; }
    /// What was chosen or should be known, in a few words ("recursive", "6 tiles of 2048×2048"); asked after
    /// set_params(), and after each run until Stage::warmup() is done.
    virtual std::string note() const { return {}; }
    /// What run() counts. What it does not, the executor counts or keeps from the stages before.
    virtual Counted counted() const { return {}; }
    /// Changes what later stages are told of the frame: a stage whose output has no full scale sets it to 0.
    virtual void describe(FrameInfo&) const {}
};
using HostStage = Stage<Space::host>;
using DeviceStage = Stage<Space::device>;

/// True where the numbers are light of a picture, and a display is to show them as such.
inline bool is_picture(const FrameInfo& info, const Quantity& quantity) {
    return info.light != Light::counts && quantity.measure == Measure::intensity;
}

/// For stages whose output is what their input was: filters, averages, geometry.
Quantity same_quantity(const Params& params, const Quantity& input);

/// What a stage is for: menus show stages by these, in this order.
enum class StageGroup : std::uint8_t { contrast, correction, averaging, brightness, geometry };
/// "Contrast and flow", "Dark and flat", …
std::string_view title(StageGroup group);
inline constexpr std::array<StageGroup, 5> kStageGroups = {StageGroup::contrast, StageGroup::correction,
                                                           StageGroup::averaging, StageGroup::brightness,
                                                           StageGroup::geometry};

/// Everything known about a stage before one exists: the registry's row, which the stage's room exports.
struct StageType {
    std::string_view name;
    std::string_view doc;        ///< one line
    std::string_view title = {}; ///< in plain words, for menus and headings: "Running mean"
    StageGroup group = StageGroup::contrast;
    const ParamTable* table;
    /// Accepted pixel types and channel counts, without conversion.
    std::vector<PixelType> types = {PixelType::u8, PixelType::u16, PixelType::f32};
    std::vector<int> channels = {1, 3};
    /// Largest difference allowed between host and device (tests/stages/stage_agreement_test.cpp). 0:
    /// identical bytes. For a stage whose quantity is its input's (same_quantity), a fraction of full scale:
    /// the camera's or the type's, for f32 the largest absolute value of the frames so far; integers may also
    /// differ by one level, where a rounding falls the other way. For any other stage the relative difference
    /// of two results. NaN agrees with NaN, an infinity with the same one; counts and warm-up are equal.
    double tolerance = 0;
    Quantity (*quantity)(const Params&, const Quantity& input) = same_quantity;
    std::unique_ptr<HostStage> (*make_host)(const Params&);
    std::unique_ptr<DeviceStage> (*make_device)(const Params&); ///< null in a build without CUDA
    bool stateful = false;                                      ///< a result depends on earlier frames
    /// How many frames before its own a result rests on; of a mean that fades, as many as count. Null: none.
    int (*history)(const Params&) = nullptr;
    /// Of how many frames a result is the mean; of a mean that fades, as many as count. Null: of one.
    int (*averages)(const Params&) = nullptr;
    /// True: with these parameters the output is the input, so that executors may leave the stage out. Null:
    /// never.
    bool (*passes)(const Params&) = nullptr;
    /// Sides of input pixels that the side of an output pixel spans. Null: 1.
    double (*pixel_side)(const Params&) = nullptr;
    std::string_view science =
        {};                    ///< heading of docs/science.md that defines it; empty: its parameters' say it
    bool moves_pixels = false; ///< a result's pixel is not of the place in the input where it lies
    /// True: with these parameters a sample of the output is a mean of several of the input. Null: never.
    bool (*mixes)(const Params&) = nullptr;
    /// True: with these parameters light of one pixel reaches those far away, so that what a lamp lost by
    /// being cut off at full scale is missing everywhere. Null: never.
    bool (*scatters)(const Params&) = nullptr;
    /// The parameters with what depends on the quantity that comes in. Throws UsageError if the stage can do
    /// nothing with it. Null: nothing does.
    Params (*settle)(const Params&, const Quantity& input) = nullptr;
};

/// Ordered; first is the default. stages/registry.cpp.
const std::vector<StageType>& stage_types();
/// Throws UsageError listing the names.
const StageType& find_stage(std::string_view name);

} // namespace specklescope
