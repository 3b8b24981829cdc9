#include "config/presets_data.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"

namespace specklescope {

namespace {

/// The comment at the top of the file, as one line.
std::string top_comment(std::string_view toml) {
    std::string doc;
    while (toml.starts_with('#')) {
        const std::size_t end = std::min(toml.find('\n'), toml.size());
        const std::size_t begin = std::min(toml.find_first_not_of("# "), end);
        if (!doc.empty())
            doc += ' ';
        doc += toml.substr(begin, end - begin);
        toml.remove_prefix(std::min(end + 1, toml.size()));
    }
    return doc;
}

} // namespace

const std::vector<Preset>& presets() {
    static const std::vector<Preset> list = [] {
        std::vector<Preset> all;
        for (const PresetText& text : preset_texts())
            all.push_back({std::string(text.name), top_comment(text.toml), std::string(text.toml)});
        return all;
    }();
    return list;
}

void load_preset(const std::string& name, Settings& settings) {
    std::vector<std::string> names;
    for (const Preset& preset : presets()) {
        if (preset.name == name)
            return read_toml(preset.toml, "preset " + name, settings);
        names.push_back(preset.name);
    }
    throw UsageError("There is no preset '" + one_line(name) + "'; allowed: " + join(names) + ".");
}

} // namespace specklescope
