// --config from:FILE: the settings that made a recording, out of what it says of itself. All of it is data.
#include "analysis/regions_file.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"
#include "files/image_file.hpp"
#include "pipeline/chain_text.hpp"
#include "sources/gst/gst_container.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace specklescope {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view kBegin = "{\"finished\""; // of every description

/// What a recording says of itself and of its last frame; the latter is empty where that stands elsewhere.
struct Descriptions {
    std::string file, last_frame;
};

[[noreturn]] void not_ours(const std::string& path) {
    throw UsageError("'" + path +
                     "' does not say which settings made it; name a recording of results that this program "
                     "wrote: .tiff, .mkv, or .raw with its .raw.jsonl beside it.");
}

/// The first line of the text beside headerless pixels, and the last that is whole.
Descriptions beside_raw(const std::string& lines_path) {
    constexpr std::size_t kMost = std::size_t{1} << 20; // no line of ours is longer
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

Descriptions in_image(const std::string& path) {
    const std::unique_ptr<ImageReader> image = open_image(path);
    Descriptions found;
    if (!image->next_page())
        return found;
    found.file = image->description();
    if (found.file.find(kBegin) == std::string::npos)
        return found;
    const std::uint64_t pages = image->pages();
    try { // a recording that was cut off has a first frame all the same
        if (pages > 1 && image->go_to(pages - 1))
            found.last_frame = image->description();
    } catch (const RunError&) {
        found.last_frame.clear();
    }
    return found;
}

Descriptions descriptions_of(const std::string& path) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored))
        throw UsageError("There is no recording '" + path + "'; name a file that --record wrote.");
    if (const std::string lines = path + ".jsonl"; fs::is_regular_file(lines, ignored))
        return beside_raw(lines);
    constexpr std::string_view kMatroska = "\x1a\x45\xdf\xa3";
    std::string magic(kMatroska.size(), '\0');
    std::ifstream(path, std::ios::binary).read(magic.data(), static_cast<std::streamsize>(magic.size()));
    if (magic == kMatroska)
        return {.file = matroska_texts(path), .last_frame = {}};
    try {
        return in_image(path);
    } catch (const RunError& error) {
        throw UsageError(error.what());
    }
}

/// Of a text from a file no more than a sentence can hold.
std::string shortened(const std::string& text, std::size_t most) {
    return text.size() <= most ? text : text.substr(0, most) + "…";
}

class Reader {
public:
    Reader(const std::string& path, Settings& settings)
        : path_(path), by_("'" + path + "'"), settings_(settings) {}

    void read(const Descriptions& texts) {
        const std::size_t begin = texts.file.find(kBegin);
        if (begin == std::string::npos)
            not_ours(path_);
        json_ = parsed(texts.file.substr(begin));
        const std::string program = has("program") ? text("program") : "";
        constexpr std::string_view kOurs = "Specklescope ";
        if (!program.starts_with(kOurs))
            not_ours(path_);
        if (program != std::string(kOurs) + SPECKLESCOPE_VERSION)
            by_ += " (of " + one_line(shortened(program, 64)) + "; this is " SPECKLESCOPE_VERSION ")";
        check_content();
        const Chain chain = read_chain();
        replace_chain(settings_, chain, path_);
        read_channel();
        read_view();
        read_regions();
        remark();
        if (changed_later(texts.last_frame))
            settings_.remarks.push_back("The chain of " + path_ +
                                        " was changed while it was recorded; that of its first frame is "
                                        "taken.");
    }

private:
    [[noreturn]] void fail(const std::string& sentence) const { throw UsageError(by_ + ": " + sentence); }
    [[noreturn]] void damaged(const std::string& what) const {
        fail("its description is damaged or cut short (" + what + "); name another recording of that run.");
    }
    /// Sentences about a value name the file it is from.
    template <class F> void of_file(F&& act) const {
        constexpr std::size_t kMost = 2000;
        try {
            act();
        } catch (const UsageError& error) {
            fail(shortened(error.what(), kMost));
        }
    }

    /// The first object of a text, whatever follows it.
    Json parsed(const std::string& from) const {
        std::istringstream stream(from);
        Json json;
        try {
            stream >> json;
        } catch (const Json::exception&) {
            damaged("it is no whole JSON object");
        }
        return json; // an object: it began with a brace
    }
    bool has(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }
    std::string text(const char* key) const {
        if (!json_.contains(key) || !json_[key].is_string())
            damaged(std::string("it has no text '") + key + "'");
        return json_[key].get<std::string>();
    }
    double number(const char* key) const {
        if (!json_[key].is_number())
            damaged(std::string(key) + " is no number");
        return json_[key].get<double>();
    }

