// Settings that made a recording, for --config from:FILE and for a recording that is the source.
#include "config/recorded/recorded_settings.hpp"
#include "config/toml.hpp"

#include "analysis/regions_file.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"
#include "files/image_file.hpp"
#include "files/json_object.hpp"
#include "files/recorded.hpp"
#include "pipeline/chain.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "recording/record_file.hpp"
#include "sources/gst/gst_container.hpp"
#include "sources/registry.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

namespace specklescope {

namespace {

/// Beginning of the description of every recording.
constexpr std::string_view kDescriptionBegin = "{\"finished\"";

/// Descriptions of the file and of its last frame (empty if stored elsewhere).
struct Descriptions {
    std::string file, last_frame;
};

namespace fs = std::filesystem;

/// First line and last complete line of the .jsonl of a headerless file.
Descriptions beside_raw(const std::string& lines_path) {
    constexpr std::size_t kMost = std::size_t{1} << 20; // longer than any line that the recorder writes
    std::ifstream lines(lines_path, std::ios::binary);
    std::string text(kMost, '\0');
    const auto read = [&] {
        text.resize(kMost);
        lines.read(text.data(), static_cast<std::streamsize>(text.size()));
        text.resize(static_cast<std::size_t>(lines.gcount()));
        lines.clear();
    };
    read();
    Descriptions found{.file = text.substr(0, text.find('\n')), .last_frame = {}};
    lines.seekg(0, std::ios::end);
    const auto size = static_cast<std::size_t>(std::max<std::streamoff>(0, lines.tellg()));
    const std::size_t tail = size > kMost ? size - kMost : 0;
    lines.seekg(static_cast<std::streamoff>(tail));
    read();
    const std::size_t end = text.rfind('\n');
    const std::size_t before = end == std::string::npos || end == 0 ? end : text.rfind('\n', end - 1);
    if (before != std::string::npos && end != 0)
        found.last_frame = text.substr(before + 1, end - before - 1);
    return found;
}

Descriptions in_image(const std::string& path, bool last_frame) {
    const std::unique_ptr<ImageReader> image = open_image(path);
    Descriptions found;
    if (!image->next_page())
        return found;
    found.file = image->description();
    if (!last_frame || found.file.find(kDescriptionBegin) == std::string::npos)
        return found;
    const std::uint64_t pages = image->pages();
    try { // a recording that was cut off still has a first frame
        if (pages > 1 && image->seek_page(pages - 1))
            found.last_frame = image->description();
    } catch (const RunError&) {
        found.last_frame.clear();
    }
    return found;
}

/// Texts of a .tiff, .h5, .raw with its .raw.jsonl, .mkv, .png, .hdr or .exr. `file` holds no
/// kDescriptionBegin if the file is not a recording of this program. The last frame is read only on request,
/// since that may take long. Throws UsageError if the file does not exist or cannot be read.
Descriptions descriptions_of(const std::string& path, bool last_frame = true) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored))
        throw UsageError("There is no recording '" + path + "'. Name a file that --record wrote.");
    if (const std::string lines = path + ".jsonl"; fs::is_regular_file(lines, ignored))
        return beside_raw(lines);
    constexpr std::string_view kMatroska = "\x1a\x45\xdf\xa3";
    std::string magic(kMatroska.size(), '\0');
    std::ifstream(path, std::ios::binary).read(magic.data(), static_cast<std::streamsize>(magic.size()));
    if (magic == kMatroska)
        return {.file = matroska_texts(path), .last_frame = {}};
    try {
        return in_image(path, last_frame);
    } catch (const RunError& error) {
        throw UsageError(error.what());
    }
}

/// Cuts a text from a file to a length that fits an error message.
std::string shortened(const std::string& text, std::size_t most);

/// Every member throws UsageError for damaged, incompatible or forbidden values. The settings may then be
/// changed in part: pass a copy.
class RecordedReader {
public:
    RecordedReader(const std::string& path, Settings& settings)
        : path_(path), by_("'" + path + "'"), settings_(settings) {}

