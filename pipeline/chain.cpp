#include "pipeline/chain.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace specklescope {

namespace {

std::string quoted_if_needed(const std::string& value) {
    if (value.find_first_of(",\"|") == std::string::npos)
        return value;
    std::string text = "\"";
    for (const char c : value)
        text += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
    return text + '"';
}

bool bypass_from(const std::string& value, const StageType& type) {
    if (value != "true" && value != "false")
        throw UsageError("stage " + std::string(type.name) + ": bypass = " + one_line(value) +
                         " is not possible; allowed: true, false.");
    return value == "true";
}

} // namespace

std::string_view title(StageGroup group) {
    static constexpr std::array<std::string_view, kStageGroups.size()> kTitles = {
        "Contrast and flow", "Dark and flat", "Averages and filters", "Brightness", "Geometry"};
    return kTitles[static_cast<std::size_t>(group)];
}

void Chain::add(std::string_view text) {
    if (stages_.size() >= kMaxStages)
        throw UsageError("A chain holds at most " + std::to_string(kMaxStages) + " stages; leave some out.");
    const std::size_t colon = text.find(':');
    ChainStage stage;
    stage.type = &find_stage(text.substr(0, colon));
    stage.params = Params(*stage.type->table);
    for_key_values(colon == std::string_view::npos ? "" : text.substr(colon + 1),
                   "stage " + std::string(stage.type->name),
                   [&](std::string_view key, const std::string& value) {
                       if (key == kBypass)
                           stage.bypassed = bypass_from(value, *stage.type);
                       else
                           stage.params.set_text(key, value);
                   });
    stages_.push_back(std::move(stage));
}

const std::vector<std::string>& grey_channel_names() {
    static const std::vector<std::string> names = {"luma", "red", "green", "blue", "mean"};
    return names;
}

std::string to_string(GreyChannel channel) { return grey_channel_names()[static_cast<std::size_t>(channel)]; }

bool rests_on_exposure(const Quantity& quantity) { return quantity.unit == "1/s" || quantity.unit == "s"; }

Exposure exposure_used(const Chain& chain, const FrameInfo& info) {
    return exposure_used(chain, chain.quantity(), info);
}

Exposure exposure_used(const Chain& chain, const Quantity& quantity, const FrameInfo& info) {
    if (std::isfinite(info.exposure_ms))
        return {info.exposure_ms * info.summed, info.exposure_origin};
    Exposure used;
    if (!rests_on_exposure(quantity))
        return used;
    for (const ChainStage& stage : chain.stages())
        if (const ParamDecl* decl = stage.bypassed ? nullptr : stage.params.table().find("exposure");
            decl && stage.params.visible(*decl))
            used = {std::get<double>(stage.params.get("exposure")) * info.summed,
                    stage.params.given("exposure") ? ExposureOrigin::parameter : ExposureOrigin::assumed};
    return used;
}

bool rests_on_assumption(const Quantity& quantity, const Exposure& exposure) {
    return rests_on_exposure(quantity) && exposure.origin == ExposureOrigin::assumed;
}

std::string assumed_text(const Exposure& exposure) {
    return "* Computed with an assumed exposure of " + to_string(ParamValue(exposure.ms)) +
           " ms: neither the source nor the user gave one. Set it in the stage.";
}

std::string to_string(const Exposure& exposure) {
    if (!exposure.known())
        return "";
    return to_string(ParamValue(exposure.ms)) + " ms (" + to_string(exposure.origin) +
           (exposure.origin == ExposureOrigin::assumed ? ": assumed, not stated)" : ")");
}

std::string to_string(const Warmup& warmup) {
    return warmup.done() ? ""
                         : std::string(warmup.stage) + " " + std::to_string(warmup.frames) + "/" +
                               std::to_string(warmup.wanted);
}

Quantity same_quantity(const Params&, const Quantity& input) { return input; }

Quantity Chain::quantity() const {
    Quantity quantity = input_;
    for (const ChainStage& stage : stages_)
        if (!stage.bypassed)
            quantity = stage.type->quantity(stage.params, quantity);
    return quantity;
}

std::vector<ChainOutput> Chain::also() const {
    std::vector<ChainOutput> outputs;
    Quantity quantity = input_;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
        const ChainStage& stage = stages_[i];
        if (stage.bypassed)
            continue;
        if (stage.type->also)
            for (NamedOutput& output : stage.type->also(stage.params, quantity))
                outputs.push_back({std::move(output), i});
        quantity = stage.type->quantity(stage.params, quantity);
    }
    return outputs;
}

std::string Chain::displayed() const {
    const std::vector<ChainOutput> outputs = shown_.empty() ? std::vector<ChainOutput>() : also();
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](const ChainOutput& one) { return one.output.name == shown_; })
               ? shown_
               : "";
}

Quantity Chain::displayed_quantity() const {
    for (ChainOutput& one : shown_.empty() ? std::vector<ChainOutput>() : also())
        if (one.output.name == shown_)
            return std::move(one.output.quantity);
    return quantity();
}

