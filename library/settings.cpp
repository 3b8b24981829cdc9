#include "library/settings.hpp"

#include "analysis/regions_file.hpp"
#include "base/text.hpp"
#include "config/text.hpp"

#include <algorithm>
#include <vector>

namespace specklescope::library {

namespace {

/// Options that apply to callers. The others belong to the program or the process: log, FFTW plans.
std::vector<std::string> options_for(For what) {
    static const std::vector<std::string> chain = {"backend", "threads", "channel",
                                                   "medians", "gpus",    "show"};
    static const std::vector<std::string> stream = {"backend", "threads",  "channel", "medians",
                                                    "slots",   "from",     "frames",  "rate",
                                                    "loop",    "transfer", "silence", "gpus"};
    if (what == For::chain)
        return chain;
    std::vector<std::string> all = stream;
    for (const ParamDecl& decl : stream_table().decls())
        all.push_back(decl.name);
    return all;
}

} // namespace

const ParamTable& stream_table() {
    static const ParamTable table =
        Declare<StreamOptions>("stream")
            .choice("memory", &StreamOptions::memory, {"host", "device"},
                    {.cost = Cost::rebuild,
                     .doc = "Where results lie: on the host, or on the GPU that made them"})
            .table();
    return table;
}

Settings settings_of(const specklescope_settings* given, For what, Params* own) {
    const specklescope_settings known = read_struct(given, "The settings", true);
    Settings settings;
    settings.command = Command::run;
    if (known.options)
        for_key_values(known.options, "The settings' options",
                       [&](std::string_view key, const std::string& value) {
                           const std::vector<std::string> allowed = options_for(what);
                           if (std::find(allowed.begin(), allowed.end(), key) == allowed.end())
                               throw UsageError("A " + std::string(what == For::chain ? "chain" : "stream") +
                                                " has no option '" + std::string(key) +
                                                "'; allowed: " + join(allowed) + ".");
                           if (own && own->table().find(key))
                               own->set_text(key, value);
                           else
                               settings.program.set_text(key, value);
                       });
    if (known.regions && known.regions_json)
        throw UsageError("The settings have a file of regions, " + std::string(known.regions) +
                         ", and regions_json; give one of them.");
    if (known.regions)
        settings.regions_path = known.regions;
    if (known.regions_json)
        settings.regions = regions_from_text(known.regions_json);
    if (known.view && what == For::chain)
        throw UsageError("A chain records nothing, and has no view; give it to a stream or a recorder.");
    if (known.view)
        settings.view.as<ViewSettings>().mapping = mapping_from_text(known.view);
    settings.trusted = known.trusted != 0;
    check(settings);
    return settings;
}

std::vector<Region> regions_from_text(const char* json) {
    if (!json || *json == '\0')
        return {};
    std::vector<Region> regions = read_regions_json(json, "The regions");
    check_regions(regions);
    return regions;
}

Mapping mapping_from_text(const char* text) {
    Settings settings;
    bool fixed = false, said = false;
    if (text)
        for_key_values(text, "The view", [&](std::string_view key, const std::string& value) {
            if (!mapping_table().find(key)) {
                std::vector<std::string> names;
                for (const ParamDecl& decl : mapping_table().decls())
                    names.push_back(decl.name);
                throw UsageError("The view has no '" + std::string(key) + "'; allowed: " + join(names) + ".");
            }
            settings.view.set_text(key, value);
            said = said || key == "automatic";
            fixed = fixed || key == "low" || key == "high";
        });
    if (fixed && !said) // giving an end of the range fixes the range
        settings.view.set("automatic", false);
    check(settings);
    return settings.view.as<ViewSettings>().mapping;
}

Watcher watcher_of(const specklescope_settings* given) {
    const specklescope_settings known = read_struct(given, "The settings", true);
    return {known.goes_on, known.agrees, known.user};
}

Asking::Asking(const Watcher& watcher) {
    if (watcher.goes_on)
        watch_.emplace([ask = watcher.goes_on, user = watcher.user](std::string_view what, double part) {
            return ask(user, std::string(what).c_str(), part) != 0;
        });
}

} // namespace specklescope::library
