#include "sources/synthetic/synthetic_source.hpp"
#include "sources/registry.hpp"

#include "base/long_work.hpp"
#include "base/parallel.hpp"
#include "sources/pacer.hpp"
#include "sources/synthetic/mixed_frames.hpp"

namespace specklescope {

namespace {

/// Threads of a live source, which leaves most of the processor to the others.
int live_threads(bool mixed) { return std::max(std::min(mixed ? 1 : 2, all_threads()), all_threads() / 4); }

/// Pixels per second that each of them computes.
constexpr double kMostComputed = 3.2e7;

/// Throws UsageError for options that contradict each other.
void check_options(const SyntheticOptions& options) {
    const bool cycles = exposures_of(options).size() > 1;
    if (options.making == SyntheticOptions::Frames::mixed && (cycles || scene_moves(options)))
        throw UsageError(
            "source synthetic: making = mixed cannot move the scene or change the exposure. Choose "
            "making = computed.");
}

class SyntheticSource final : public Source {
public:
    explicit SyntheticSource(const Params& params) {
        params_ = params;
        check_options(options());
    }

    SourceInfo open() override {
        close();
        live_ = options().live && options().rate > 0;
        make_scene();
        SourceInfo info;
        info.name = "simulated " + std::get<std::string>(params_.get("scene"));
        info.shape = scene_->shape();
        info.full_scale = scene_->truth().full_scale;
        info.rate = options().rate;
        info.frames = static_cast<std::uint64_t>(options().frames);
        info.live = live_;
        info.seekable = !live_;
        info.length = length();
        return info;
    }

    Status next(FramePort& port) override {
        if (options().frames > 0 && number_ >= static_cast<std::uint64_t>(options().frames))
            return Status::end;
        if (stale_) {
            make_scene();
        }
        pacer_.set_speed(live_ ? 1 : options().speed);
        if (!pacer_.wait(options().rate))
            return Status::idle;
        Frame frame = port.acquire(scene_->shape());
        if (!frame && !live_)
            return Status::idle;
        const std::int64_t capture = pacer_.take(clock_rate(options()), options().rate);
        turn_clock();
        if (frame) {
            draw(frame.host());
            if (!live_) {
                frame.info().position = number_;
                frame.info().film_ns = std::llround(std::min(seconds() * 1e9, 4e18));
            }
            frame.info().capture_ns = capture;
            frame.info().exposure_ms = scene_->exposure_ms(number_);
            frame.info().exposure_origin = ExposureOrigin::camera;
            frame.info().full_scale = scene_->truth().full_scale;
            port.submit(std::move(frame));
        }
        ++number_;
        return Status::frame; // also without a free slot: the camera is not silent
    }

    std::uint64_t length() override { return live_ ? 0 : static_cast<std::uint64_t>(options().frames); }

    void seek(std::uint64_t frame, std::uint64_t at_once) override {
        if (live_)
            return Source::seek(frame, at_once);
        if (options().frames > 0 && frame >= length())
            refuse_frame("synthetic", frame, length());
        number_ = frame;
        step_ = step(); // as if it had run at this rate from the beginning
        turned_at_ = 0;
        turned_s_ = 0;
        pacer_.skip_pacing(at_once);
    }

    void close() override {
        mixed_.reset();
        scene_.reset();
        pacer_.restart();
        number_ = 0;
        step_ = 0;
        turned_at_ = 0;
        turned_s_ = 0;
        stale_ = false;
    }

    void set(std::string_view name, const ParamValue& value) override {
        Params edited = params_;
        edited.set(name, value);
        const auto& wanted = edited.as<SyntheticOptions>();
        if (wanted.live != options().live)
            throw UsageError("source synthetic: live cannot change while the source is open. Open it again.");
        check_options(wanted);
        if (live_ && wanted.rate <= 0)
            throw UsageError("source synthetic: rate = 0 needs live=false; allowed here: more than 0.");
        stale_ = stale_ || edited.table().at(name).cost == Cost::rebuild;
        params_ = std::move(edited);
    }

private:
    const SyntheticOptions& options() const { return params_.as<SyntheticOptions>(); }

    void make_scene() {
        mixed_.reset();
        scene_ = std::make_unique<SimulatedScene>(options());
        stale_ = false;
        using Frames = SyntheticOptions::Frames;
        const double pixels = static_cast<double>(scene_->shape().pixels()) * options().rate;
        const bool mixable = !scene_moves(options()) && exposures_of(options()).size() == 1;
        if (options().making == Frames::mixed || (options().making == Frames::automatic && mixable && live_ &&
                                                  pixels > kMostComputed * live_threads(false)))
            mixed_ = std::make_unique<MixedFrames>(*scene_);
        while (mixed_ && !live_ && !mixed_->complete()) // the same frames every time
            make_mixed();
    }