    void check_content() const {
        const std::string content = text("content");
        if (content == "raw" || content == "mask")
            throw UsageError("'" + path_ + "' holds " +
                             (content == "raw" ? "raw frames" : "where raw frames were saturated") +
                             ", which no chain made; name a recording of results (--record).");
        if (content != "processed")
            damaged("its content is '" + one_line(shortened(content, 64)) + "'");
    }

    Chain read_chain() {
        constexpr std::size_t kMost = 65536;
        const std::string said = text("parameters");
        if (said.size() > kMost)
            damaged("its chain has more than 64 kB");
        Chain chain;
        std::vector<std::string_view> texts;
        of_file([&] { texts = stage_texts(said); });
        for (const std::string_view stage : texts) {
            of_file([&] { chain.add(stage); });
            note_missing(chain.stages().back());
            note_captures(chain.stages().back());
            refuse_files(chain.stages().back());
        }
        for (ChainStage& stage : chain.stages())
            only_chosen(stage);
        read_exposure(chain);
        return chain;
    }

    /// An older version did not know them.
    void note_missing(const ChainStage& stage) {
        std::vector<std::string> missing;
        for (const ParamDecl& decl : stage.params.table().decls())
            if (decl.kind != ParamKind::action && !stage.params.given(decl.name))
                missing.push_back(decl.name);
        if (!missing.empty())
            settings_.remarks.push_back(path_ + " does not say " + join(missing) + " of " +
                                        stage.params.table().owner() + ": left at the default.");
    }

    /// What was taken of the picture at the press of a button is in no description.
    void note_captures(const ChainStage& stage) {
        for (const ParamDecl& decl : stage.params.table().decls())
            if (decl.kind == ParamKind::action && stage.params.visible(decl))
                settings_.remarks.push_back("What " + stage.params.table().owner() + " of " + path_ +
                                            " took with " + decl.name + " is not in it: take it again.");
    }

    void refuse_files(const ChainStage& stage) const {
        if (settings_.trusted)
            return;
        for (const ParamDecl& decl : stage.params.table().decls())
            if (const std::string file =
                    decl.kind == ParamKind::path ? to_string(stage.params.get(decl.name)) : "";
                !file.empty())
                fail(stage.params.table().owner() + " reads a file, " + decl.name + " = '" +
                     one_line(shortened(file, 256)) +
                     "'; if that is meant, read this recording with --trust.");
    }

    /// A recording says every value: one that is as by default was chosen by nobody, but for an exposure of
    /// which it says so.
    void only_chosen(ChainStage& stage) const {
        Params chosen(stage.params.table());
        const bool set = has("exposure_origin") && text("exposure_origin") == "parameter";
        for (const ParamDecl& decl : chosen.table().decls())
            if (const ParamValue value = stage.params.get(decl.name);
                value != chosen.get(decl.name) || (set && decl.name == "exposure"))
                chosen.set(decl.name, value);
        stage.params = std::move(chosen);
    }

    /// What a camera reported then stands in for a source that reports nothing.
    void read_exposure(Chain& chain) {
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

    void read_channel() {
        if (has("channel"))
            of_file([&] { settings_.program.set_text("channel", text("channel")); });
    }

    void read_range(const char* key, const char* low, const char* high, bool automatic) {
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

    void read_view() {
        for (const char* key : {"colormap", "curve"})
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

    void read_regions() {
        settings_.regions_path.clear();
        settings_.regions.reset();
        settings_.regions_from.clear();
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

    void remark() {
        const std::size_t count = settings_.regions ? settings_.regions->size() : 0;
        const std::string source = has("source") ? shortened(text("source"), 200) : "";
        settings_.remarks.push_back(
            "The settings are those of " + path_ + (source.empty() ? "" : ", which was made of " + source) +
            ": " + text_in_effect(settings_.chain) +
            (count > 0 ? ", measured over " + std::to_string(count) + " region" + (count > 1 ? "s" : "")
                       : "") +
            ".");
    }

    bool changed_later(const std::string& last_frame) const {
        const auto other = [&](const Json& frame) {
            return frame.is_object() && frame.contains("parameters") &&
                   frame["parameters"] != json_["parameters"];
        };
        if (const auto facts = json_.find("facts"); facts != json_.end() && facts->is_array())
            if (std::any_of(facts->begin(), facts->end(), [&](const Json& change) {
                    return change.is_array() && change.size() == 2 && other(change[1]);
                }))
                return true;
        return !last_frame.empty() && other(Json::parse(last_frame, nullptr, false));
    }

    const std::string& path_;
    std::string by_; ///< the file, and its version where that is another
    Settings& settings_;
    Json json_;
};

} // namespace

void load_recorded(const std::string& path, Settings& settings) {
    if (path.empty())
        throw UsageError("--config from: needs the name of a recording: --config from:flow.tiff.");
    Settings changed = settings;
    Reader(path, changed).read(descriptions_of(path));
    settings = std::move(changed);
}

} // namespace specklescope
