// A stage turns one image into another. Parameters, validation and coefficients are shared; only the inner
// loop is written for host and device separately.
#pragma once

#include "pipeline/frame.hpp"
#include "pipeline/param.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// Fraction of the raw frame's samples that is at full scale, 0…1.
constexpr double saturated_share(const PixelCounts& counts) {
    return counts.raw_samples == 0
               ? 0
               : static_cast<double>(counts.raw_saturated) / static_cast<double>(counts.raw_samples);
}
/// Fraction above which a warning is logged and shown.
inline constexpr double kSaturationWarning = 0.01;

/// The PixelCounts that a stage adds to.
struct Counted {
    bool undefined = false; ///< undefined and infinite
    bool saturated = false; ///< if its samples have a full scale
};

template <Space S> struct RunContext;
template <> struct RunContext<Space::host> {
    const FrameInfo& info; ///< as described by the stages before
    PixelCounts& counts;   ///< zero on entry; see Stage::counted
    /// The previous frame again, after an edit, or a frame that is left out (FrameMotion): a stage with a
    /// window shows its present content and adds the frame only if the window is empty.
    bool again = false;
    std::span<const HostView> also{}; ///< to be written, too: StageType::also
};
template <> struct RunContext<Space::device> {
    const FrameInfo& info;
    PixelCounts* counts; ///< in device memory, zeroed on the stream before the run
    void* stream;        ///< cudaStream_t; every run of a stage is on the same one
    bool again = false;
    std::span<const DeviceView> also{};
};

/// One frame of several.
template <Space S> struct StageRun {
    ConstImageView<S> input;
    ImageView<S> output;
    RunContext<S> context;
};

/// Number of frames in a stage's window out of those needed; `wanted` 0: it needs none.
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
    /// Shape of the output for this input; called after a size change and after a rebuild edit. Throws
    /// UsageError if parameters and shape do not fit.
    virtual Shape prepare(const Shape& input) = 0;
    virtual void run(ConstImageView<S> input, ImageView<S> output, const RunContext<S>& context) = 0;
    /// run() for each of these frames in their order, with less work than as many calls. False: the stage
    /// does not support that and did nothing.
    virtual bool run_together(std::span<const StageRun<S>> /*frames*/) { return false; }
    /// New values of free parameters; Cost::rebuild parameters are unchanged since the stage was made. Does
    /// not throw: parameters that may fail are Cost::rebuild.
    virtual void set_params(const Params& params) = 0;
    /// Called once after prepare() when a Cost::rebuild edit has replaced `old`, a stage of the same type and
    /// input: takes over the state that still applies. Does not throw. Do not use `old` afterwards.
    virtual void inherit(Stage& /*old*/) {}
    /// Clears the window; called between two runs, before a frame that does not follow the last one.
    virtual void reset() {}
    /// Later stages average this many frames: a window counts as saturated while its result is part of a
    /// mean. Called after prepare(), where it may allocate; for a stage with a window also between runs,
    /// where it must not throw.
    virtual void count_over(int /*frames*/) {}
    /// The part of run() that depends on earlier frames, for a stage without a window after count_over() with
    /// more than one frame: counts saturated windows of these frames, which are in order. Copies of the
    /// stage, for which count_over(0) was called, compute the results without that count.
    virtual void count_in_order(std::span<const StageRun<S>> /*frames*/) {}
    /// Read after each run.
    virtual Warmup warmup() const { return {}; }
    /// Choices and hints in a few words ("recursive", "6 tiles of 2048×2048"); read after set_params(), and
    /// after each run until Stage::warmup() is done, or always if note_changes().
    virtual std::string note() const { return {}; }
    /// True if any run may change the note, or begin another warm-up.
    virtual bool note_changes() const { return false; }
    /// Counts made by run(). The executor adds the others, or keeps those of earlier stages.
    virtual Counted counted() const { return {}; }
    /// Changes the frame info for later stages: a stage whose output has no full scale sets it to 0.
    virtual void describe(FrameInfo&) const {}
};
using HostStage = Stage<Space::host>;
using DeviceStage = Stage<Space::device>;

/// True if the values are light of a display image and should be shown as such.
inline bool is_picture(const FrameInfo& info, const Quantity& quantity) {
    return info.light != Light::counts && quantity.measure == Measure::intensity;
}

