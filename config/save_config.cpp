// Load and save settings; message shown after saving.
#include "config/atomic_file.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"
#include "config/toml.hpp"

namespace specklescope {

namespace {

/// True if the saved file can only be read with --trust; load_config() has the reason.
bool needs_trust(const Settings& settings) {
    const std::string text = to_toml(settings);
    const auto is_read = [&](bool trusted) {
        Settings read;
        read.trusted = trusted;
        try {
            read_toml(text, "settings", read);
            return true;
        } catch (const UsageError&) {
            return false;
        }
    };
    return is_read(true) && !is_read(false);
}

} // namespace

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
    if (needs_trust(settings))
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
