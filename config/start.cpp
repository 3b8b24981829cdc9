// Makes a pipeline with its recorders from settings.
#include "config/start.hpp"
#include "analysis/regions_file.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "config/atomic_file.hpp"
#include "config/camera_profile.hpp"
#include "config/settings.hpp"
#include "pipeline/source.hpp"
#include "recording/lines/lines.hpp"
#include "recording/record_file.hpp"
#include "recording/recorder.hpp"
#include "recording/report/report.hpp"
#include "recording/stream/pipe_end.hpp"
#include "recording/traces.hpp"
#include "sources/registry.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace specklescope {

namespace {

/// Plays a file in the window at its own rate, or at 30 frames/s without a rate; repeats a single image.
/// This class wraps the source, since only the open file knows its rate.
class AtOwnPace final : public Source, public TimedFrames {
public:
    AtOwnPace(std::unique_ptr<Source> file, bool stays) : file_(std::move(file)), stays_(stays) {
        params_ = file_->params();
    }
    SourceInfo open() override {
        SourceInfo info = file_->open();
        if (!info.live) {
            constexpr double kUsual = 30;
            if (is("rate", 0.0))
                file_->pace(info.rate >= kMinRate ? std::min(info.rate, kMaxRate) : kUsual);
            if (stays_ && info.length == 1 && is("loop", false)) {
                file_->set("loop", true);
                info.frames = 0;
            }
        }
        params_ = file_->params();
        return info;
    }
    bool may_hold_results() const override { return file_->may_hold_results(); }
    Status next(FramePort& port) override { return file_->next(port); }
    std::uint64_t length() override { return file_->length(); }
    std::optional<std::uint64_t> frame_at(double seconds) override {
        return TimedFrames::find(*file_, seconds);
    }
    void recording(bool on) override { file_->recording(on); }
    void seek(std::uint64_t frame, std::uint64_t at_once) override { file_->seek(frame, at_once); }
    void close() override { file_->close(); }
    void set(std::string_view name, const ParamValue& value) override {
        file_->set(name, value);
        params_ = file_->params();
    }

private:
    bool is(std::string_view key, const ParamValue& value) const {
        return file_->params().has_table() && file_->params().table().find(key) &&
               file_->params().get(key) == value;
    }
    std::unique_ptr<Source> file_;
    bool stays_; ///< repeats a single image until the user stops
};

/// Makes a log line without control characters: names of files and cameras may contain them.
class CleanText final : public spdlog::custom_flag_formatter {
public:
    void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& to) override {
        const std::string line = one_line({message.payload.data(), message.payload.size()});
        to.append(line.data(), line.data() + line.size());
    }
    std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<CleanText>(); }
};

/// The window accepts settings without lines, which may be drawn later.
void check_lines(const Settings& settings, const RegionOutlines& regions) {
    const std::string& from = settings.regions_path.empty() ? settings.regions_from : settings.regions_path;
    std::size_t lines = 0;
    for (std::size_t i = 0; i < regions.count(); ++i)
        lines += regions.line(i) ? 1 : 0;
    for (const auto& [kind, target, of] : settings.outputs) {
        if (kind->needs == OutputKind::Needs::lines && lines == 0 && settings.command == Command::run)
            throw UsageError("--" + kind->option() + " needs a line region, but none of " + from +
                             " is a line. Draw one across the vessel.");
        if (lines > kind->most_lines)
            throw UsageError("--" + kind->option() + " writes " + std::to_string(kind->most_lines) +
                             " files at most, but " + from + " has " + std::to_string(lines) +
                             " lines. Split the regions, and run once per part.");
    }
}

} // namespace

