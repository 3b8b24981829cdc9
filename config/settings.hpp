// All settings of the command line and of TOML files, in one plain struct.
#pragma once

#include "analysis/interval.hpp"
#include "analysis/region.hpp"
#include "base/source_argument.hpp"
#include "config/executor.hpp"
#include "config/keys/bindings.hpp"
#include "config/outputs.hpp"
#include "net/outlet.hpp"
#include "pipeline/mapping.hpp"
#include "pipeline/pipeline.hpp"
#include "recording/limits/record_limits.hpp"
#include "recording/look.hpp"
#include "stages/convolve/fft_plans.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

class BaselineImage;
class PreTrigger;

/// Display settings of the window; stored between runs, set in TOML under [view] and by --view key=value.
struct ViewSettings { // NOLINT(clang-analyzer-optin.performance.Padding): there is one
    using Layout = ScreenLayout;
    Layout layout = Layout::processed;
    double split = 0.5;            ///< where the divider of Layout::split is, a part of the width
    Blend blend;                   ///< of the result with the raw picture
    bool histogram_log = false;    ///< counts on a logarithmic axis
    double saturation_warning = 1; ///< %
    bool sound = false;            ///< a tone for each new alarm
    bool monitor = false;          ///< large values and locked controls
    double change_range = 50;      ///< %, ±, of the colours of a change against the baseline
    bool overlay = false;          ///< F1
    bool panel = true;             ///< side panel
    std::string panel_sections = "Stages,Display"; ///< titles of its open sections
    double panel_size = 336; ///< its width, or height below the picture, at interface scale 1
    enum class Traces : std::uint8_t { automatic, shown, hidden };
    Traces traces = Traces::automatic; ///< the strip under the picture; automatic: where there are regions
    double traces_size = 210;          ///< its height, at interface scale 1
    /// Fields of a report besides subject and note: "Operator=A. B.; Procedure=".
    std::string report_form = "Operator=; Institution=; Procedure=";
    double baseline_s = 5;                           ///< over which F₀ is taken
    double trials_before_s = 2, trials_after_s = 10; ///< around events
    int width = 1440;                                ///< window size, screen coordinates
    int height = 900;
    enum class Theme : std::uint8_t { dark, light };
    Theme theme = Theme::dark;
    double ui_scale = 0; ///< 0: the monitor's
    bool vsync = true;
    Mapping mapping;
    ColorMap image_colormap = ColorMap::grey; ///< in the window: of results that are still intensities
    /// Colour map for results of this quantity.
    ColorMap& colormap_of(const Quantity& quantity) {
        return quantity.measure == Measure::intensity ? image_colormap : mapping.colormap;
    }
};
/// Owner "view": mapping's keys (colormap, automatic, low, high, low_percentile, high_percentile) and the
/// ones above.
const ParamTable& view_table();

/// F₀ of every pixel.
struct BaselineSettings {
    std::string file; ///< a picture or a recording of it; "": none
    /// Length of the baseline in that file, or in the source itself without a file; 0: the whole file, or no
    /// baseline.
    double seconds = 0;
    bool change = false; ///< recordings of results hold 100·(F/F₀ − 1) %
};

/// Options of the program itself (rate, loop, frames, threads, backend, …), declared once for CLI, TOML and
/// manual.
struct ProgramSettings {         // NOLINT(clang-analyzer-optin.performance.Padding): there is one
    ProgramSettings() = default; // not an aggregate, for which GCC 12 warns of uninitialised members
    enum class Log : std::uint8_t { normal, quiet, verbose };
    ExecutorChoice executor;
    FftPlanning plans = FftPlanning::estimate;
    int slots = 0;     ///< 0: chosen from the frame size
    int from = 0;      ///< first frame of a file
    double from_s = 0; ///< or the time of it
    int frames = 0;    ///< 0: no limit
    double rate = 0;   ///< 0: the source's own
    bool loop = false;
    std::string transfer = "auto"; ///< of pictures: parse_transfer()
    double silence_s = 5;
    GreyChannel channel = GreyChannel::luma; ///< of colour, for stages that take grey
    std::string camera_profile = "auto";     ///< name or file; "none"
    std::string show;                        ///< displayed output of the chain; "": the last image
    bool medians = false;                    ///< of regions
    int band = 1;                            ///< px across lines
    double um_per_px = 0; ///< a side of a pixel of the results; 0: Settings::um_per_source_px
    BaselineSettings baseline;
    Log log = Log::normal;
    RecordLimits recording;  ///< of every recorder
    ScreenMarks marks;       ///< of movies of the screen
    bool offscreen = false;  ///< view: drawn in memory, without a display
    double serve_mbit_s = 0; ///< 0: default_mbit_s()
    Chroma serve_chroma = Chroma::halved;
    std::string control_folder;           ///< where requests may write; "": nowhere
    std::string curve_key, curve_clients; ///< files of keys; "": not encrypted
};
/// Owner "specklescope": a key for each member above, and the keys of record_limits_table() and
/// screen_marks_table().
const ParamTable& program_table();