bool Chain::stateful() const {
    return std::any_of(stages_.begin(), stages_.end(),
                       [](const ChainStage& s) { return s.type->stateful && !s.bypassed; });
}

bool Chain::takes_several_exposures() const {
    return std::any_of(stages_.begin(), stages_.end(), [](const ChainStage& s) {
        return s.type->exposures == Exposures::takes_several && !s.bypassed;
    });
}

std::uint64_t Chain::history() const {
    std::uint64_t frames = 0, per_result = 1;
    for (const ChainStage& stage : stages_) {
        if (stage.bypassed)
            continue;
        if (stage.type->history)
            frames += per_result * static_cast<std::uint64_t>(stage.type->history(stage.params));
        if (stage.type->frames_per_result)
            per_result *= static_cast<std::uint64_t>(stage.type->frames_per_result(stage.params));
    }
    return frames;
}

Chain active(const Chain& chain) {
    Chain left = chain;
    std::erase_if(left.stages(), [](const ChainStage& stage) { return stage.bypassed; });
    return left;
}

bool passes(const ChainStage& stage) { return stage.type->passes && stage.type->passes(stage.params); }

namespace {

void refuse_same_names(const std::vector<ChainOutput>& outputs) {
    if (outputs.size() > kMaxNamedOutputs)
        throw UsageError("A chain gives at most " + std::to_string(kMaxNamedOutputs) +
                         " further images; leave some out of `also`.");
    for (std::size_t i = 0; i < outputs.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (outputs[i].output.name == outputs[j].output.name)
                throw UsageError("Two stages of the chain give an image '" + outputs[i].output.name +
                                 "'; leave it out of `also` in one of them.");
}

/// Throws UsageError for a window over frames whose exposures change in turn.
void refuse_mixed_exposures(const Chain& chain) {
    const StageType *window = nullptr, *maker = nullptr;
    for (const ChainStage& stage : chain.stages()) {
        if (stage.bypassed)
            continue;
        const bool has_window = stage.type->exposures == Exposures::one && stage.type->history &&
                                stage.type->history(stage.params) > 0;
        if (maker && has_window)
            throw UsageError(
                "stage " + std::string(stage.type->name) + " after stage " + std::string(maker->name) +
                " combines frames of different exposures. Put it after stage mesi, or let stage " +
                std::string(maker->name) + " make one exposure.");
        if (stage.type->exposures == Exposures::takes_several)
            maker = nullptr;
        if (stage.type->makes_several_exposures && stage.type->makes_several_exposures(stage.params)) {
            maker = stage.type; // its input has one exposure
            window = nullptr;
            continue;
        }
        if (window && stage.type->exposures == Exposures::takes_several)
            throw UsageError("stage " + std::string(window->name) + " before stage " +
                             std::string(stage.type->name) +
                             " combines frames of different exposures. Put it after stage " +
                             std::string(stage.type->name) + ", or leave it out.");
        if (has_window)
            window = stage.type;
    }
}

} // namespace

Chain settled(Chain chain) {
    refuse_mixed_exposures(chain);
    Quantity quantity = chain.input();
    for (ChainStage& stage : chain.stages()) {
        if (stage.bypassed)
            continue;
        if (stage.type->settle)
            stage.params = stage.type->settle(stage.params, quantity);
        double speckles = quantity.speckles;
        if (stage.type->speckles)
            speckles = stage.type->speckles(stage.params);
        else if (stage.type->averages)
            speckles *= stage.type->averages(stage.params);
        quantity = stage.type->quantity(stage.params, quantity);
        quantity.speckles = speckles;
    }
    refuse_same_names(chain.also());
    return chain;
}

namespace {

/// Finds misleading orders of stages. The mean of 1/K² is not 1/K² of the mean, since it is convex in K²; and
/// any smoothing of the image before the contrast lowers K².
class Advice {
public:
    explicit Advice(Quantity input) : quantity_(std::move(input)) {}
    std::string of(const ChainStage& stage) {
        const Measure in = quantity_.measure;
        const std::string name(stage.type->name);
        quantity_ = stage.type->quantity(stage.params, quantity_);
        const bool mixes = stage.type->mixes && stage.type->mixes(stage.params);
        if (in == quantity_.measure) { // a filter: the quantity stays
            if (mixes && smoothed_by_.empty())
                smoothed_by_ = name;
            return mixes && in == Measure::flow ? "the mean of a flow index is too high: set " + made_by_ +
                                                      " to K² and convert after the mean, as in " + made_by_ +
                                                      ":output=contrast2 | " + name + " | flow"
                                                : "";
        }
        const std::string before = std::exchange(smoothed_by_, "");
        const bool of_contrast = in == Measure::contrast || in == Measure::contrast2;
        if (!of_contrast) // a conversion keeps the name of the measuring stage
            made_by_ = name;
        if (before.empty())
            return "";
        if (in == Measure::intensity && quantity_.measure != Measure::other)
            return "contrast after stage " + before + " is too low: put that stage after this one";
        if (in == Measure::contrast && quantity_.measure != Measure::other)
            return "stage " + before +
                   " averages K, and the mean of K is not the root of the mean of K²: set " + made_by_ +
                   " to output=contrast2";
        return "";
    }

private:
    Quantity quantity_;
    std::string smoothed_by_; ///< since quantity_ was measured
    std::string made_by_;     ///< the stage that measured the contrast
};

} // namespace

std::vector<std::string> advice(const Chain& chain) {
    Advice advice(chain.input());
    std::vector<std::string> texts;
    for (const ChainStage& stage : chain.stages())
        texts.push_back(stage.bypassed ? "" : advice.of(stage));
    return texts;
}

std::vector<std::string> advice_lines(const Chain& chain) {
    std::vector<std::string> lines;
    const std::vector<std::string> texts = advice(chain);
    for (std::size_t i = 0; i < texts.size(); ++i)
        if (!texts[i].empty())
            lines.push_back("stage " + std::string(chain.stages()[i].type->name) + ": " + texts[i] + ".");
    return lines;
}

bool differs_in_free_only(const ChainStage& a, const ChainStage& b) {
    if (a.type != b.type || a.bypassed != b.bypassed || passes(a) != passes(b))
        return false;
    const auto& decls = a.params.table().decls();
    return std::all_of(decls.begin(), decls.end(), [&](const ParamDecl& decl) {
        return decl.cost == Cost::free || a.params.get(decl.name) == b.params.get(decl.name);
    });
}

bool differs_in_free_only(const Chain& a, const Chain& b) {
    return a.channel() == b.channel() &&
           std::equal(a.stages().begin(), a.stages().end(), b.stages().begin(), b.stages().end(),
                      [](const ChainStage& left, const ChainStage& right) {
                          return differs_in_free_only(left, right);
                      });
}

namespace {

/// True for a number that is off at 0, and for none of several choices.
bool is_off(const ParamDecl& decl, const ParamValue& value) {
    return (decl.least > 0 && value == ParamValue(0.0)) ||
           (decl.kind == ParamKind::text && !decl.choices.empty() && value == ParamValue(std::string()));
}

/// Lists effective parameters without `exposure`: the source may report another value, which exposure_used()
/// returns.
bool takes_effect(const ChainStage& stage, const ParamDecl& decl) {
    return stage.params.visible(decl) && decl.name != "exposure" &&
           !is_off(decl, stage.params.get(decl.name));
}

std::string stage_text(const ChainStage& stage, bool all) {
    std::string text(stage.type->name);
    char separator = ':';
    if (stage.bypassed) {
        text += separator + std::string(kBypass) + "=true";
        separator = ',';
    }
    for (const ParamDecl& decl : stage.params.table().decls()) {
        if (decl.kind == ParamKind::action || !(all || takes_effect(stage, decl)))
            continue;
        text += separator + decl.name + "=" + quoted_if_needed(to_string(stage.params.get(decl.name)));
        separator = ',';
    }
    return text;
}

std::string chain_text(const Chain& chain, bool all) {
    std::string text;
    for (const ChainStage& stage : chain.stages())
        if (all || !stage.bypassed)
            text += (text.empty() ? "" : " | ") + stage_text(stage, all);
    return text.empty() ? "none" : text;
}

} // namespace

std::string to_string(const ChainStage& stage) { return stage_text(stage, true); }
std::string to_string(const Chain& chain) { return chain_text(chain, true); }
std::string text_in_effect(const Chain& chain) { return chain_text(chain, false); }

namespace {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\n";
    const std::size_t first = text.find_first_not_of(kBlank);
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// End of the first stage of `text`: a '|' outside quotes, or the end.
std::size_t end_of_stage(std::string_view text) {
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (quoted && text[i] == '\\')
            ++i;
        else if (text[i] == '"' && (quoted || (i > 0 && text[i - 1] == '=')))
            quoted = !quoted;
        else if (text[i] == '|' && !quoted)
            return i;
    }
    return text.size();
}

} // namespace

std::vector<std::string_view> stage_texts(std::string_view text) {
    std::vector<std::string_view> texts;
    std::string_view rest = trimmed(text);
    if (rest.empty() || rest == "none")
        return texts;
    while (true) {
        const std::size_t end = end_of_stage(rest);
        const std::string_view stage = trimmed(rest.substr(0, end));
        if (stage.empty())
            throw UsageError(
                "The chain '" + std::string(text) +
                "' has nothing between two '|' or at an end; give a stage there, or leave out one '|'.");
        texts.push_back(stage);
        if (end == rest.size())
            return texts;
        rest.remove_prefix(end + 1);
    }
}

Chain chain_from_text(std::string_view text) {
    Chain chain;
    for (const std::string_view stage : stage_texts(text))
        chain.add(stage);
    return chain;
}

} // namespace specklescope
