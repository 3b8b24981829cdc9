#include "config/settings.hpp"

#include "analysis/profile.hpp"
#include "files/recorded.hpp"
#include "files/transfer.hpp"
#include "net/address.hpp"
#include "net/outlet.hpp"
#include "pipeline/scale/pixel_size.hpp"

#include <filesystem>
#include <utility>

namespace specklescope {

namespace {

ParamTable blend_table() {
    return Declare<Blend>("view")
        .real("blend_opacity", &Blend::opacity,
              {.label = "Opacity",
               .min = 0,
               .max = 1,
               .doc = "Opacity of the result over the raw image in the blended layout"})
        .real("blend_threshold", &Blend::threshold,
              {.label = "Threshold",
               .min = 0,
               .max = 1,
               .doc = "Threshold of the blended layout: part of the range below which only the raw image "
                      "is visible"})
        .table();
}

ParamTable make_view_table() {
    ParamTable table =
        Declare<ViewSettings>("view")
            .choice("layout", &ViewSettings::layout,
                    choice_names(screen_layout_names(), {"Result", "Raw image"}),
                    {.doc = "Layout of the view. split: raw image left of a divider, result right. blended: "
                            "result over the raw image"})
            .real("split", &ViewSettings::split,
                  {.label = "Divider",
                   .min = 0,
                   .max = 1,
                   .doc = "Position of the divider in the split layout, as a part of the width"})
            .part(&ViewSettings::blend, blend_table())
            .boolean("histogram_log", &ViewSettings::histogram_log,
                     {.doc = "Show histogram counts on a logarithmic axis"})
            .real("saturation_warning", &ViewSettings::saturation_warning,
                  {.unit = "%",
                   .min = 0,
                   .max = 100,
                   .doc = "Warn when more than this percentage of the raw frame is saturated"})
            .text("report_form", &ViewSettings::report_form,
                  {.doc = "Further fields of a report as NAME=VALUE; NAME=VALUE. The window asks for them"})
            .boolean("sound", &ViewSettings::sound, {.doc = "Play a tone for each new alarm"})
            .boolean("monitor", &ViewSettings::monitor,
                     {.doc = "Monitor mode: large values of up to four regions, a fixed range and locked "
                             "controls (F12)"})
            .real("change_range", &ViewSettings::change_range,
                  {.label = "Change, at most",
                   .unit = "%",
                   .min = 0.1,
                   .max = 10000,
                   .doc = "Range of the change against the baseline, from minus to plus this value"})
            .boolean("overlay", &ViewSettings::overlay,
                     {.doc = "Show rates, latency and drops on the image (F1)"})
            .boolean("panel", &ViewSettings::panel, {.doc = "Show the side panel"})
            .text("panel_sections", &ViewSettings::panel_sections,
                  {.doc = "Open sections of the panel, separated by commas: Source, Record, Stages, Regions, "
                          "Display, Histogram, Messages"})
            .real("panel_size", &ViewSettings::panel_size,
                  {.unit = "px",
                   .min = 200,
                   .max = 1000,
                   .doc = "Width of the side panel, or its height below the image in a tall window"})
            .choice("traces", &ViewSettings::traces, {"automatic", "shown", "hidden"},
                    {.doc = "Show the strip with traces of regions (T). automatic: if there are regions"})
            .real("traces_size", &ViewSettings::traces_size,
                  {.unit = "px", .min = 120, .max = 1000, .doc = "Height of the strip with traces"})
            .real("baseline_s", &ViewSettings::baseline_s,
                  {.label = "Baseline time",
                   .unit = "s",
                   .min = 0.01,
                   .max = 3600,
                   .doc = "Duration that the baseline of traces averages (Z)"})
            .real("trials_before", &ViewSettings::trials_before_s,
                  {.unit = "s",
                   .min = 0,
                   .max = 3600,
                   .doc = "Duration of trials before each event; its mean is F₀"})
            .real("trials_after", &ViewSettings::trials_after_s,
                  {.unit = "s", .min = 0, .max = 36000, .doc = "Duration of trials after each event"})
            .integer("width", &ViewSettings::width,
                     {.unit = "px", .min = 320, .max = 16384, .doc = "Width of the window"})
            .integer("height", &ViewSettings::height,
                     {.unit = "px", .min = 240, .max = 16384, .doc = "Height of the window"})
            .choice("theme", &ViewSettings::theme, {"dark", "light"}, {.doc = "Colours of the window"})
            .real("ui_scale", &ViewSettings::ui_scale,
                  {.min = 0, .max = 4, .doc = "Scale of text and controls. 0: the monitor's scale"})
            .boolean("vsync", &ViewSettings::vsync, {.doc = "Synchronise drawing with the monitor"})
            .choice(
                "image_colormap", &ViewSettings::image_colormap,
                choice_names(mapping_table().at("colormap").choices, mapping_table().at("colormap").labels),
                {.label = "Colours of images",
                 .doc = "Colour map of the window for images that no stage has turned into contrast or "
                        "flow"})
            .part(&ViewSettings::mapping, mapping_table())
            .table();
    return table;
}

ParamTable executor_table() {
    return Declare<ExecutorChoice>("specklescope")
        .choice("backend", &ExecutorChoice::backend,
                {{"auto", "Automatic"}, {"cpu", "CPU"}, {"cuda", "GPU (CUDA)"}},
                {.doc = "Device for the stages. auto: a GPU if there is one. cuda: fail without a GPU"})
        .integer("threads", &ExecutorChoice::threads,
                 {.min = 0, .max = 1024, .doc = "Number of processing threads on the host. 0: one per core"})
        .text("gpus", &ExecutorChoice::gpus,
              {.doc = "Distribute frames over GPUs: all, or a list such as 0,2. Only for chains without "
                      "history"})
        .table();
}

ParamTable baseline_table() {
    return Declare<BaselineSettings>("specklescope")
        .path("baseline", &BaselineSettings::file,
              {.doc = "Baseline F₀ of every pixel: an image (.npy, .tiff) in the unit of the results, or "
                      "the mean of a recording"})
        .real("baseline_seconds", &BaselineSettings::seconds,
              {.unit = "s",
               .min = 0,
               .max = 36000,
               .doc = "Seconds that the baseline averages, of its file or of the beginning of the "
                      "source. 0: the whole file"})
        .boolean("change", &BaselineSettings::change,
                 {.doc = "Record results as change against the baseline, 100·(F/F₀ − 1) %"})
        .table();
}

ParamTable make_program_table() {
    ParamTable table =
        Declare<ProgramSettings>("specklescope")
            .part(&ProgramSettings::executor, executor_table())
            .choice("plans", &ProgramSettings::plans, {"estimate", "measure"},
                    {.doc = "Planning of Fourier transforms on the host. estimate: the same bits at every "
                            "start. measure: faster, after trials of up to 4 s at the first start"})
            .integer("slots", &ProgramSettings::slots,
                     {.min = 0,
                      .max = 4096,
                      .doc = "Number of frames in the ring, at least 6. 0: chosen from the frame size"})
            .integer("from", &ProgramSettings::from,
                     {.min = 0, .max = 1000000000, .doc = "Start a file at this frame, counted from 0"})
            .real("from_s", &ProgramSettings::from_s,
                  {.unit = "s", .min = 0, .max = 1e7, .doc = "Start a file at this time in seconds"})
            .integer("frames", &ProgramSettings::frames,
                     {.min = 0, .max = 1000000000, .doc = "Stop after this many frames. 0: no limit"})
            .real("rate", &ProgramSettings::rate,
                  {.unit = "frames/s",
                   .min = 0,
                   .max = kMaxRate,
                   .least = kMinRate,
                   .doc = "Play a file at this many frames per second. 0: its own rate in the window, as "
                          "fast as possible in run"})
            .boolean("loop", &ProgramSettings::loop, {.doc = "Restart a file at its end"})
            .boolean(
                "offscreen", &ProgramSettings::offscreen,
                {.doc =
                     "Draw the window in memory, without a display, until the source or the recordings end"})
            .real("serve_mbit_s", &ProgramSettings::serve_mbit_s,
                  {.unit = "Mbit/s",
                   .min = 0,
                   .max = 1000,
                   .doc = "Limit the RTSP stream in Mbit/s. 0: 30 bit/s per pixel, between 4 and 30 Mbit/s"})
            .choice("serve_chroma", &ProgramSettings::serve_chroma, {"4:2:0", "4:4:4"},
                    {.doc = "Colour resolution of the RTSP stream. 4:2:0: for every client. 4:4:4: colours "
                            "of single pixels"})
            .text("control_folder", &ProgramSettings::control_folder,
                  {.doc = "Allow requests to write files, only into this folder"})
            .text("curve_key", &ProgramSettings::curve_key,
                  {.doc = "Encrypt --publish and --control (CURVE) with the secret key in this file"})
            .text("curve_clients", &ProgramSettings::curve_clients,
                  {.doc = "Accept only clients with a public key in this file or folder (*.key). Needs "
                          "--curve-key"})
            .text("transfer", &ProgramSettings::transfer,
                  {.doc = "Decode images to linear light: auto (as the file says), linear (unchanged), srgb "
                          "or gamma:G"})
            .real("silence", &ProgramSettings::silence_s,
                  {.unit = "s",
                   .min = 0.1,
                   .max = 3600,
                   .doc = "Reconnect a camera after this many seconds without a frame"})
            .choice("channel", &ProgramSettings::channel, choice_names(grey_channel_names()),
                    {.doc = "Channel passed to grey-only stages: one colour, luma or the mean"})
            .text("camera_profile", &ProgramSettings::camera_profile,
                  {.label = "Camera profile",
                   .doc =
                       "Use gain, noise, β and maps that calibrate measured: a NAME or FILE.toml; auto: of "
                       "the camera that is opened; none"})
            .text("show", &ProgramSettings::show,
                  {.label = "Displayed image",
                   .doc = "Display this further image of the chain (also= of a stage) in place of the last "
                          "one, for example contrast"})
            .boolean("medians", &ProgramSettings::medians, {.doc = "Also compute the median of each region"})
            .integer("band", &ProgramSettings::band,
                     {.unit = "px",
                      .min = 1,
                      .max = kMaxBand,
                      .doc = "Average line profiles over this many pixels across the line"})
            .real("um_per_px", &ProgramSettings::um_per_px,
                  {.label = "Pixel size",
                   .unit = "µm",
                   .min = 0,
                   .max = kMaxUmPerPx,
                   .doc = "Side of an output pixel in µm, for scale bar, areas, widths and calibrated files. "
                          "0: as the file says"})
            .part(&ProgramSettings::baseline, baseline_table())
            .choice("log", &ProgramSettings::log, {"normal", "quiet", "verbose"},
                    {.doc = "Amount of log output. quiet: errors only"})
            .part(&ProgramSettings::recording, record_limits_table())
            .part(&ProgramSettings::marks, screen_marks_table())
            .table();
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
                         " has no effect. Add --publish or --control ADDRESS.");
    std::error_code ignored;
    if (program.control_folder.empty())
        return;
    if (!control)
        throw UsageError(program_table().owner() + ": control_folder = " + program.control_folder +
                         " has no effect without requests. Add --control ADDRESS.");
    if (!std::filesystem::is_directory(program.control_folder, ignored))
        throw UsageError(program_table().owner() + ": control_folder = " + program.control_folder +
                         " is not a folder. Name an existing folder.");
}

} // namespace