/// For stages that keep the quantity of their input: filters, averages, geometry.
Quantity same_quantity(const Params& params, const Quantity& input);

/// A further image of a stage, made in the same pass: f32, one channel, the size of its main output.
struct NamedOutput {
    std::string name; ///< "contrast"; unique in a chain
    Quantity quantity;
};

/// Groups of stages in menus, in this order.
enum class StageGroup : std::uint8_t { contrast, correction, averaging, brightness, geometry };
/// "Contrast and flow", "Dark and flat", …
std::string_view title(StageGroup group);
inline constexpr std::array<StageGroup, 5> kStageGroups = {StageGroup::contrast, StageGroup::correction,
                                                           StageGroup::averaging, StageGroup::brightness,
                                                           StageGroup::geometry};

/// Exposures of the frames that a stage combines.
enum class Exposures : std::uint8_t {
    one,          ///< frames of another exposure restart its window
    takes_several ///< combines frames of several exposures in turn; its chain continues when they change
};

/// Description of a stage: its row in the registry, exported by its folder.
struct StageType {
    std::string_view name;
    std::string_view doc;        ///< one line
    std::string_view title = {}; ///< for menus and headings: "Running mean"
    StageGroup group = StageGroup::contrast;
    const ParamTable* table;
    /// Pixel types and channel counts accepted without conversion.
    std::vector<PixelType> types = {PixelType::u8, PixelType::u16, PixelType::f32};
    std::vector<int> channels = {1, 3};
    /// Largest allowed difference between host and device (tests/stages/stage_agreement_test.cpp). 0:
    /// identical bytes. For a stage that keeps its quantity (same_quantity): a fraction of full scale (the
    /// camera's or the type's, for f32 the largest absolute value of the frames so far); integers may also
    /// differ by one level due to rounding. For other stages: the relative difference. NaN matches NaN, an
    /// infinity the same infinity; counts and warm-up are equal.
    double tolerance = 0;
    Quantity (*quantity)(const Params&, const Quantity& input) = same_quantity;
    std::unique_ptr<HostStage> (*make_host)(const Params&);
    std::unique_ptr<DeviceStage> (*make_device)(const Params&); ///< null in a build without CUDA
    /// Further images with these parameters, in the order of RunContext::also. Null: never any. Parameters
    /// that change their number or names are Cost::rebuild.
    std::vector<NamedOutput> (*also)(const Params&, const Quantity& input) = nullptr;
    bool stateful = false; ///< results depend on earlier frames
    /// Number of earlier frames that a result depends on; for a fading mean, the effective number. Null:
    /// none.
    int (*history)(const Params&) = nullptr;
    /// Number of frames averaged in a result; for a fading mean, the effective number. Null: one.
    int (*averages)(const Params&) = nullptr;
    Exposures exposures = Exposures::one;
    /// Frames per new result, for the history of later stages. Null: 1.
    int (*frames_per_result)(const Params&) = nullptr;
    /// True: with these parameters results have several exposures in turn. Null: never.
    bool (*makes_several_exposures)(const Params&) = nullptr;
    /// Effective number of independent speckles in a sample of the result, for Quantity::speckles. Null: that
    /// of the input.
    double (*speckles)(const Params&) = nullptr;
    /// True: with these parameters the output equals the input, so that executors may skip the stage. Null:
    /// never.
    bool (*passes)(const Params&) = nullptr;
    /// Input pixels per output pixel along one side. Null: 1.
    double (*pixel_side)(const Params&) = nullptr;
    std::string_view science = {}; ///< heading in docs/science.md; empty: given by its parameters
    bool moves_pixels = false;     ///< output pixels do not correspond to input pixels at the same place
    /// True: with these parameters an output sample is a mean of several input samples. Null: never.
    bool (*mixes)(const Params&) = nullptr;
    /// True: with these parameters light spreads far, so that the light lost by clipping at full scale is
    /// missing everywhere. Null: never.
    bool (*scatters)(const Params&) = nullptr;
    /// Parameters adapted to the input quantity. Throws UsageError if the stage cannot use it. Null: no
    /// adaptation.
    Params (*settle)(const Params&, const Quantity& input) = nullptr;
};

/// Ordered; the first is the default. Defined in stages/registry.cpp.
const std::vector<StageType>& stage_types();
/// Throws UsageError with the list of names.
const StageType& find_stage(std::string_view name);

} // namespace specklescope