    void make_mixed() {
        work_goes_on("exposing the simulated scene");
        const auto begin = SteadyClock::now();
        mixed_->make(step());
        const auto end = SteadyClock::now();
        next_made_ = end + 3 * (end - begin);
    }

    void draw(HostView to) {
        const ThreadLimit limit(live_ ? live_threads(mixed_ != nullptr) : 0);
        if (!mixed_)
            return scene_->render({number_, seconds(), step()}, to);
        if (!mixed_->complete() && SteadyClock::now() >= next_made_)
            make_mixed();
        mixed_->compose(number_, seconds(), to);
    }

    double step() const { return 1 / clock_rate(options()); }
    double seconds() const { return turned_s_ + static_cast<double>(number_ - turned_at_) * step_; }
    /// With another rate the clock continues from its current phase.
    void turn_clock() {
        if (step() == step_)
            return;
        turned_s_ = seconds();
        turned_at_ = number_;
        step_ = step();
    }

    std::unique_ptr<SimulatedScene> scene_;
    std::unique_ptr<MixedFrames> mixed_;
    SteadyClock::time_point next_made_{}; ///< when a live source computes the next frame of its set
    Pacer pacer_;
    std::uint64_t number_ = 0; ///< of the next frame
    // State of the heartbeat's clock at the last change of its rate.
    double step_ = 0;
    std::uint64_t turned_at_ = 0;
    double turned_s_ = 0;
    bool live_ = true;
    bool stale_ = false; ///< an edit needs a new scene
};

bool flows(const SyntheticOptions& options) {
    using Scene = SyntheticOptions::Scene;
    return options.scene == Scene::uniform || options.scene == Scene::straight;
}

std::unique_ptr<Source> make_synthetic(const SourceText& text, const Params& given) {
    Params params = given;
    if (!text.target.empty()) {
        const ParamDecl& scene = params.table().at("scene");
        if (std::find(scene.choices.begin(), scene.choices.end(), text.target) == scene.choices.end())
            throw UsageError("There is no scene '" + text.target + "'; " + allowed_text(scene) + ".");
        params.set("scene", text.target);
    }
    return std::make_unique<SyntheticSource>(params);
}

} // namespace

const ParamTable& synthetic_table() {
    using O = SyntheticOptions;
    static const ParamTable table =
        Declare<O>("source synthetic")
            .choice("scene", &O::scene, {"vessels", "uniform", "static", "straight"},
                    {.cost = Cost::rebuild,
                     .doc = "Scene: branching vessels that pulse at 1.2 Hz, one speed everywhere, nothing "
                            "moving, or straight vessels of one width"})
            .integer("width", &O::width,
                     {.unit = "px", .min = 1, .max = 8192, .cost = Cost::rebuild, .doc = "Pixels per row"})
            .integer("height", &O::height,
                     {.unit = "px", .min = 1, .max = 8192, .cost = Cost::rebuild, .doc = "Rows per frame"})
            .real("rate", &O::rate,
                  {.unit = "1/s",
                   .min = 0,
                   .max = kMaxRate,
                   .least = kMinRate,
                   .doc = "Frames per second. 0: as fast as possible, never dropped"})
            .integer("bits", &O::bits,
                     {.label = "Bits per pixel",
                      .min = 8,
                      .max = 16,
                      .cost = Cost::rebuild,
                      .doc = "Bits per pixel; full scale is 2^bits − 1"})
            .real("exposure", &O::exposure_ms,
                  {.unit = "ms",
                   .min = 0.001,
                   .max = 10000,
                   .logarithmic = true,
                   .cost = Cost::rebuild,
                   .doc = "Simulated exposure time T, reported with every frame"})
            .real("tau", &O::tau_ms,
                  {.label = "Correlation τ",
                   .unit = "ms",
                   .min = 0.0001,
                   .max = 100000,
                   .logarithmic = true,
                   .cost = Cost::rebuild,
                   .visible = flows,
                   .doc =
                       "Correlation time of the uniform scene and of straight vessels; tissue around these "
                       "has 10 times as much"})
            .real(
                "speckle", &O::speckle,
                {.label = "Speckle size",
                 .unit = "px",
                 .min = 1,
                 .max = 10,
                 .cost = Cost::rebuild,
                 .doc =
                     "Speckle size: full width at half maximum of the autocovariance of the recorded image"})
            .real("noise", &O::noise,
                  {.min = 0,
                   .max = 20,
                   .cost = Cost::rebuild,
                   .doc = "Camera noise. 1: shot noise of 20 000 electrons at full scale and read noise of 6 "
                          "electrons"})
            .integer(
                "seed", &O::seed,
                {.min = 0, .max = 2147483647, .cost = Cost::rebuild, .doc = "Seed of the random numbers"})
            .integer("frames", &O::frames,
                     {.min = 0, .max = 2147483647, .doc = "End after this many frames. 0: never"})
            .real("speed", &O::speed,
                  {.min = 0,
                   .max = kMaxSpeed,
                   .least = kMinSpeed,
                   .visible = [](const O& o) { return !o.live; },
                   .doc = kSpeedDoc})
            .boolean("live", &O::live,
                     {.doc = "true: like a camera, drops frames without a free slot. false: like a file, "
                             "waits, same frames every time"})
            .choice(
                "making", &O::making, {{"auto", "Automatic"}, "computed", "mixed"},
                {.label = "Frames",
                 .cost = Cost::rebuild,
                 .doc =
                     "Source of frames. computed: each from its number, with the true correlation of frames. "
                     "mixed: bands of up to 48 computed frames in random order, as fast as a copy; frames "
                     "do not correlate, and long means keep the noise of the set. auto: mixed for a live "
                     "source of more than 32 million pixels a second for each of its threads, "
                     "a quarter of the cores and at least two"})
            .real("rho", &O::rho,
                  {.label = "Dynamic part ρ",
                   .min = 0,
                   .max = 1,
                   .cost = Cost::rebuild,
                   .doc = "Dynamic part of the light; the rest is a still speckle pattern that interferes "
                          "with it"})
            .real(
                "pulse", &O::pulse,
                {.label = "Pulse of flow",
                 .min = 0,
                 .max = 1,
                 .cost = Cost::rebuild,
                 .visible = flows,
                 .doc =
                     "Heartbeat of the flow in the uniform scene and straight vessels, relative to its mean"})
            .real("vessel", &O::vessel_px,
                  {.label = "Vessel width",
                   .unit = "px",
                   .min = 1,
                   .max = 1000,
                   .cost = Cost::rebuild,
                   .visible = [](const O& o) { return o.scene == O::Scene::straight; },
                   .doc = "Width of the straight vessels, which have four times this distance"})
            .text("exposures", &O::exposures,
                  {.label = "Exposure cycle",
                   .unit = "ms",
                   .cost = Cost::rebuild,
                   .doc =
                       "Exposure times of consecutive frames, as 0.5,2,8, repeated; instead of exposure. The "
                       "light is adjusted to the same mean"})
            .real("drift_x", &O::drift_x,
                  {.label = "Drift along x",
                   .unit = "px",
                   .min = -100,
                   .max = 100,
                   .cost = Cost::rebuild,
                   .doc = "Motion of the scene to the right, per frame"})
            .real("drift_y", &O::drift_y,
                  {.label = "Drift along y",
                   .unit = "px",
                   .min = -100,
                   .max = 100,
                   .cost = Cost::rebuild,
                   .doc = "Motion of the scene downwards, per frame"})
            .real("shake", &O::shake,
                  {.label = "Random shake",
                   .unit = "px",
                   .min = 0,
                   .max = 100,
                   .cost = Cost::rebuild,
                   .doc = "Random displacement of each frame along both axes, standard deviation"})
            .real("beat", &O::beat,
                  {.label = "Pulse motion",
                   .unit = "px",
                   .min = 0,
                   .max = 100,
                   .cost = Cost::rebuild,
                   .doc = "Displacement downwards with the heartbeat at 1.2 Hz"})
            .real("offset", &O::offset,
                  {.label = "Black level",
                   .unit = "DN",
                   .min = 0,
                   .max = 65535,
                   .cost = Cost::rebuild,
                   .doc = "Value of a pixel without light"})
            .real("pattern", &O::pattern,
                  {.label = "Fixed pattern",
                   .unit = "%",
                   .min = 0,
                   .max = 50,
                   .cost = Cost::rebuild,
                   .doc = "Differences between the pixels' responses, standard deviation"})
            .integer("bad_pixels", &O::bad_pixels,
                     {.label = "Dead pixels",
                      .min = 0,
                      .max = 1000000,
                      .cost = Cost::rebuild,
                      .doc = "Number of pixels that are always 0 or at full scale"})
            .integer("hot_columns", &O::hot_columns,
                     {.label = "Bright columns",
                      .min = 0,
                      .max = 8192,
                      .cost = Cost::rebuild,
                      .doc = "Number of columns that are brighter by 2 to 10 % of full scale"})
            .table();
    return table;
}

SourceType synthetic_source_type() {
    return {.kind = "synthetic",
            .syntax = "synthetic[:vessels|uniform|static|straight]",
            .doc = "Simulated speckle with known correlation time at every pixel",
            .table = &synthetic_table(),
            .make = make_synthetic,
            .discover = nullptr};
}

} // namespace specklescope
