// The settings that made a recording: for --config from:FILE, and for a recording that is the source.
#include "config/recorded/recorded_settings.hpp"

#include "base/log.hpp"
#include "config/recorded/reader.hpp"
#include "sources/source_text.hpp"

#include <spdlog/spdlog.h>

#include <filesystem>

namespace specklescope {

namespace {

namespace fs = std::filesystem;

/// Of the source, where it is one file on a disk; else empty.
std::string file_of(const SourceArgument& source) {
    if (source.empty() || source.holds_secret() || !source.references().empty())
        return "";
    try {
        const SourceText parsed = parse_source_text(source.revealed());
        std::error_code ignored;
        return is_file_kind(parsed.kind) && fs::is_regular_file(parsed.target, ignored) ? parsed.target : "";
    } catch (const UsageError&) { // whoever opens it will say so
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
        throw UsageError("'" + path +
                         "' does not say which settings made it; name a recording that this program "
                         "wrote: .tiff, .mkv, or .raw with its .raw.jsonl beside it.");
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
        settings.remarks.push_back("The settings that " + source.path + " says are not taken. " +
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
        settings.remarks.push_back(source.path + " holds " + source.holds_results +
                                   ": no stage processes them again, unless --stage, --preset or --config "
                                   "asks for it.");
    } else if (!settings.chain.stages().empty()) {
        settings.remarks.push_back(source.path + " holds " + source.holds_results + ", no raw frames: " +
                                   text_in_effect(settings.chain) + " processes them again.");
    }
}

} // namespace specklescope