    /// False if it is no recording of this program.
    bool begin(const Descriptions& texts);
    /// Takes all settings for another run with any source.
    void repeat(const Descriptions& texts);
    /// Takes the settings for viewing the recording itself. False if it has none.
    bool show();
    /// "results of speckle:radius=3 (speckle flow index in 1/s)".
    std::string what_it_holds() const;
    /// Chain that made the results; null if unknown. Throws for results of several chains.
    std::shared_ptr<const Chain> chain_of_results(const Descriptions& texts) const;
    bool of_results() const { return content_ == "processed" || content_ == "screen"; }
    /// True for results, and for raw frames of a source that played results.
    bool holds_results() const;

private:
    using Json = nlohmann::json;
    [[noreturn]] void fail(const std::string& sentence) const;
    [[noreturn]] void damaged(const std::string& what) const;
    /// Adds the name of the file to errors about values.
    template <class F> void of_file(F&& act) const {
        constexpr std::size_t kMost = 2000;
        try {
            act();
        } catch (const UsageError& error) {
            fail(shortened(error.what(), kMost));
        }
    }
    bool has(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }
    /// Parses the first object of a text and ignores the rest.
    Json parsed(const std::string& from) const;
    std::string quantity() const;
    std::string text(const char* key) const;
    double number(const char* key) const;
    void check_repeatable() const;
    /// True if its pixels are colours instead of numbers.
    bool shows_colours() const;
    Chain read_chain();
    /// Remarks on parameters that an older version did not have.
    void note_missing(const ChainStage& stage);
    /// Remarks on captures (a dark frame): no description contains them.
    void note_captures(const ChainStage& stage);
    void refuse_files(const ChainStage& stage) const;
    /// A recording states every value. A value equal to the default counts as not given, except a stated
    /// exposure.
    void only_chosen(ChainStage& stage) const;
    /// The exposure that the camera reported is used if the source reports none.
    void read_exposure(Chain& chain);
    void read_channel();
    void read_range(const char* key, const char* low, const char* high, bool automatic);
    void read_view();
    /// Takes the pixel size for another source. A recording that is the source states its own.
    void read_scale();
    void read_regions();
    std::string count_of_regions() const;
    void remark_shown();
    void remark();
    bool changed_later(const std::string& last_frame) const;

    const std::string& path_;
    std::string by_; ///< name of the file, and its version if it differs
    Settings& settings_;
    Json json_;
    std::string content_;
};

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
    read_exposure(chain); // a recording that is the source states its own
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
                                    " changed during the recording. The chain of its first frame is used.");
}

bool RecordedReader::show() {
    if (content_ == "raw" && !has("chain"))
        return false; // of an older version
    Chain chain;
    if (content_ == "raw")
        chain = read_chain();
    settings_.chain = std::move(chain);
    settings_.chain_from = path_;
    settings_.chain_default = false;
    read_channel();
    if (!shows_colours())
        read_view();
    if (content_ != "screen" && content_ != "window") // its pixels are not pixels of the result
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
    } catch (const UsageError&) { // NOLINT(bugprone-empty-catch): of another version, kept as text
    }
    return "results of " + one_line(shortened(made, 300)) + " (" + quantity() + ")";
}

std::shared_ptr<const Chain> RecordedReader::chain_of_results(const Descriptions& texts) const {
    if (content_ != "processed" || !has("parameters"))
        return nullptr;
    if (changed_later(texts.last_frame))
        fail("the chain was changed while it was recorded, so its results have no common mean. Name a "
             "recording of one chain.");
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
    fail("its description is damaged or cut short (" + what + "). Name another recording of that run.");
}
nlohmann::json RecordedReader::parsed(const std::string& from) const {
    Json json = json_object_in(from);
    if (json.is_null())
        damaged("it is not a complete JSON object, or more than " + std::to_string(kMaxJsonDepth) + " deep");
    return json;
}
std::string RecordedReader::text(const char* key) const {
    if (!json_.contains(key) || !json_[key].is_string())
        damaged(std::string("it has no text '") + key + "'");
    return json_[key].get<std::string>();
}
double RecordedReader::number(const char* key) const {
    if (!json_[key].is_number())
        damaged(std::string(key) + " is not a number");
    return json_[key].get<double>();
}

void RecordedReader::check_repeatable() const {
    if (content_ == "mask" || content_ == "window")
        throw UsageError(
            "'" + path_ + "' holds " + what_it_holds() +
            ", which have no chain. Name a recording of results (--record) or of raw frames (--record-raw).");
    if (content_ == "raw" && !has("chain"))
        throw UsageError("'" + path_ +
                         "' has raw frames without their chain. Name a recording of results (--record).");
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
        settings_.remarks.push_back(path_ + " does not state " + join(missing) + " of " +
                                    stage.params.table().owner() + ": left at the default.");
}

void RecordedReader::note_captures(const ChainStage& stage) {
    for (const ParamDecl& decl : stage.params.table().decls())
        if (decl.kind == ParamKind::action && stage.params.visible(decl))
            settings_.remarks.push_back(path_ + " does not contain the frame that " +
                                        stage.params.table().owner() + " took with " + decl.name +
                                        ". Take it again.");
}

void RecordedReader::refuse_files(const ChainStage& stage) const {
    if (settings_.trusted)
        return;
    for (const ParamDecl& decl : stage.params.table().decls())
        if (const std::string file =
                decl.kind == ParamKind::path ? to_string(stage.params.get(decl.name)) : "";
            !file.empty())
            fail(stage.params.table().owner() + " reads a file, " + decl.name + " = '" +
                 one_line(shortened(file, 256)) + "'. If you trust it, add --trust.");
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
        damaged(std::string(key) + " is not a pair of numbers");
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
        damaged("um_per_px is not a pixel size");
    settings_.program.set("um_per_px", 0.0);
    settings_.um_per_source_px = of_results() ? um / source_pixels_per_pixel(settings_.chain) : um;
}

