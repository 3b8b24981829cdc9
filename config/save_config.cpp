// Settings into a file and out of it, and what whoever saved them should know of it.
#include "config/atomic_file.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"

#include <fstream>

namespace specklescope {

std::string settings_text(const std::string& path) {
    constexpr std::size_t kMost = std::size_t{1} << 20; // a settings file has a few kB
    std::ifstream file(path, std::ios::binary);
    std::string text(kMost + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.empty())
        throw RunError("The settings file '" + path + "' cannot be read, or is empty; name a TOML file.");
    if (text.size() > kMost)
        throw RunError("'" + path + "' is larger than 1 MiB, and no settings file; name a TOML file.");
    return text;
}

void save_config(const std::string& path, const Settings& settings) {
    constexpr mode_t kOwner = 0600;
    write_atomically(path, to_toml(settings), kOwner);
}

std::string saved_text(const std::string& path, const Settings& settings) {
    std::string text = "Settings written to " + one_line(path) + ".\n";
    const SourceArgument& source = settings.source;
    if (source.holds_secret())
        text += row("note",
                    "the password is not in it: set " + join(source.referring().references()) +
                        ", or type it when asked",
                    4);
    const auto& program = settings.program.as<ProgramSettings>();
    const bool writes = !settings.record.empty() || !settings.record_raw.empty() ||
                        !settings.record_mask.empty() || !settings.record_screen.empty() ||
                        !settings.stats_path.empty() || !settings.snapshot_path.empty() ||
                        !settings.traces_path.empty() || !settings.kymograph_path.empty() ||
                        !settings.widths_path.empty() || !program.screenshot.empty() ||
                        !program.window_movie.empty() || !program.publish.empty() || !program.serve.empty() ||
                        !program.control.empty() || !program.metrics.empty() || !program.output.empty();
    if (writes || !source.referring().references().empty() || source.revealed().starts_with("gst:"))
        text += row("note", "it names more than data: --config reads it with --trust only", 4);
    if (!settings.regions_from.empty())
        text += row("note",
                    "the regions of " + settings.regions_from +
                        " are not in it: keep them as a file for "
                        "--regions",
                    4);
    return text;
}

} // namespace specklescope
