// Everything that can be said on the command line or in a TOML file, in one plain struct.
#pragma once

#include "pipeline/mapping.hpp"
#include "pipeline/pipeline.hpp"

#include <memory>
#include <string>
#include <vector>

namespace specklescope {

/// How the window shows things; remembered between runs, settable in TOML under [view] and by --view
/// key=value.
struct ViewSettings {
    enum class Layout : std::uint8_t { processed, raw, side_by_side };
    Layout layout = Layout::processed;
    bool overlay = true; ///< F1
    bool panel = true;   ///< side panel
    int width = 1440;    ///< window size, screen coordinates
    int height = 900;
    double ui_scale = 0; ///< 0: the monitor's
    bool vsync = true;
    Mapping mapping;
};
/// Owner "view": mapping's keys (colormap, automatic, low, high, low_percentile, high_percentile) and the
/// ones above.
const ParamTable &view_table();

/// Options of the program itself (rate, loop, frames, threads, backend, …), declared once for CLI, TOML and
/// manual.
struct ProgramSettings {
    Backend backend = Backend::automatic;
    int threads = 0; ///< 0: all cores
    int slots = 0;   ///< 0: chosen from the frame size
    int frames = 0;  ///< 0: no limit
    double rate = 0; ///< 0: the source's own
    bool loop = false;
    double silence_s = 5;
};
/// Owner "specklescope": backend, threads, slots, frames, rate, loop, silence.
const ParamTable &program_table();

enum class Command : std::uint8_t { view, run, list };

struct Settings {
    Command command = Command::view;
    std::string list_what; ///< sources, stages, presets, devices
    std::string source;    ///< "" = synthetic
    Params program{program_table()};
    Params view{view_table()};
    Chain chain; ///< never empty after parsing: speckle is the default
    std::vector<std::string> record;
    std::vector<std::string> record_raw;
    std::string stats_path;
    std::string snapshot_path; ///< run: a picture of the last result (--snapshot FILE.png)
};

/// The outcome of reading the command line: either settings, or text to print and an exit status.
struct ParseOutcome {
    Settings settings;
    bool exit = false;
    int status = 0;
    std::string text; ///< to stdout when status is 0
};
/// Throws UsageError. Later words win over --config, --config over --preset.
ParseOutcome parse_command_line(int argc, const char *const *argv);

/// TOML: [program] [view] source, record, record_raw, [[stage]] name = …; UsageError names file, line and
/// key.
void load_config(const std::string &path, Settings &settings);
void save_config(const std::string &path, const Settings &settings);
/// As save_config's file; also what the viewer remembers between runs.
std::string to_toml(const Settings &settings);

struct Preset {
    std::string name, doc, toml;
};
const std::vector<Preset> &presets();                          ///< config/presets/*.toml, compiled in
void load_preset(const std::string &name, Settings &settings); ///< throws UsageError listing the names

/// Makes the pipeline that the settings describe; not started.
std::unique_ptr<Pipeline> make_pipeline(const Settings &settings);
/// Adds the recorders of --record and --record-raw to a started pipeline.
std::vector<std::shared_ptr<Sink>> add_recorders(Pipeline &pipeline, const Settings &settings);

/// The manual page (Markdown), from the declarations: docs/manual.md.
std::string manual();

} // namespace specklescope