void RecordedReader::read_regions() {
    if (has("regions_left_out"))
        settings_.remarks.push_back("The regions of " + path_ +
                                    " were too many for its description. Give their file with --regions.");
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
    settings_.remarks.push_back("Taken from " + path_ + ", as at the start of its recording: chain " +
                                text_in_effect(settings_.chain) +
                                (has("colormap") ? ", colours and range" : "") +
                                (regions.empty() ? "" : ", " + regions) + ".");
}

void RecordedReader::remark() {
    const std::string regions = count_of_regions();
    const std::string source = has("source") ? shortened(text("source"), 200) : "";
    settings_.remarks.push_back("Settings of " + path_ + (source.empty() ? "" : ", recorded from " + source) +
                                ": " + text_in_effect(settings_.chain) +
                                (regions.empty() ? "" : ", measured over " + regions) + ".");
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

namespace fs = std::filesystem;

/// Path of the source if it is one file on a disk; else empty.
std::string file_of(const SourceArgument& source) {
    if (source.empty() || source.holds_secret() || !source.references().empty())
        return "";
    try {
        const SourceText parsed = parse_source_text(source.revealed());
        std::error_code ignored;
        return is_file_kind(parsed.kind) && fs::is_regular_file(parsed.target, ignored) ? parsed.target : "";
    } catch (const UsageError&) { // reported when the file is opened
        return "";
    }
}

} // namespace

void load_recorded(const std::string& path, Settings& settings) {
    if (path.empty())
        throw UsageError("--config from: needs the name of a recording: --config from:flow.tiff.");
    Settings changed = settings;
    RecordedReader reader(path, changed);
    const Descriptions texts = descriptions_of(path);
    if (!reader.begin(texts))
        throw UsageError(
            "'" + path +
            "' has no settings. Name a recording of this program: .tiff, .mkv, or .raw with its .raw.jsonl.");
    reader.repeat(texts);
    settings = std::move(changed);
}

SourceRecording look_at_source(const Settings& settings) {
    const std::string path = file_of(settings.source);
    SourceRecording found;
    if (path.empty())
        return found;
    try {
        Settings unused;
        RecordedReader reader(path, unused);
        if (!reader.begin(descriptions_of(path, false)))
            return found;
        found.path = path;
        if (reader.holds_results())
            found.holds_results = reader.what_it_holds();
    } catch (const UsageError& error) { // it can be looked at all the same
        run_log().debug("{}", error.what());
    }
    return found;
}

std::shared_ptr<const Chain> chain_of_results(const std::string& path) {
    if (path.empty())
        return nullptr;
    Settings unused;
    RecordedReader reader(path, unused);
    const Descriptions texts = descriptions_of(path);
    return reader.begin(texts) ? reader.chain_of_results(texts) : nullptr;
}

std::string recording_text(const std::string& path) {
    try {
        const std::string text = descriptions_of(path, false).file;
        const std::size_t at = text.find(kDescriptionBegin);
        const nlohmann::json found =
            at == std::string::npos ? nlohmann::json() : json_object_in(std::string_view(text).substr(at));
        return found.is_object() ? found.dump() : "";
    } catch (const UsageError&) {
        return "";
    }
}

bool take_recording(Settings& settings) {
    const SourceRecording source = look_at_source(settings);
    if (source.path.empty())
        return false;
    Settings changed = settings;
    try {
        RecordedReader reader(source.path, changed);
        if (!reader.begin(descriptions_of(source.path, false)) || !reader.show())
            return false;
    } catch (const UsageError& error) {
        settings.remarks.push_back("The settings that " + source.path + " states are not used. " +
                                   error.what());
        if (source.holds_results.empty())
            return false;
        show_as_they_are(settings, source);
        return true;
    }
    settings = std::move(changed);
    return true;
}

void show_as_they_are(Settings& settings, const SourceRecording& source) {
    if (source.holds_results.empty())
        return;
    if (settings.chain_from.empty() || settings.chain_from == source.path) {
        settings.chain.stages().clear();
        settings.chain_from = source.path;
        settings.chain_default = false;
        settings.remarks.push_back(source.path + " holds " + source.holds_results +
                                   ": no stage processes them again without --stage, --preset or --config.");
    } else if (!settings.chain.stages().empty()) {
        settings.remarks.push_back(source.path + " holds " + source.holds_results + ", no raw frames: " +
                                   text_in_effect(settings.chain) + " processes them again.");
    }
}

} // namespace specklescope
