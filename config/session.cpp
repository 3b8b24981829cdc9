// From settings to a pipeline with its recorders.
#include "config/atomic_file.hpp"
#include "config/settings.hpp"
#include "recording/recorder.hpp"
#include "sources/registry.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace specklescope {

namespace {

/// A file in the window goes at its own pace, or at 30 frames/s where it has none; a single image is shown
/// again and again. Only the open file knows, so this stands between it and the pipeline.
class AtOwnPace final : public Source {
public:
    explicit AtOwnPace(std::unique_ptr<Source> file) : file_(std::move(file)) { params_ = file_->params(); }
    SourceInfo open() override {
        SourceInfo info = file_->open();
        if (!info.live) {
            constexpr double kUsual = 30;
            if (is("rate", 0.0))
                file_->set("rate", info.rate > 0 ? info.rate : kUsual);
            if (info.frames == 1 && is("loop", false)) {
                file_->set("loop", true);
                info.frames = 0;
            }
        }
        params_ = file_->params();
        return info;
    }
    Status next(FramePort& port) override { return file_->next(port); }
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
};

} // namespace

void set_up_log(const Settings& settings, const std::string& before) {
    static const std::shared_ptr<spdlog::logger> logger = [] {
        auto made = std::make_shared<spdlog::logger>("specklescope",
                                                     std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
        spdlog::set_default_logger(made);
        return made;
    }();
    logger->set_pattern(before + "specklescope: %v");
    const auto log = settings.program.as<ProgramSettings>().log;
    logger->set_level(log == ProgramSettings::Log::quiet     ? spdlog::level::err
                      : log == ProgramSettings::Log::verbose ? spdlog::level::debug
                                                             : spdlog::level::info);
}

std::unique_ptr<Pipeline> make_pipeline(const Settings& settings) {
    const auto& program = settings.program.as<ProgramSettings>();
    const SourceDefaults defaults{.rate = program.rate, .loop = program.loop};
    std::unique_ptr<Source> source = make_source(settings.source, defaults);
    if (settings.command == Command::view)
        source = std::make_unique<AtOwnPace>(std::move(source));
    PipelineOptions options;
    options.executor = [choice = ExecutorChoice{program.backend, program.threads, program.gpus}](
                           std::string* note) { return make_executor(choice, note); };
    options.threads = program.threads;
    options.channel = program.channel;
    options.slots = program.slots;
    options.frames = static_cast<std::uint64_t>(program.frames);
    options.source_text = settings.source.empty() ? "synthetic" : settings.source;
    options.silence_s = program.silence_s;
    return std::make_unique<Pipeline>(std::move(source), settings.chain, options);
}

std::vector<std::shared_ptr<Sink>> add_recorders(Pipeline& pipeline, const Settings& settings) {
    std::vector<std::shared_ptr<Sink>> made;
    const auto make = [&](const std::string& path, RecordWhat what) {
        RecordOptions options;
        options.path = path;
        options.what = what;
        options.mapping = settings.view.as<ViewSettings>().mapping;
        made.push_back(make_recorder(options));
    };
    for (const std::string& path : settings.record)
        make(path, RecordWhat::processed);
    for (const std::string& path : settings.record_raw)
        make(path, RecordWhat::raw);
    for (const std::string& path : settings.record_mask)
        make(path, RecordWhat::mask);
    // A folder that refuses files is found before the first frame, not with it.
    for (const auto* paths : {&settings.record, &settings.record_raw, &settings.record_mask})
        for (const std::string& path : *paths)
            check_writable(path);
    std::size_t added = 0;
    try {
        for (; added < made.size(); ++added)
            pipeline.add_sink(made[added]);
    } catch (...) {
        while (added > 0)
            pipeline.remove_sink(made[--added]);
        throw;
    }
    return made;
}

} // namespace specklescope
