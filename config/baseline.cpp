#include "config/baseline.hpp"
#include "config/start.hpp"

#include "analysis/baseline_image.hpp"
#include "base/log.hpp"
#include "base/long_work.hpp"
#include "config/recorded/recorded_settings.hpp"
#include "files/npy_file.hpp"
#include "pipeline/source.hpp"
#include "sources/registry.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace specklescope {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* kWork = "the baseline";

const ProgramSettings& program_of(const Settings& settings) { return settings.program.as<ProgramSettings>(); }

/// Settings with only the frames and the chain.
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

/// Runs the chain over the source into the sink, until that has enough (`part` is 1) or nothing more comes.
/// Returns how many frames could not be computed.
std::uint64_t run_into(const std::shared_ptr<Sink>& sink, const Settings& settings, double seconds,
                       const std::function<double()>& part) {
    const std::unique_ptr<Pipeline> pipeline = make_pipeline(bare(settings));
    pipeline->viewer_wants_host(false);
    pipeline->add_sink(sink);
    pipeline->start();
    if (const SourceInfo source = pipeline->status().source; seconds > 0 && !source.live)
        (void)frame_at(seconds, source); // throws if the file has no times
    while (!pipeline->finished() && part() < 1) {
        work_goes_on(kWork, seconds > 0 ? part() : -1);
        std::this_thread::sleep_for(5ms);
    }
    const bool failed = pipeline->status().state == RunState::failed;
    pipeline->stop();
    if (failed) // the pipeline has logged why
        throw RunError("The baseline cannot be computed from " + settings.source.shown() +
                       ". Name a readable file.");
    return pipeline->stats().drops.failed;
}

[[noreturn]] void refuse_failed(const Settings& settings, std::uint64_t failed) {
    throw RunError("The baseline cannot be computed from " + settings.source.shown() + ": " +
                   std::to_string(failed) + " frames could not be computed.");
}

/// Results of the chain, averaged over the first seconds of the source.
std::shared_ptr<const BaselineImage> averaged(const Settings& settings, double seconds,
                                              const std::string& from) {
    const auto collector =
        std::make_shared<BaselineCollector>(seconds > 0 ? seconds : std::numeric_limits<double>::infinity());
    const std::uint64_t failed =
        run_into(collector, settings, seconds, [&] { return collector->progress(); });
    collector->finish();
    const std::shared_ptr<const BaselineImage> taken = collector->taken();
    if (!taken)
        throw RunError("The baseline cannot be computed from " + settings.source.shown() + ". " +
                       collector->error());
    if (failed > 0)
        refuse_failed(settings, failed);
    return std::make_shared<const BaselineImage>(taken->shape(), taken->quantity(), taken->values(),
                                                 taken->frames(), taken->seconds(), from, taken->with());
}

/// Properties that a baseline must match.
struct Comparable {
    Shape shape;
    Quantity quantity;
    MadeWith with;
};

/// Takes the first result, whether its stages have filled their histories or not.
class FirstResult final : public Sink {
public:
    void open(const StreamInfo&) override {}
    void push(const Result& result, bool) override {
        const std::scoped_lock lock(mutex_);
        if (!seen_)
            seen_ = Comparable{result.shape(), result.quantity, made_with(result)};
    }
    void close() noexcept override {}
    bool wants_host_image() const override { return false; }
    SinkStatus status() const override { return {}; }
    std::optional<Comparable> seen() const {
        const std::scoped_lock lock(mutex_);
        return seen_;
    }

private:
    mutable std::mutex mutex_;
    std::optional<Comparable> seen_;
};

Comparable first_result(const Settings& settings) {
    const auto sink = std::make_shared<FirstResult>();
    const std::uint64_t failed = run_into(sink, settings, 0, [&] { return sink->seen() ? 1.0 : 0.0; });
    if (!sink->seen())
        refuse_failed(settings, failed);
    return *sink->seen();
}

bool is_read_once(const SourceArgument& source) {
    try {
        return is_read_once(parse_source_text(source.revealed()));
    } catch (const UsageError&) { // reported when the file is opened
        return false;
    }
}

/// Files that may be read before the run.
bool is_file(const SourceArgument& source) {
    try {
        return is_file_kind(parse_source_text(source.revealed()).kind) && !is_read_once(source);
    } catch (const UsageError&) {
        return false;
    }
}

/// The first result of a file gives size and quantity; for a camera or a scene, the first result of the run
/// gives the size.
void check_fits(const BaselineImage& picture, const Settings& settings) {
    if (!is_file(settings.source))
        return;
    const Comparable first = first_result(settings);
    if (const std::string misfit = picture.misfit(first.shape, first.quantity, &first.with); !misfit.empty())
        throw UsageError(picture.refusal(misfit));
}

/// The chain that is set: a picture that has no settings of its own is taken as made with it.
std::shared_ptr<const Chain> chain_of(const Settings& settings) {
    return std::make_shared<const Chain>(settings.chain);
}