enum class Command : std::uint8_t { view, run, list, bench, check, pulse, trials, calibrate, control_schema };

/// Settings of `bench`.
struct BenchSettings {
    std::string filter;             ///< only rows with this text in their name
    std::string json;               ///< file to write
    bool peers = false;             ///< other libraries too
    std::vector<std::string> files; ///< reports of earlier runs to print
};

/// Settings of `check`.
struct CheckSettings {
    SourceArgument source;
    std::string json; ///< file to write
};

/// Settings of `calibrate`.
struct CalibrateSettings {
    std::string name;                ///< of the profile, or its file
    std::vector<SourceArgument> lit; ///< of even light, at several levels
    SourceArgument dark, still;      ///< without light; of a static scatterer; empty: not given
    std::string camera;              ///< "": from a source that is a camera
};

/// Settings of `pulse`.
struct PulseSettings {
    std::string file; ///< a table of traces
    std::string json; ///< a file to write
};

/// Settings of `trials`. The view settings give the time around the events.
struct TrialSettings {
    std::string file;   ///< a table of traces
    std::string around; ///< the label of the events
    std::string csv;    ///< a file to write
};

struct Settings {
    Command command = Command::view;
    std::string list_what; ///< sources, stages, presets, devices
    SourceArgument source; ///< "" = synthetic
    /// run: all of them, where there are several; `source` is the first one (config/in_turn.hpp).
    std::vector<SourceArgument> sources;
    Params program{program_table()};
    Params view{view_table()};
    KeyBindings keys; ///< of the window
    Chain chain;
    /// The chain was not chosen: it is default_chain(), and the window empties it for a colour source.
    bool chain_default = false;
    std::vector<Output> outputs; ///< in the order of output_kinds()
    std::string regions_path;
    /// From the window, or from a recording; replaces those of regions_path. The window marks regions
    /// outside the image.
    std::optional<std::vector<Region>> regions;
    std::vector<Interval> intervals; ///< of the window: the first ones of its traces
    /// Side of a raw pixel in µm from the window or a recording, used if program.um_per_px is 0; 0: from the
    /// source.
    double um_per_source_px = 0;
    std::shared_ptr<const BaselineImage> baseline; ///< as take_baseline() made it; null: none
    std::string regions_from; ///< the recording that they were read from; empty: the window remembered them
    BenchSettings bench;
    PulseSettings pulse;
    CheckSettings check;
    CalibrateSettings calibrate;
    TrialSettings trials;
    /// Origin of the chain: "preset flow", a settings file; empty: the default, or the last window.
    std::string chain_from;
    std::vector<std::string> remarks; ///< how the words were understood, where that may surprise: for the log
    /// Allows a settings file to name output files, environment variables and gst: texts, which may write
    /// and listen (--trust). Otherwise the file is untrusted data.
    bool trusted = false;
    bool remember = false; ///< view: store the settings of the window when it closes (save_remembered)
    /// The source came from the last window, not from the user: if it cannot be opened, start without it.
    bool source_remembered = false;
};

/// Side of a raw pixel in µm, from any setting; 0: from the source.
double um_per_source_px(const Settings& settings);

/// Mapping for results of this quantity: with image_colormap for intensities in the window.
Mapping mapping_for(const Settings& settings, const Quantity& quantity);
/// Speckle contrast with its defaults.
Chain default_chain();
/// A chain given later takes the place of the whole chain before it; the remarks say so.
void replace_chain(Settings& settings, Chain chain, const std::string& by);
/// The colour map that was given with a chain of images (no contrast, no flow) is theirs: it becomes
/// image_colormap. `before`: the view's colour map without it.
void colour_images(Settings& settings, ColorMap before);

/// Checks combinations of values: slots between 0 and the minimum, a range with swapped ends. Throws
/// UsageError.
void check(const Settings& settings);

} // namespace specklescope
