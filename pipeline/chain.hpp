// A chain: stages with their parameters, in order. The command line, TOML files and file metadata use the
// same text.
#pragma once

#include "pipeline/stage.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

struct ChainStage {
    const StageType* type = nullptr;
    Params params;
    bool bypassed = false; ///< keeps its place and parameters, but is not computed
};

/// Input of grey-only stages for colour images: one unchanged channel, or a mean in f32 without rounding.
enum class GreyChannel : std::uint8_t {
    luma, ///< 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601)
    red,
    green,
    blue,
    mean ///< (R + G + B) / 3
};
/// Names in the order of the enumeration: "luma", "red", …
const std::vector<std::string>& grey_channel_names();
std::string to_string(GreyChannel channel);

/// A further image of a chain, from one of its stages.
struct ChainOutput {
    NamedOutput output;
    std::size_t stage = 0; ///< place in the chain
};
inline constexpr std::size_t kMaxNamedOutputs = 12;

/// Value type; an empty chain passes the source through.
class Chain {
public:
    /// Parses "speckle" or "speckle:radius=2,output=contrast"; throws UsageError.
    void add(std::string_view text);
    void add(ChainStage stage) { stages_.push_back(std::move(stage)); }
    std::vector<ChainStage>& stages() { return stages_; }
    const std::vector<ChainStage>& stages() const { return stages_; }
    /// Quantity of the output.
    Quantity quantity() const;
    /// Images besides the last one, from stages that are not bypassed (StageType::also).
    std::vector<ChainOutput> also() const;
    /// Quantity of the input. A property of the source: chain texts and presets do not contain it.
    const Quantity& input() const { return input_; }
    void set_input(Quantity quantity) { input_ = std::move(quantity); }
    bool stateful() const;
    /// True if a stage combines frames of several exposures, so that a change of exposure restarts no window.
    bool takes_several_exposures() const;
    /// Number of earlier frames that a result depends on, over all stages.
    std::uint64_t history() const;
    /// Channel for grey-only stages. A property of the camera: chain texts and presets do not contain it.
    GreyChannel channel() const { return channel_; }
    void set_channel(GreyChannel channel) { channel_ = channel; }
    /// Named output to be displayed in place of the last image; "" or an unknown name: the last image. Chain
    /// texts and presets do not contain it.
    const std::string& shown() const { return shown_; }
    void set_shown(std::string name) { shown_ = std::move(name); }
    /// shown() if the chain gives it, otherwise "".
    std::string displayed() const;
    /// Quantity of the displayed image.
    Quantity displayed_quantity() const;
    /// Takes over what chain texts do not contain: input, channel and displayed output.
    void keep_context(const Chain& of) {
        input_ = of.input_;
        channel_ = of.channel_;
        shown_ = of.shown_;
    }

private:
    std::vector<ChainStage> stages_;
    GreyChannel channel_ = GreyChannel::luma;
    std::string shown_;
    Quantity input_;
};

/// An exposure time and its origin.
struct Exposure {
    double ms = std::numeric_limits<double>::quiet_NaN(); ///< NaN: unknown
    ExposureOrigin origin = ExposureOrigin::unknown;
    bool known() const { return origin != ExposureOrigin::unknown; }
};
/// True if the unit of `quantity` depends on the exposure time: 1/s, s.
bool rests_on_exposure(const Quantity& quantity);
/// Exposure that a result is computed with: the source's if it reports one. Otherwise, if the unit of the
/// result needs one, the value (set or default) of the last stage that has an `exposure`.
Exposure exposure_used(const Chain& chain, const FrameInfo& info);
/// The same for a named output of the chain.
Exposure exposure_used(const Chain& chain, const Quantity& quantity, const FrameInfo& info);
/// True if the numbers scale with an assumed exposure.
bool rests_on_assumption(const Quantity& quantity, const Exposure& exposure);
/// Explanation of the "*" next to such numbers.
std::string assumed_text(const Exposure& exposure);
/// "5 ms (camera)", "10 ms (default: assumed, not stated)"; empty if unknown.
std::string to_string(const Exposure& exposure);

/// "speckle:radius=3,exposure=10,output=sfi,border=replicate": every parameter, defaults included; starts
/// with `bypass=true` for a bypassed stage.
std::string to_string(const ChainStage& stage);
std::string to_string(const Chain& chain); ///< stages joined by " | "
/// The same for display: without bypassed stages and without parameters that have no effect.
std::string text_in_effect(const Chain& chain);

/// The chain without its bypassed stages, as it is computed.
Chain active(const Chain& chain);
/// Key for bypassing a stage, in its text and in its TOML table: "gaussian:bypass=true,sigma=2". No parameter
/// has this name.
inline constexpr std::string_view kBypass = "bypass";

/// True if the output of the stage is its input with these parameters.
bool passes(const ChainStage& stage);

/// The chain with parameters settled from stage to stage (StageType::settle); bypassed stages are unchanged.
/// Throws UsageError, also for two named outputs of one name and for more than kMaxNamedOutputs.
Chain settled(Chain chain);

/// Warnings about the order of the stages, one text per stage, empty without a warning. A mean of a flow
/// index and a contrast of a smoothed image are misleading (docs/science.md).
std::vector<std::string> advice(const Chain& chain);
/// The warnings with the names of their stages: "stage average: …".
std::vector<std::string> advice_lines(const Chain& chain);

/// True if the stages are the same, both or neither are bypassed, and only Cost::free parameters differ that
/// do not change passes().
bool differs_in_free_only(const ChainStage& a, const ChainStage& b);
/// True if the chains have the same stages and only Cost::free parameters differ: no stage needs prepare().
bool differs_in_free_only(const Chain& a, const Chain& b);

inline constexpr int kMaxStages = 16;

/// Texts of the stages of "background:black=64 | speckle:radius=3"; "" and "none": no stage. A value in
/// double quotes may contain '|'. Throws UsageError for an empty stage.
std::vector<std::string_view> stage_texts(std::string_view text);
/// Parses the whole chain. Throws UsageError.
Chain chain_from_text(std::string_view text);

} // namespace specklescope
