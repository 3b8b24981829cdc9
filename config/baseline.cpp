#include "config/baseline.hpp"

#include "analysis/baseline_image.hpp"
#include "base/log.hpp"
#include "base/long_work.hpp"
#include "config/recorded/recorded_settings.hpp"
#include "files/npy_file.hpp"
#include "pipeline/first_frame.hpp"
#include "sources/registry.hpp"
#include "sources/source_text.hpp"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <limits>
#include <thread>

namespace specklescope {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* kWork = "the baseline";
constexpr double kOneFrame = 1e-9; // s

const ProgramSettings& program_of(const Settings& settings) { return settings.program.as<ProgramSettings>(); }

/// Nothing but frames and what the chain makes of them.
Settings bare(const Settings& settings) {
    Settings run = settings;
    run.command = Command::run;
    run.regions.reset();
    run.regions_path.clear();
    run.baseline.reset();
    run.program.set("loop", false);
    run.program.set("frames", std::int64_t{0});
    return run;
}

/// What the chain makes of the source, averaged over its first seconds.
std::shared_ptr<const BaselineImage> averaged(const Settings& settings, double seconds,
                                              const std::string& from) {
    const std::unique_ptr<Pipeline> pipeline = make_pipeline(bare(settings));
    const auto collector =
        std::make_shared<BaselineCollector>(seconds > 0 ? seconds : std::numeric_limits<double>::infinity());
    pipeline->viewer_wants_host(false);
    pipeline->add_sink(collector);
    pipeline->start();
    if (const SourceInfo source = pipeline->status().source; seconds > kOneFrame && !source.live)
        (void)frame_at(seconds, source); // says it where the file has no times
    while (!pipeline->finished() && collector->progress() < 1) {
        work_goes_on(kWork, seconds > 0 ? collector->progress() : -1);
        std::this_thread::sleep_for(5ms);
    }
    const PipelineStatus status = pipeline->status();
    pipeline->stop();
    collector->finish();
    if (status.state == RunState::failed)
        throw RunError("The baseline cannot be taken. " + status.message);
    const std::shared_ptr<const BaselineImage> taken = collector->taken();
    if (!taken)
        throw RunError("The baseline cannot be taken of " + settings.source.shown() + ". " +
                       collector->error());
    if (const std::uint64_t failed = pipeline->stats().drops.failed; failed > 0)
        throw RunError("The baseline cannot be taken of " + settings.source.shown() + ": " +
                       std::to_string(failed) + " frames could not be computed.");
    return std::make_shared<const BaselineImage>(taken->shape(), taken->quantity(), taken->values(),
                                                 taken->frames(), taken->seconds(), from);
}

bool is_file(const SourceArgument& source) {
    try {
        return is_file_kind(parse_source_text(source.revealed()).kind);
    } catch (const UsageError&) { // whoever opens it will say so
        return false;
    }
}

/// Of a file its first result tells both; of a camera and a scene the first of the run will tell the size.
void check_fits(const BaselineImage& picture, const Settings& settings, const std::string& from) {
    if (!is_file(settings.source))
        return;
    const std::shared_ptr<const BaselineImage> first = averaged(settings, kOneFrame, from);
    if (!picture.fits(first->shape(), first->quantity()))
        throw UsageError(baseline_misfit(picture, first->shape(), first->quantity()));
}

Quantity quantity_of_results(const Settings& settings) {
    if (is_file(settings.source))
        return averaged(settings, kOneFrame, "")->quantity();
    return settings.chain.quantity();
}

/// As F₀ it has the quantity of what is compared with it.
std::shared_ptr<const BaselineImage> as_results(const Shape& shape, std::vector<float> f0,
                                                const Settings& settings, const std::string& from) {
    auto picture = std::make_shared<const BaselineImage>(shape, quantity_of_results(settings), std::move(f0),
                                                         1, 0, from);
    check_fits(*picture, settings, from);
    return picture;
}

std::shared_ptr<const BaselineImage> from_npy(const Settings& settings, const std::string& path) {
    NpyArray array = read_npy(path, std::size_t{kMaxSide} * kMaxSide);
    if (array.shape.size() != 2)
        throw UsageError("--baseline: " + path + " has " + std::to_string(array.shape.size()) +
                         " axes; allowed: one picture, rows × columns.");
    const Shape shape{static_cast<int>(array.shape[1]), static_cast<int>(array.shape[0]), 1, PixelType::f32};
    check_shape(shape, "'" + path + "'");
    return as_results(shape, std::move(array.values), settings, path);
}

SourceInfo opened(const Settings& settings) {
    const std::unique_ptr<Source> source =
        make_source(settings.source, {.transfer = program_of(settings).transfer});
    SourceInfo info = source->open();
    source->close();
    return info;
}

std::shared_ptr<const BaselineImage> from_file(const Settings& settings, const std::string& path) {
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored) && is_npy(path))
        return from_npy(settings, path);
    Settings file = settings;
    file.source = SourceArgument(path);
    file.program.set("from", std::int64_t{0});
    file.program.set("from_s", 0.0);
    Settings plain = file;
    plain.chain.stages().clear();
    const double seconds = program_of(settings).baseline_seconds;
    if (!is_file(file.source))
        throw UsageError("--baseline: '" + file.source.shown() +
                         "' is no file; name a picture or a recording, or give --baseline-seconds alone.");
    const SourceInfo info = opened(file);
    const bool foreign = look_at_source(file).path.empty();
    if (foreign && info.length == 1) {
        const auto picture = averaged(plain, 0, path);
        return as_results(picture->shape(), picture->values(), settings, path);
    }
    const bool results = info.quantity.measure != Measure::intensity;
    auto mean = averaged(results ? plain : file, seconds, path);
    check_fits(*mean, settings, path);
    return mean;
}

} // namespace

std::string baseline_misfit(const BaselineImage& baseline, const Shape& shape, const Quantity& quantity) {
    return "The baseline " + baseline.text() + " is " + to_string(baseline.shape()) + " of " +
           baseline.quantity().name + ", and the results are " + to_string(shape) + " of " + quantity.name +
           "; take it of the same picture with the same chain.";
}

bool wants_baseline(const Settings& settings) {
    const ProgramSettings& program = program_of(settings);
    return !program.baseline.empty() || program.baseline_seconds > 0;
}

bool baseline_is_of_files(const Settings& settings) {
    return !program_of(settings).baseline.empty() || is_file(settings.source);
}

void take_baseline(Settings& settings) {
    if (!wants_baseline(settings))
        return;
    const ProgramSettings& program = program_of(settings);
    settings.baseline = program.baseline.empty()
                            ? averaged(settings, program.baseline_seconds, settings.source.shown())
                            : from_file(settings, program.baseline);
    run_log().info("Baseline: {}.", settings.baseline->text());
}

} // namespace specklescope
