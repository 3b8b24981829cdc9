#include "config/recorded/reader.hpp"

#include "analysis/regions_file.hpp"
#include "config/text.hpp"
#include "files/json_object.hpp"
#include "files/recorded.hpp"
#include "pipeline/chain_text.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "recording/record_file.hpp"

#include <algorithm>

namespace specklescope {

std::string shortened(const std::string& text, std::size_t most) {
    return text.size() <= most ? text : utf8_prefix(text, most) + "…";
}

bool RecordedReader::begin(const Descriptions& texts) {
    const std::size_t at = texts.file.find(kDescriptionBegin);
    if (at == std::string::npos)
        return false;
    json_ = parsed(texts.file.substr(at));
    const std::string program = has("program") ? text("program") : "";
    constexpr std::string_view kOurs = "Specklescope ";
    if (!program.starts_with(kOurs))
        return false;
    if (program != std::string(kOurs) + SPECKLESCOPE_VERSION)
        by_ += " (of " + one_line(shortened(program, 64)) + "; this is " SPECKLESCOPE_VERSION ")";
    content_ = text("content");
    if (content_ != "raw" && content_ != "mask" && content_ != "processed" && content_ != "screen" &&
        content_ != "window")
        damaged("its content is '" + one_line(shortened(content_, 64)) + "'");
    return true;
}

void RecordedReader::repeat(const Descriptions& texts) {
    check_repeatable();
    Chain chain = read_chain();
    read_exposure(chain); // a recording that is the source says it itself
    replace_chain(settings_, chain, path_);
    read_channel();
    read_view();
    read_scale();
    settings_.regions_path.clear();
    settings_.regions.reset();
    settings_.regions_from.clear();
    read_regions();
    remark();
    if (changed_later(texts.last_frame))
        settings_.remarks.push_back("The chain of " + path_ +
                                    " was changed while it was recorded; that of its first frame is "
                                    "taken.");
}

bool RecordedReader::show() {
    if (content_ == "raw" && !has("chain"))
        return false; // of an older version
    Chain chain;
    if (content_ == "raw")
        chain = read_chain();
    settings_.chain = std::move(chain);
    settings_.chain_from = path_;
    read_channel();
    if (!shows_colours())
        read_view();
    if (content_ != "screen" &&
        content_ != "window") // where its pictures are not those of the result, they lie elsewhere
        read_regions();
    remark_shown();
    return true;
}

std::string RecordedReader::what_it_holds() const {
    if (content_ == "mask")
        return "where raw frames were saturated";
    if (content_ == "raw" && holds_results())
        return "results of another recording (" + quantity() + ")";
    if (content_ == "screen")
        return "a movie of the screen";
    if (content_ == "window")
        return "a movie of the window";
    std::string made = has("parameters") ? text("parameters") : "another chain";
    try {
        made = text_in_effect(chain_from_text(made));
    } catch (const UsageError&) { // NOLINT(bugprone-empty-catch): of another version, as it stands there
    }
    return "results of " + one_line(shortened(made, 300)) + " (" + quantity() + ")";
}

std::shared_ptr<const Chain> RecordedReader::chain_of_results(const Descriptions& texts) const {
    if (content_ != "processed" || !has("parameters"))
        return nullptr;
    if (changed_later(texts.last_frame))
        fail("the chain was changed while it was recorded, so its results have no common mean; name a "
             "recording of "
             "one chain.");
    try {
        return std::make_shared<const Chain>(chain_from_text(text("parameters")));
    } catch (const UsageError&) { // of another version
        return nullptr;
    }
}

bool RecordedReader::holds_results() const {
    return of_results() ||
           (content_ == "raw" && has("measure") && text("measure") != to_string(Measure::intensity));
}

std::string RecordedReader::quantity() const {
    constexpr std::size_t kMost = 64;
    const auto said = [&](const char* key) {
        return json_.contains(key) && json_[key].is_string() ? one_line(shortened(text(key), kMost)) : "";
    };
    const std::string unit = said("unit");
    return said("quantity") + (unit.empty() || unit == "1" ? "" : " in " + unit);
}

void RecordedReader::fail(const std::string& sentence) const { throw UsageError(by_ + ": " + sentence); }
void RecordedReader::damaged(const std::string& what) const {
    fail("its description is damaged or cut short (" + what + "); name another recording of that run.");
}
nlohmann::json RecordedReader::parsed(const std::string& from) const {
    Json json = json_object_in(from);
    if (json.is_null())
        damaged("it is no whole JSON object, or more than " + std::to_string(kMaxJsonDepth) + " deep");
    return json;
}
std::string RecordedReader::text(const char* key) const {
    if (!json_.contains(key) || !json_[key].is_string())
        damaged(std::string("it has no text '") + key + "'");
    return json_[key].get<std::string>();
}
double RecordedReader::number(const char* key) const {
    if (!json_[key].is_number())
        damaged(std::string(key) + " is no number");
    return json_[key].get<double>();
}

void RecordedReader::check_repeatable() const {
    if (content_ == "mask" || content_ == "window")
        throw UsageError("'" + path_ + "' holds " + what_it_holds() +
                         ", which no chain made; name a recording of results (--record) or of raw frames "
                         "(--record-raw).");
    if (content_ == "raw" && !has("chain"))
        throw UsageError("'" + path_ +
                         "' holds raw frames and does not say which chain ran over them; name a "
                         "recording of results (--record).");
}

bool RecordedReader::shows_colours() const {
    if (content_ == "screen" || content_ == "window")
        return true;
    if (!of_results())
        return false;
    try {
        return record_format(path_).colors;
    } catch (const UsageError&) {
        return false;
    }
}

Chain RecordedReader::read_chain() {
    constexpr std::size_t kMost = 65536;
    const std::string said = text(content_ == "raw" ? "chain" : "parameters");
    if (said.size() > kMost)
        damaged("its chain has more than 64 kB");
    Chain chain;
    of_file([&] { chain = chain_from_text(said); });
    for (ChainStage& stage : chain.stages()) {
        note_missing(stage);
        note_captures(stage);
        refuse_files(stage);
        only_chosen(stage);
    }
    return chain;
}

void RecordedReader::note_missing(const ChainStage& stage) {
    std::vector<std::string> missing;
    for (const ParamDecl& decl : stage.params.table().decls())
        if (decl.kind != ParamKind::action && !stage.params.given(decl.name))
            missing.push_back(decl.name);
    if (!missing.empty())
        settings_.remarks.push_back(path_ + " does not say " + join(missing) + " of " +
                                    stage.params.table().owner() + ": left at the default.");
}

void RecordedReader::note_captures(const ChainStage& stage) {
    for (const ParamDecl& decl : stage.params.table().decls())
        if (decl.kind == ParamKind::action && stage.params.visible(decl))
            settings_.remarks.push_back("What " + stage.params.table().owner() + " of " + path_ +
                                        " took with " + decl.name + " is not in it: take it again.");
}

void RecordedReader::refuse_files(const ChainStage& stage) const {
    if (settings_.trusted)
        return;
    for (const ParamDecl& decl : stage.params.table().decls())
        if (const std::string file =
                decl.kind == ParamKind::path ? to_string(stage.params.get(decl.name)) : "";
            !file.empty())
            fail(stage.params.table().owner() + " reads a file, " + decl.name + " = '" +
                 one_line(shortened(file, 256)) + "'; if that is meant, read this recording with --trust.");
}

void RecordedReader::only_chosen(ChainStage& stage) const {
    Params chosen(stage.params.table());
    const bool set = has("exposure_origin") && text("exposure_origin") == "parameter";
    for (const ParamDecl& decl : chosen.table().decls())
        if (const ParamValue value = stage.params.get(decl.name);
            value != chosen.get(decl.name) || (set && decl.name == "exposure"))
            chosen.set(decl.name, value);
    stage.params = std::move(chosen);
}

void RecordedReader::read_exposure(Chain& chain) {
    if (!has("exposure_origin") || !has("exposure_used_ms"))
        return;
    const std::string origin = text("exposure_origin");
    if (origin != "camera" && origin != "file")
        return;
    const double ms = number("exposure_used_ms");
    for (ChainStage& stage : chain.stages())
        if (stage.params.table().find("exposure"))
            of_file([&] { stage.params.set("exposure", ms); });
    if (rests_on_exposure(chain.quantity()))
        settings_.remarks.push_back("If the source reports no exposure, it is " + to_string(ms) +
                                    " ms, which the " + origin + " of " + path_ + " reported.");
}

void RecordedReader::read_channel() {
    if (has("channel"))
        of_file([&] { settings_.program.set_text("channel", text("channel")); });
}

void RecordedReader::read_range(const char* key, const char* low, const char* high, bool automatic) {
    if (!has(key))
        return;
    const Json& ends = json_[key];
    if (!ends.is_array() || ends.size() != 2 || !ends[0].is_number() || !ends[1].is_number())
        damaged(std::string(key) + " is no pair of numbers");
    of_file([&] {
        settings_.view.set("automatic", automatic);
        settings_.view.set(low, ends[0].get<double>());
        settings_.view.set(high, ends[1].get<double>());
    });
}

void RecordedReader::read_view() {
    for (const char* key : {"colormap", "curve", "layout"})
        if (has(key))
            of_file([&] { settings_.view.set_text(key, text(key)); });
    if (has("exposure_stops"))
        of_file([&] { settings_.view.set("exposure_stops", number("exposure_stops")); });
    read_range("range_percentiles", "low_percentile", "high_percentile", true);
    read_range("range", "low", "high", false);
    Settings shown;
    shown.view = settings_.view;
    of_file([&] { check(shown); });
}

void RecordedReader::read_scale() {
    if (!has("um_per_px"))
        return;
    const double um = number("um_per_px") * (has("screen_zoom") ? number("screen_zoom") : 1);
    if (!(um > 0 && um <= kMaxUmPerPx))
        damaged("um_per_px is no size of a pixel");
    settings_.program.set("um_per_px", 0.0);
    settings_.um_per_source_px = of_results() ? um / source_pixels_per_pixel(settings_.chain) : um;
}

void RecordedReader::read_regions() {
    if (has("regions_left_out"))
        settings_.remarks.push_back("The regions of " + path_ +
                                    " were too many for its description; give their file with "
                                    "--regions.");
    if (!has("regions"))
        return;
    std::vector<Region> regions;
    of_file([&] {
        regions = read_regions_json(Json{{"regions", json_["regions"]}}.dump(), "its regions");
        check_regions(regions);
    });
    if (regions.empty())
        return;
    settings_.regions = std::move(regions);
    settings_.regions_from = path_;
}

std::string RecordedReader::count_of_regions() const {
    const std::size_t count =
        settings_.regions && settings_.regions_from == path_ ? settings_.regions->size() : 0;
    return count == 0 ? "" : std::to_string(count) + " region" + (count > 1 ? "s" : "");
}

void RecordedReader::remark_shown() {
    const std::string regions = count_of_regions();
    if (content_ != "raw") {
        settings_.remarks.push_back(path_ + " holds " + what_it_holds() +
                                    ": shown as they are, no stage processes them again" +
                                    (regions.empty() ? "." : "; with their " + regions + "."));
        return;
    }
    settings_.remarks.push_back("Taken from " + path_ + ", as they were when its recording began: chain " +
                                text_in_effect(settings_.chain) +
                                (has("colormap") ? ", colours and range" : "") +
                                (regions.empty() ? "" : ", " + regions) + ".");
}

void RecordedReader::remark() {
    const std::string regions = count_of_regions();
    const std::string source = has("source") ? shortened(text("source"), 200) : "";
    settings_.remarks.push_back(
        "The settings are those of " + path_ + (source.empty() ? "" : ", which was made of " + source) +
        ": " + text_in_effect(settings_.chain) + (regions.empty() ? "" : ", measured over " + regions) + ".");
}

bool RecordedReader::changed_later(const std::string& last_frame) const {
    const std::string mine = has("parameters") ? text("parameters") : "";
    const auto other = [&](const Json& frame) {
        return !mine.empty() && frame.is_object() && frame.contains("parameters") &&
               frame["parameters"] != mine;
    };
    const auto facts = json_.find("facts");
    if (facts != json_.end() && facts->is_array() &&
        std::any_of(facts->begin(), facts->end(), [&](const Json& change) {
            return change.is_array() && change.size() == 2 && other(change[1]);
        }))
        return true;
    return !last_frame.empty() && other(json_object_in(last_frame));
}

} // namespace specklescope
