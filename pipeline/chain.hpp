// A chain: stages with their parameters, in order. The same text on the command line, in TOML and in file
// metadata.
#pragma once

#include "pipeline/stage.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

struct ChainStage {
    const StageType* type = nullptr;
    Params params;
    bool bypassed = false; ///< it stays in its place with what is set, and is not computed
};

/// What a stage for grey images gets of colour: one channel as it is, or a mean in f32, which is not rounded.
enum class GreyChannel : std::uint8_t {
    luma, ///< 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601)
    red,
    green,
    blue,
    mean ///< (R + G + B) / 3
};
/// In the order of the enumeration: "luma", "red", …
const std::vector<std::string>& grey_channel_names();
std::string to_string(GreyChannel channel);

/// Value type; an empty chain shows the source as it is.
class Chain {
public:
    /// Parses "speckle" or "speckle:radius=2,output=contrast"; throws UsageError.
    void add(std::string_view text);
    void add(ChainStage stage) { stages_.push_back(std::move(stage)); }
    std::vector<ChainStage>& stages() { return stages_; }
    const std::vector<ChainStage>& stages() const { return stages_; }
    /// Of what comes out.
    Quantity quantity() const;
    /// Of what goes in. Belongs to the source, not to the stages: neither text nor presets hold it.
    const Quantity& input() const { return input_; }
    void set_input(Quantity quantity) { input_ = std::move(quantity); }
    bool stateful() const;
    /// How many frames before its own a result rests on, all stages together.
    std::uint64_t history() const;
    /// What colour becomes where a stage takes grey only. Belongs to the camera, not to the stages: neither
    /// text nor presets hold it.
    GreyChannel channel() const { return channel_; }
    void set_channel(GreyChannel channel) { channel_ = channel; }

private:
    std::vector<ChainStage> stages_;
    GreyChannel channel_ = GreyChannel::luma;
    Quantity input_;
};

/// An exposure time and who says so.
struct Exposure {
    double ms = std::numeric_limits<double>::quiet_NaN(); ///< NaN: unknown
    ExposureOrigin origin = ExposureOrigin::unknown;
    bool known() const { return origin != ExposureOrigin::unknown; }
};
/// True for what an exposure time is in: 1/s, s.
bool rests_on_exposure(const Quantity& quantity);
/// The exposure that a result is made with: the source's where it reports one; otherwise, if the result's
/// unit needs one, what the last stage that has an `exposure` says: as set, or its default.
Exposure exposure_used(const Chain& chain, const FrameInfo& info);
/// The numbers scale with an exposure that nobody gave.
bool rests_on_assumption(const Quantity& quantity, const Exposure& exposure);
/// What the "*" of such numbers means, as a sentence.
std::string assumed_text(const Exposure& exposure);
/// "5 ms (camera)", "10 ms (default: assumed, not stated)"; empty if unknown.
std::string to_string(const Exposure& exposure);

/// "speckle:radius=3,exposure=10,output=sfi,border=replicate": every parameter, also those at their default;
/// `bypass=true` before them where it is.
std::string to_string(const ChainStage& stage);
std::string to_string(const Chain& chain); ///< stages joined by " | "
/// The same for people: without bypassed stages, and parameters that have no effect with the others as they
/// are.
std::string text_in_effect(const Chain& chain);

/// The chain without its bypassed stages: what is computed.
Chain active(const Chain& chain);
/// The key of a stage's text and of its table in TOML that says it: "gaussian:bypass=true,sigma=2". No
/// parameter has this name.
inline constexpr std::string_view kBypass = "bypass";

/// True if the stage hands on what it gets, with the parameters as they are.
bool passes(const ChainStage& stage);

/// The chain as its stages take effect one behind the other (StageType::settle); bypassed ones stay as they
/// are. Throws UsageError.
Chain settled(Chain chain);

/// What should be known of the order of the stages, one text a stage, empty where there is nothing to say: a
/// mean of a flow index, and a contrast of a picture that is smoothed already, are not what they seem
/// (docs/science.md).
std::vector<std::string> advice(const Chain& chain);
/// Those texts with the names of their stages: "stage average: …".
std::vector<std::string> advice_lines(const Chain& chain);

/// True if the stages are the same, both are bypassed or none, and only parameters of Cost::free differ, none
/// of which decides whether the stage passes.
bool differs_in_free_only(const ChainStage& a, const ChainStage& b);
/// True if the chains have the same stages and only parameters of Cost::free differ: no stage needs
/// prepare().
bool differs_in_free_only(const Chain& a, const Chain& b);

inline constexpr int kMaxStages = 16;

} // namespace specklescope