const ParamTable& view_table() {
    static const ParamTable table = make_view_table();
    return table;
}

Chain default_chain() {
    Chain chain;
    chain.add(stage_types().front().name);
    return chain;
}

Mapping mapping_for(const Settings& settings, const Quantity& quantity) {
    const auto& view = settings.view.as<ViewSettings>();
    Mapping mapping = view.mapping;
    if (settings.command != Command::run && quantity.measure == Measure::intensity)
        mapping.colormap = view.image_colormap;
    return mapping;
}

void colour_images(Settings& settings, ColorMap before) {
    auto& view = settings.view.as<ViewSettings>();
    if (settings.command != Command::run && settings.chain.quantity().measure == Measure::intensity)
        view.image_colormap = std::exchange(view.mapping.colormap, before);
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
                         " s needs a recording of raw frames. Add --record-raw FILE.");
    if (program.offscreen && settings.command == Command::view && settings.outputs.empty())
        throw UsageError(
            program_table().owner() +
            ": offscreen has no output. Add one: --screenshot FILE.png, --window-movie FILE.mkv, --record "
            "FILE, --snapshot FILE, --stats FILE, --publish, --control or --serve ADDRESS.");
    check_marks(program.marks, program_table().owner());
    check_doors(settings);
    for (const Output& output : settings.outputs) {
        if (!output.kind->file)
            output.kind->check(output.target);
        if (output.kind->needs != OutputKind::Needs::nothing && settings.regions_path.empty() &&
            settings.regions_from.empty())
            throw UsageError(program_table().owner() + ": " + output.kind->name + " = " + output.target +
                             " needs regions. Add --regions FILE.");
    }
    if (program.from > 0 && program.from_s > 0)
        throw UsageError(program_table().owner() + ": from_s = " + to_string(program.from_s) +
                         " s and from = " + std::to_string(program.from) +
                         " cannot be combined. Leave one of them out.");
    if (const BaselineSettings& base = program.baseline;
        base.change && base.file.empty() && base.seconds == 0)
        throw UsageError(program_table().owner() +
                         ": change = true needs a baseline. Add --baseline FILE or --baseline-seconds S.");
    const Mapping& mapping = settings.view.as<ViewSettings>().mapping;
    const auto in_order = [](const char* low, double below, const char* high, double above) {
        if (!(below < above))
            throw UsageError(view_table().owner() + ": " + low + " = " + to_string(below) + " is not below " +
                             high + " = " + to_string(above) + ". Give the smaller value to " + low + ".");
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