void set_up_log(const Settings& settings, const std::string& before) {
    static const auto& logger =
        *new const std::shared_ptr<spdlog::logger>([] { // NOLINT: as known_secrets.cpp
            auto made = std::make_shared<spdlog::logger>(
                "specklescope", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
            made->set_error_handler([](const std::string& why) {
                std::fprintf(stderr, "specklescope: A line of the log is lost: %s.\n",
                             why == "std::bad_alloc" ? "the memory is used up" : why.c_str());
            });
            spdlog::set_default_logger(made);
            return made;
        }());
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<CleanText>('*').set_pattern(before + "specklescope: %*");
    logger->set_formatter(std::move(formatter));
    const auto log = settings.program.as<ProgramSettings>().log;
    logger->set_level(log == ProgramSettings::Log::quiet     ? spdlog::level::err
                      : log == ProgramSettings::Log::verbose ? spdlog::level::debug
                                                             : spdlog::level::info);
}

void ask_for_secrets(const SourceArgument& source) {
    if (isatty(STDIN_FILENO) != 1 || isatty(STDERR_FILENO) != 1)
        return;
    for (const std::string& name : source.references())
        if (!from_environment(name)) {
            const std::string prompt = one_line(name + " for " + source.shown()) + ": ";
            const char* typed = getpass(prompt.c_str()); // NOLINT(concurrency-mt-unsafe): no other thread yet
            if (typed && *typed)
                setenv(name.c_str(), typed, 1); // NOLINT(concurrency-mt-unsafe): the same
        }
}

SourceDefaults source_defaults(const Settings& settings) {
    const auto& program = settings.program.as<ProgramSettings>();
    return {.rate = program.rate, .transfer = program.transfer, .trusted = settings.trusted};
}

std::unique_ptr<Pipeline> make_pipeline(const Settings& settings, const ExecutorChoice& callers,
                                        std::shared_ptr<const RegionOutlines> regions) {
    const auto& program = settings.program.as<ProgramSettings>();
    const bool part = program.from > 0 || program.from_s > 0; // then only this part is looped
    SourceDefaults defaults = source_defaults(settings);
    defaults.loop = program.loop && !part;
    PipelineOptions options;
    if (regions) {
        options.regions = std::move(regions);
    } else if (settings.regions && !settings.regions->empty()) {
        const bool run = settings.command == Command::run;
        options.regions = make_outlines(*settings.regions, program.medians,
                                        run ? OutsideRegions::refuse : OutsideRegions::mark);
        if (run)
            check_lines(settings, *options.regions);
    } else if (!settings.regions && !settings.regions_path.empty()) { // before a camera is looked for
        options.regions = make_outlines(load_regions(settings.regions_path), program.medians);
        check_lines(settings, *options.regions);
    }
    std::unique_ptr<Source> source = make_source(settings.source, defaults);
    if (settings.command == Command::view)
        source = std::make_unique<AtOwnPace>(std::move(source), !ends_by_itself(settings));
    ExecutorChoice choice = program.executor;
    choice.guest = callers.guest;
    choice.device_results = callers.device_results;
    options.executor = [choice](std::string* note) { return make_executor(choice, note); };
    options.threads = choice.threads;
    options.channel = program.channel;
    options.slots = program.slots;
    options.from = static_cast<std::uint64_t>(program.from);
    options.from_s = program.from_s;
    options.loop = program.loop && part;
    options.frames = static_cast<std::uint64_t>(program.frames);
    options.source_text = settings.source.empty() ? "synthetic" : settings.source.shown();
    options.silence_s = program.silence_s;
    options.colour_unprocessed = settings.command == Command::view && settings.chain_default;
    options.um_per_source_px = um_per_source_px(settings);
    options.adapt = [wanted = program.camera_profile](Chain& of, const SourceInfo& opened) {
        const std::optional<CameraProfile> profile = profile_for(wanted, opened);
        if (const std::string used = use_profile(profile, of); !used.empty())
            run_log().info("Camera profile {}: {}.", profile->name, used);
    };
    Chain chain = settings.chain;
    chain.set_shown(program.show);
    if (settings.command == Command::run)
        (void)quantity_of_output(program.show, chain);
    return std::make_unique<Pipeline>(std::move(source), std::move(chain), options);
}

std::string write_last_snapshot(const Settings& settings, const Result& result, const StreamInfo& stream) {
    RecordOptions options;
    options.path = output_of(settings, "snapshot");
    options.mapping = mapping_for(settings, result.quantity);
    return write_snapshot(result, options, stream);
}

ScreenLook look_of(const ViewSettings& view) {
    ScreenLook look;
    look.layout = view.layout;
    look.split = view.split;
    look.blend = view.blend;
    look.mapping = view.mapping;
    look.change_range = view.change_range;
    return look;
}

ScreenLook look_of(const Settings& settings) {
    ScreenLook look = look_of(settings.view.as<ViewSettings>());
    look.baseline = settings.baseline;
    return look;
}

bool ends_by_itself(const Settings& settings) {
    return settings.program.as<ProgramSettings>().offscreen && output_of(settings, "control").empty();
}

} // namespace specklescope
