#include "config/last_window.hpp"
#include "config/toml.hpp"

#include "analysis/regions_file.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "config/atomic_file.hpp"
#include "config/data_folder.hpp"
#include "config/recorded/recorded_settings.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "sources/registry.hpp"

#include <spdlog/spdlog.h>
#include <toml++/toml.h>

#include <filesystem>
#include <sstream>

namespace specklescope {

namespace {

std::string remembered_regions_path() {
    const std::string folder = user_folder();
    return folder.empty() ? "" : folder + "/regions.json";
}

void load_remembered_regions(Settings& settings) {
    const std::string path = remembered_regions_path();
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
        return;
    try {
        settings.regions = load_regions(path);
    } catch (const Error& error) {
        run_log().warn("Remembered regions were not loaded: {}", error.what());
    }
}

} // namespace

std::string remembered_path() {
    const std::string folder = user_folder();
    return folder.empty() ? "" : folder + "/last.toml";
}

void load_remembered(Settings& settings, bool source_only) {
    const std::string path = remembered_path();
    std::error_code ignored;
    if (path.empty() || !std::filesystem::is_regular_file(path, ignored))
        return;
    try {
        Settings last;
        last.trusted = true; // it is our own
        last.chain_default = true;
        load_config(path, last);
        check(last);
        settings.source = last.source;
        settings.source_remembered = !last.source.empty();
        load_remembered_regions(settings);
        settings.intervals = last.intervals;
        settings.um_per_source_px = um_per_source_px(last);
        if (source_only)
            return;
        settings.view = last.view;
        if (!last.chain_default)
            settings.chain = last.chain;
        settings.chain_default = last.chain_default;
    } catch (const Error& error) {
        run_log().warn("Remembered window settings were not loaded: {}", error.what());
    }
}

void save_remembered(const Settings& settings) {
    const std::string path = remembered_path();
    if (!settings.remember || path.empty())
        return;
    try {
        Settings last;
        last.source = absolute_source_text(settings.source); // the next window may start in another folder
        if (!is_utf8(last.source.revealed()))
            last.source = {}; // TOML cannot hold it; all else is kept
        last.view = settings.view;
        last.chain = settings.chain;
        last.chain_default = settings.chain_default;
        last.um_per_source_px = um_per_source_px(settings);
        last.intervals = settings.intervals;
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        write_atomically(path, to_toml(last, false), 0600);
        if (settings.regions && !settings.regions->empty())
            write_atomically(remembered_regions_path(), to_json(*settings.regions), 0600);
        else
            std::filesystem::remove(remembered_regions_path());
    } catch (const std::exception& error) {
        run_log().warn("Window settings were not saved: {}", error.what());
    }
}

bool same_source(const SourceArgument& a, const SourceArgument& b) {
    const auto whole = [](const SourceArgument& source) { // as it is remembered
        return source.empty() ? source : absolute_source_text(source);
    };
    return whole(a) == whole(b);
}

void decide_chain_again(Settings& settings, bool same_source) {
    if (!settings.chain_default && (same_source || !settings.chain_from.empty() ||
                                    to_string(settings.chain) != to_string(default_chain())))
        return;
    settings.chain = default_chain();
    settings.chain_default = true;
}

void leave_regions_of_another_picture(const Settings& last, Settings& settings) {
    if (last.source_remembered && !same_source(last.source, settings.source))
        settings.intervals.clear();
    if (!settings.regions || settings.regions->empty())
        return;
    if (!settings.regions_path.empty()) {
        settings.regions.reset();
        settings.regions_from.clear();
    } else if (settings.regions_from.empty() && !same_source(last.source, settings.source)) {
        const std::size_t count = settings.regions->size();
        settings.remarks.push_back(std::to_string(count) +
                                   (count == 1
                                        ? " region of the last window was on another source: it is"
                                        : " regions of the last window were on another source: they are") +
                                   " left out.");
        settings.regions.reset();
    }
}

void leave_scale_of_another_picture(const Settings& last, Settings& settings) {
    if (settings.um_per_source_px == 0 || same_source(last.source, settings.source))
        return;
    settings.remarks.push_back(
        "The last window had pixels of " +
        to_string(settings.um_per_source_px * source_pixels_per_pixel(settings.chain)) +
        " µm, on another source. Set --um-per-px for this one.");
    settings.um_per_source_px = 0;
}

void free_range_of_another_picture(const Settings& last, bool given, Settings& settings) {
    auto& mapping = settings.view.as<ViewSettings>().mapping;
    const bool same = same_source(last.source, settings.source) &&
                      settings.chain.quantity().name == last.chain.quantity().name &&
                      settings.chain.quantity().unit == last.chain.quantity().unit;
    if (mapping.automatic || same || given)
        return;
    mapping.automatic = true;
    settings.remarks.push_back("The fixed range of " +
                               (last.chain_from.empty() ? "the last window" : last.chain_from) + ", " +
                               to_string(mapping.low) + " to " + to_string(mapping.high) +
                               ", was for another image: it is automatic again.");
}

void take_from_source(const SourceArgument& named, Settings& settings) {
    const bool last = settings.source_remembered && (named.empty() || same_source(named, settings.source));
    if (last && named.empty())
        return;
    if (last) {
        const SourceRecording source = look_at_source(settings);
        if (!source.path.empty())
            settings.remarks.push_back(source.path + " is shown as the last window left it; --config from:" +
                                       source.path + " takes its own settings.");
        return;
    }
    Settings taken = settings;
    taken.source = named;
    taken.source_remembered = false;
    leave_regions_of_another_picture(settings, taken);
    leave_scale_of_another_picture(settings, taken);
    const std::size_t said = taken.remarks.size();
    if (take_recording(taken))
        settings = std::move(taken);
    else // why not
        settings.remarks.insert(settings.remarks.end(),
                                taken.remarks.begin() + static_cast<std::ptrdiff_t>(said),
                                taken.remarks.end());
}

namespace {

constexpr std::size_t kMost = 32;

std::string recent_path() {
    const std::string folder = user_folder();
    return folder.empty() ? "" : folder + "/recent.toml";
}

std::string kept_text(const SourceArgument& source) {
    try {
        return absolute_source_text(source).referring().revealed();
    } catch (const std::exception&) { // it was opened once, and may be read no more
        return source.referring().revealed();
    }
}

} // namespace

std::vector<SourceArgument> load_recent() {
    const std::string path = recent_path();
    std::vector<SourceArgument> sources;
    std::error_code ignored;
    if (path.empty() || !std::filesystem::is_regular_file(path, ignored))
        return sources;
    try {
        const toml::table root = toml::parse_file(path);
        if (const toml::array* list = root["recent"].as_array())
            for (const toml::node& item : *list)
                if (const auto* text = item.as_string();
                    text && !text->get().empty() && sources.size() < kMost)
                    sources.emplace_back(text->get());
    } catch (const toml::parse_error& error) {
        run_log().warn("Recent sources were not loaded: {}, line {}: {}.", path, error.source().begin.line,
                       one_line(error.description()));
    }
    return sources;
}

void save_recent(const std::vector<SourceArgument>& sources) {
    const std::string path = recent_path();
    if (path.empty())
        return;
    try {
        toml::array list;
        for (const SourceArgument& source : sources)
            if (const std::string text = kept_text(source); is_utf8(text) && list.size() < kMost)
                list.push_back(text);
        std::ostringstream out;
        out << "# Recent sources, newest first.\n" << toml::table{{"recent", list}} << "\n";
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        write_atomically(path, out.str(), 0600);
    } catch (const std::exception& error) {
        run_log().warn("Recent sources were not saved: {}", sentence_of(error));
    }
}

} // namespace specklescope