/// F₀ with the quantity of the results that are compared with it. `values` computes its values, once size
/// and quantity fit.
template <class F> std::shared_ptr<const BaselineImage>
as_results(const Shape& shape, F&& values, const Settings& settings, const std::string& from) {
    Comparable results{shape, settings.chain.quantity(), {.chain = chain_of(settings)}};
    if (is_file(settings.source)) {
        results = first_result(settings);
        const BaselineImage claimed(shape, results.quantity, {}, 1, 0, from);
        const std::string misfit = claimed.misfit(results.shape, results.quantity, nullptr);
        if (!misfit.empty())
            throw UsageError(claimed.refusal(misfit));
    }
    return std::make_shared<const BaselineImage>(shape, results.quantity, values(), 1, 0, from, results.with);
}

/// A simulated scene has its size in its options.
std::optional<Shape> size_of_scene(const SourceArgument& source) {
    try {
        const SourceText text = parse_source_text(source.revealed());
        if (text.kind != "synthetic")
            return std::nullopt;
        const Params params = make_source(source, {})->params();
        return Shape{static_cast<int>(std::get<std::int64_t>(params.get("width"))),
                     static_cast<int>(std::get<std::int64_t>(params.get("height"))), 1, PixelType::f32};
    } catch (const UsageError&) { // reported when the file is opened
        return std::nullopt;
    }
}

std::shared_ptr<const BaselineImage> from_npy(const Settings& settings, const std::string& path) {
    constexpr std::size_t kMost = std::size_t{1} << 28; // the size of camera images is unknown: 16384²
    NpyFile file(path);
    const std::vector<std::size_t>& sides = file.shape();
    if (sides.size() != 2)
        throw UsageError("--baseline: " + path + " has " + std::to_string(sides.size()) +
                         " axes; allowed: one image, rows × columns.");
    const auto side = [](std::size_t pixels) {
        return static_cast<int>(std::min(pixels, std::size_t{kMaxSide} + 1));
    };
    const Shape shape{side(sides[1]), side(sides[0]), 1, PixelType::f32};
    check_shape(shape, "'" + path + "'");
    const std::optional<Shape> scene = size_of_scene(settings.source);
    if (scene && shape.pixels() > scene->pixels()) // no stage makes more
        throw UsageError("The baseline " + path + " is " + to_string(shape) + ", larger than the scene of " +
                         to_string(*scene) + ". Use a baseline of the same image and chain.");
    if (!scene && !is_file(settings.source))
        file.check_count(kMost);
    return as_results(
        shape, [&] { return file.rest(); }, settings, path);
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
    const double seconds = program_of(settings).baseline.seconds;
    if (!is_file(file.source) && !is_read_once(file.source))
        throw UsageError("--baseline: '" + file.source.shown() +
                         "' is not a file. Name an image or a recording, or use only --baseline-seconds.");
    if (is_read_once(file.source))
        throw UsageError("--baseline: '" + file.source.shown() +
                         "' can be read only once. Save its output to a file, and name that file.");
    const SourceInfo info = opened(file);
    const bool foreign = look_at_source(file).path.empty();
    if (foreign && info.length == 1) {
        const auto picture = averaged(plain, 0, path);
        return as_results(
            picture->shape(), [&] { return picture->values(); }, settings, path);
    }
    const bool results = info.quantity.measure != Measure::intensity;
    auto mean = averaged(results ? plain : file, seconds, path);
    if (results) {
        MadeWith with = mean->with().value_or(MadeWith{});
        const std::shared_ptr<const Chain> made_by = chain_of_results(look_at_source(file).path);
        with.chain = made_by ? made_by : chain_of(settings);
        mean = std::make_shared<const BaselineImage>(mean->shape(), mean->quantity(), mean->values(),
                                                     mean->frames(), mean->seconds(), path, with);
    }
    check_fits(*mean, settings);
    return mean;
}

} // namespace

bool wants_baseline(const Settings& settings) {
    const ProgramSettings& program = program_of(settings);
    return !program.baseline.file.empty() || program.baseline.seconds > 0;
}

bool baseline_is_of_files(const Settings& settings) {
    return !program_of(settings).baseline.file.empty() || is_file(settings.source);
}

void take_baseline(Settings& settings) {
    if (!wants_baseline(settings))
        return;
    const ProgramSettings& program = program_of(settings);
    if (program.baseline.file.empty() && is_read_once(settings.source))
        throw UsageError("--baseline-seconds reads the beginning of a source twice, but " +
                         settings.source.shown() +
                         " can be read only once. Save its output to a file, or name a recording at rest "
                         "with --baseline FILE.");
    settings.baseline = program.baseline.file.empty()
                            ? averaged(settings, program.baseline.seconds, settings.source.shown())
                            : from_file(settings, program.baseline.file);
    run_log().info("Baseline: {}.", settings.baseline->text());
}

} // namespace specklescope
