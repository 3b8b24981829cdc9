#include "config/settings.hpp"

#include "analysis/profile.hpp"
#include "files/recorded.hpp"
#include "files/transfer.hpp"
#include "net/address.hpp"
#include "net/outlet.hpp"
#include "pipeline/scale/pixel_size.hpp"

#include <filesystem>

namespace specklescope {

namespace {

/// The declarations of a struct within another as keys of that one, so that they are declared only once.
template <class Whole, class Part>
void add_part(ParamTable& table, const ParamTable& declared, Part Whole::*part) {
    for (ParamDecl decl : declared.decls()) {
        decl.get = [get = decl.get, part](const std::any& values) {
            return get(std::any(std::any_cast<const Whole&>(values).*part));
        };
        decl.put = [put = decl.put, part](std::any& values, const ParamValue& value) {
            auto& present = std::any_cast<Whole&>(values).*part;
            std::any copy(present);
            put(copy, value);
            present = std::any_cast<const Part&>(copy);
        };
        if (decl.visible)
            decl.visible = [visible = decl.visible, part](const std::any& values) {
                return visible(std::any(std::any_cast<const Whole&>(values).*part));
            };
        table.add(std::move(decl));
    }
}

ParamTable make_view_table() {
    ParamTable table =
        Declare<ViewSettings>("view")
            .choice("layout", &ViewSettings::layout, screen_layout_names(),
                    {.doc =
                         "what fills the window; split: the raw picture on the left of a divider, the result "
                         "on the right; blended: the result over the raw picture"})
            .real("split", &ViewSettings::split,
                  {.min = 0, .max = 1, .doc = "layout split: where the divider is, a part of the width"})
            .real("blend_opacity", &ViewSettings::blend_opacity,
                  {.min = 0, .max = 1, .doc = "layout blended: opacity of the result over the raw picture"})
            .real("blend_threshold", &ViewSettings::blend_threshold,
                  {.min = 0,
                   .max = 1,
                   .doc = "layout blended: below this part of the range the raw picture alone is seen"})
            .boolean("histogram_log", &ViewSettings::histogram_log,
                     {.doc = "counts of the histogram on a logarithmic axis"})
            .real("saturation_warning", &ViewSettings::saturation_warning,
                  {.unit = "%",
                   .min = 0,
                   .max = 100,
                   .doc =
                       "a warning is on the picture while more than this part of the raw frame is saturated"})
            .real("change_range", &ViewSettings::change_range,
                  {.unit = "%",
                   .min = 0.1,
                   .max = 10000,
                   .doc = "colours of the change against the baseline: from minus to plus this"})
            .boolean("overlay", &ViewSettings::overlay,
                     {.doc = "rates, latency and drops on the picture (F1)"})
            .boolean("panel", &ViewSettings::panel, {.doc = "the side panel with the controls"})
            .real("panel_size", &ViewSettings::panel_size,
                  {.unit = "px",
                   .min = 200,
                   .max = 1000,
                   .doc = "width of the side panel, or its height below the picture of a tall window"})
            .choice("traces", &ViewSettings::traces, {"automatic", "shown", "hidden"},
                    {.doc = "the strip with the traces of regions (T); automatic: where there are regions"})
            .real("traces_size", &ViewSettings::traces_size,
                  {.unit = "px", .min = 120, .max = 1000, .doc = "height of the strip with the traces"})
            .real("baseline_s", &ViewSettings::baseline_s,
                  {.unit = "s",
                   .min = 0.01,
                   .max = 3600,
                   .doc = "the baseline of traces is the mean over this time (Z)"})
            .real("trials_before", &ViewSettings::trials_before_s,
                  {.unit = "s",
                   .min = 0,
                   .max = 3600,
                   .doc = "trials: how much of a trace in front of each event; its mean is F₀"})
            .real("trials_after", &ViewSettings::trials_after_s,
                  {.unit = "s", .min = 0, .max = 36000, .doc = "trials: how much behind each event"})
            .integer("width", &ViewSettings::width,
                     {.unit = "px", .min = 320, .max = 16384, .doc = "width of the window"})
            .integer("height", &ViewSettings::height,
                     {.unit = "px", .min = 240, .max = 16384, .doc = "height of the window"})
            .real("ui_scale", &ViewSettings::ui_scale,
                  {.min = 0, .max = 4, .doc = "size of text and controls; 0: as the monitor asks"})
            .boolean("vsync", &ViewSettings::vsync, {.doc = "draw in step with the monitor"})
            .table();
    add_part(table, mapping_table(), &ViewSettings::mapping);
    return table;
}

ParamTable make_program_table() {
    ParamTable table =
        Declare<ProgramSettings>("specklescope")
            .choice(
                "backend", &ProgramSettings::backend, {"auto", "cpu", "cuda"},
                {.doc = "where stages run; auto takes the GPU where there is one, cuda fails without one"})
            .integer("threads", &ProgramSettings::threads,
                     {.min = 0, .max = 1024, .doc = "processing threads on the host; 0: one per core"})
            .text("gpus", &ProgramSettings::gpus,
                  {.doc = "GPUs that frames go to in turn: all, or 0,2; empty: the first. For chains "
                          "without a history"})
            .choice("plans", &ProgramSettings::plans, {"estimate", "measure"},
                    {.doc = "how the host plans Fourier transforms; estimate: the same bits on every start; "
                            "measure: quicker ones by trials of at most 4 s, kept in the cache folder "
                            "for later starts"})
            .integer("slots", &ProgramSettings::slots,
                     {.min = 0,
                      .max = 4096,
                      .doc = "frames in the ring, 6 or more; 0: chosen from the frame size"})
            .integer("from", &ProgramSettings::from,
                     {.min = 0,
                      .max = 1000000000,
                      .doc = "begin a file at this frame, counted from 0; with frames: a part of it"})
            .real("from_s", &ProgramSettings::from_s,
                  {.unit = "s",
                   .min = 0,
                   .max = 1e7,
                   .doc =
                       "begin a file at this time, by its frames' own, else by its rate, instead of a frame"})
            .integer("frames", &ProgramSettings::frames,
                     {.min = 0, .max = 1000000000, .doc = "stop after this many frames; 0: no limit"})
            .real("rate", &ProgramSettings::rate,
                  {.unit = "frames/s",
                   .min = 0,
                   .max = kMaxRate,
                   .least = kMinRate,
                   .doc = "pace of a file; 0: its own in the window, unpaced in run"})
            .boolean("loop", &ProgramSettings::loop,
                     {.doc = "start a file again when it ends; with from: at that frame"})
            .boolean("offscreen", &ProgramSettings::offscreen,
                     {.doc = "view: draw the window in memory, without a display, for --screenshot, "
                             "--window-movie and all that is kept of a run; ends with its source, or its "
                             "recordings, with --control when it is asked to, and leaves what the window "
                             "remembers alone"})
            .real("serve_mbit_s", &ProgramSettings::serve_mbit_s,
                  {.unit = "Mbit/s",
                   .min = 0,
                   .max = 1000,
                   .doc = "with serve: the stream takes no more than this; 0: 30 bit/s for a pixel, at least "
                          "4 and at most 30 Mbit/s (9.2 for 640x480)"})
            .choice(
                "serve_chroma", &ProgramSettings::serve_chroma, {"4:2:0", "4:4:4"},
                {.doc = "with serve: the resolution of colour. 4:2:0 halves it, and every client decodes it; "
                        "4:4:4 keeps the colours of single pixels, for ffmpeg, mpv, OpenCV and GStreamer"})
            .text("control_folder", &ProgramSettings::control_folder,
                  {.doc = "with control: the folder in which requests may record, write pictures and save "
                          "presets; without "
                          "it they may write nothing"})
            .text("curve_key", &ProgramSettings::curve_key,
                  {.doc =
                       "publish and control are encrypted (CURVE), with the secret key in this file, which "
                       "nobody else may read (docs/doors.md)"})
            .text("curve_clients", &ProgramSettings::curve_clients,
                  {.doc = "with curve_key: a file with the public key of a client, or a folder of such files "
                          "*.key; nobody else is let in"})
            .text("transfer", &ProgramSettings::transfer,
                  {.doc = "how the values of pictures are coded, which are decoded to linear light: auto (as "
                          "the file "
                          "says), linear (taken as they are), srgb, gamma:G"})
            .real("silence", &ProgramSettings::silence_s,
                  {.unit = "s", .min = 0.1, .max = 3600, .doc = "a camera silent for longer is opened again"})
            .choice(
                "channel", &ProgramSettings::channel, grey_channel_names(),
                {.doc = "what stages for grey images get of colour: one channel as it is, luma or the mean"})
            .boolean("medians", &ProgramSettings::medians,
                     {.doc = "with --regions: the median of each too, a second pass over their pixels"})
            .integer("band", &ProgramSettings::band,
                     {.unit = "px",
                      .min = 1,
                      .max = kMaxBand,
                      .doc = "with --kymograph and --widths: how many pixels across a line its profile is "
                             "the mean of"})
            .real("um_per_px", &ProgramSettings::um_per_px,
                  {.unit = "µm",
                   .min = 0,
                   .max = kMaxUmPerPx,
                   .doc =
                       "how large a pixel of what the chain gives is, a side: for the scale bar, areas and "
                       "widths, and the calibration of files; 0: as the file that is played says, "
                       "otherwise unknown"})
            .path(
                "baseline", &ProgramSettings::baseline,
                {.doc =
                     "the baseline F₀ of every pixel: one picture of it (.npy, .tiff, …) in the unit of the "
                     "results, or a recording, whose mean it is; traces and reports then hold the change "
                     "against it"})
            .real(
                "baseline_seconds", &ProgramSettings::baseline_seconds,
                {.unit = "s",
                 .min = 0,
                 .max = 36000,
                 .doc =
                     "the baseline is the mean over so long: of the file that baseline names, without it of "
                     "the beginning of the SOURCE; 0: all of that file"})
            .boolean("change", &ProgramSettings::change,
                     {.doc = "with a baseline: recordings of results hold 100·(F/F₀ − 1) %, not F"})
            .choice("log", &ProgramSettings::log, {"normal", "quiet", "verbose"},
                    {.doc = "how much is said; quiet: errors only"})
            .table();
    add_part(table, record_limits_table(), &ProgramSettings::recording);
    add_part(table, screen_marks_table(), &ProgramSettings::marks);
    return table;
}

/// Before anything runs, and not with the first request that names a file.
void check_doors(const Settings& settings) {
    const auto& program = settings.program.as<ProgramSettings>();
    const bool control = !output_of(settings, "control").empty();
    const std::string& key = program.curve_key.empty() ? program.curve_clients : program.curve_key;
    if (!key.empty() && !control && output_of(settings, "publish").empty())
        throw UsageError(program_table().owner() + ": " +
                         (program.curve_key.empty() ? "curve_clients" : "curve_key") + " = " + key +
                         " guards nothing; say what with --publish or --control ADDRESS.");
    std::error_code ignored;
    if (program.control_folder.empty())
        return;
    if (!control)
        throw UsageError(program_table().owner() + ": control_folder = " + program.control_folder +
                         " says nothing without requests; say where they come with --control ADDRESS.");
    if (!std::filesystem::is_directory(program.control_folder, ignored))
        throw UsageError(program_table().owner() + ": control_folder = " + program.control_folder +
                         " is no folder; name one that is there.");
}

} // namespace

const ParamTable& view_table() {
    static const ParamTable table = make_view_table();
    return table;
}

double um_per_source_px(const Settings& settings) {
    const double um = settings.program.as<ProgramSettings>().um_per_px;
    return um > 0 ? um / source_pixels_per_pixel(settings.chain) : settings.um_per_source_px;
}

void check(const Settings& settings) {
    const auto& program = settings.program.as<ProgramSettings>();
    if (program.slots != 0 && program.slots < kMinSlots)
        throw UsageError(program_table().owner() + ": slots = " + std::to_string(program.slots) +
                         " is not possible; allowed: 0 (chosen from the frame size), or a whole number, " +
                         std::to_string(kMinSlots) + "…" +
                         to_string(static_cast<std::int64_t>(program_table().at("slots").max)) + ".");
    try {
        (void)parse_transfer(program.transfer);
    } catch (const UsageError& error) {
        throw UsageError(program_table().owner() + ": " + error.what());
    }
    check_limits(program.recording, program_table().owner());
    if (settings.command == Command::run && program.recording.pre_trigger_s > 0 &&
        outputs_of(settings, output_kind("record_raw")).empty())
        throw UsageError(program_table().owner() +
                         ": pre_trigger = " + to_string(program.recording.pre_trigger_s) +
                         " s has nothing to come before; name a recording of raw frames with --record-raw "
                         "FILE.");
    if (program.offscreen && settings.command == Command::view && settings.outputs.empty())
        throw UsageError(
            program_table().owner() +
            ": offscreen leaves nothing behind that anybody could see; name what comes out: --screenshot "
            "FILE.png, --window-movie FILE.mkv, --record FILE, --snapshot FILE, --stats FILE, --publish, "
            "--control or --serve ADDRESS.");
    check_marks(program.marks, program_table().owner());
    check_doors(settings);
    for (const Output& output : settings.outputs) {
        if (!output.kind->file)
            output.kind->check(output.target);
        if (output.kind->needs != OutputKind::Needs::nothing && settings.regions_path.empty() &&
            settings.regions_from.empty())
            throw UsageError(program_table().owner() + ": " + output.kind->name + " = " + output.target +
                             " has nothing to write without regions; name their file with --regions FILE.");
    }
    if (program.from > 0 && program.from_s > 0)
        throw UsageError(program_table().owner() + ": from_s = " + to_string(program.from_s) +
                         " s and from = " + std::to_string(program.from) +
                         " say where to begin twice; leave one of the two out.");
    if (program.change && program.baseline.empty() && program.baseline_seconds == 0)
        throw UsageError(program_table().owner() +
                         ": change = true has nothing to be against; give --baseline FILE or "
                         "--baseline-seconds S.");
    const Mapping& mapping = settings.view.as<ViewSettings>().mapping;
    const auto in_order = [](const char* low, double below, const char* high, double above) {
        if (!(below < above))
            throw UsageError(view_table().owner() + ": " + low + " = " + to_string(below) + " is not below " +
                             high + " = " + to_string(above) + "; give the smaller of the two to " + low +
                             ".");
    };
    in_order("low_percentile", mapping.low_percentile, "high_percentile", mapping.high_percentile);
    if (!mapping.automatic)
        in_order("low", mapping.low, "high", mapping.high);
}

const ParamTable& program_table() {
    static const ParamTable table = make_program_table();
    return table;
}

} // namespace specklescope
