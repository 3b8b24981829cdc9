#include "sources/synthetic/exposure_cache.hpp"

#include "base/long_work.hpp"
#include "base/memory_budget.hpp"
#include "base/parallel.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace specklescope {

namespace {

constexpr int kMaxExposures = 48;
constexpr int kMaxPhases = 24;
constexpr int kBand = 64;           ///< rows from one exposure
constexpr double kFullWell = 20000; ///< electrons at full scale
constexpr double kReadNoise = 6;    ///< electrons

double contrast_of(const SyntheticOptions& options, double beta) {
    const double time_s = options.exposure_ms * 1e-3;
    switch (options.scene) {
    case SyntheticOptions::Scene::vessels:
        return expected_contrast(time_s * kTissueRate, beta);
    case SyntheticOptions::Scene::uniform:
        return expected_contrast(options.exposure_ms / options.tau_ms, beta);
    case SyntheticOptions::Scene::still:
        break;
    }
    return std::sqrt(beta);
}

SceneMaps scene_of(const SyntheticOptions& options) {
    switch (options.scene) {
    case SyntheticOptions::Scene::vessels:
        return vessel_scene(options.width, options.height, static_cast<std::uint64_t>(options.seed));
    case SyntheticOptions::Scene::uniform:
        return uniform_scene(options.width, options.height, 1e3 / options.tau_ms);
    case SyntheticOptions::Scene::still:
        break;
    }
    return uniform_scene(options.width, options.height, 0);
}

std::uint64_t seed_of(const SyntheticOptions& options) {
    return static_cast<std::uint64_t>(options.seed) * 0x1000;
}

} // namespace

SyntheticTruth synthetic_truth(const SyntheticOptions& options) {
    SyntheticTruth truth;
    truth.scene = scene_of(options);
    truth.beta = SpeckleOptics(options.speckle).beta();
    truth.full_scale = std::exp2(options.bits) - 1;
    // The gain is set as on a camera: full scale is 8 standard deviations above the mean, so that almost
    // nothing saturates, but the mean is at most a quarter of the scale.
    truth.mean = truth.full_scale / std::max(4.0, 1 + 8 * contrast_of(options, truth.beta));
    const double gain = truth.full_scale / kFullWell;
    truth.noise.gain = gain * options.noise * options.noise;
    truth.noise.floor = std::pow(gain * kReadNoise * options.noise, 2);
    return truth;
}

/// Checks the memory before allocating it.
SyntheticOptions ExposureCache::affordable(const SyntheticOptions& options) {
    constexpr std::uint64_t kMaps = 7; // a scene, its mean and rates, and a copy while it is drawn
    const std::uint64_t pixels =
        static_cast<std::uint64_t>(options.width) * static_cast<std::uint64_t>(options.height);
    const std::uint64_t exposures = pixels * (options.bits <= 8 ? 1 : 2) * kFewest;
    const auto side = [](int length) {
        return static_cast<std::uint64_t>(std::min(length, SpeckleBank::kMaxSide));
    };
    const std::uint64_t bank = side(options.width) * side(options.height) * SpeckleBank::kPatterns;
    check_memory((pixels * kMaps + bank) * sizeof(float) + std::max<std::uint64_t>(exposures, kBudget),
                 "A simulated scene of " + std::to_string(options.width) + "×" +
                     std::to_string(options.height),
                 "choose a smaller width and height");
    return options;
}

ExposureCache::ExposureCache(const SyntheticOptions& options)
    : options_(affordable(options)),
      truth_(synthetic_truth(options)), shape_{options.width, options.height, 1,
                                               options.bits <= 8 ? PixelType::u8 : PixelType::u16},
      bank_(options.width, options.height, SpeckleOptics(options.speckle), seed_of(options)) {
    exposures_ = static_cast<int>(std::clamp<std::size_t>(kBudget / shape_.bytes(), kFewest, kMaxExposures));
    if (options.scene == SyntheticOptions::Scene::vessels)
        phases_ = std::min(kMaxPhases, exposures_);
    if (options.scene == SyntheticOptions::Scene::still)
        exposures_ = std::min(exposures_, 12); // only the noise differs
    exposures_ -= exposures_ % phases_;
    constexpr const char* kRoom = "making room for the simulated scene";
    fill_up(pixels_, shape_.bytes() * static_cast<std::size_t>(exposures_), std::byte{0}, kRoom);
    fill_up(mean_, truth_.scene.brightness.size(), static_cast<float>(truth_.mean), kRoom);
    for (std::size_t i = 0; i < mean_.size(); ++i) {
        if (i % kFilledAtOnce == 0)
            work_goes_on(kRoom);
        mean_[i] *= truth_.scene.brightness[i];
    }
    make(0);
    ready_ = 1;
    worker_ = std::jthread([this](const std::stop_token& stop) { fill(stop); });
}

ExposureCache::~ExposureCache() = default;

/// Exposure i shows phase (i·5 mod phases)/phases: 5 and 24 are coprime, so that the first few are spread
/// over the heartbeat.
static int phase_of(int i, int phases) { return phases % 5 == 0 ? i % phases : i * 5 % phases; }

void ExposureCache::make(int i) {
    if (i == 0 || phases_ > 1)
        scene_rates(truth_.scene, static_cast<double>(phase_of(i, phases_)) / phases_, rates_);
    SpeckleExposure exposure;
    exposure.time_s = options_.exposure_ms * 1e-3;
    exposure.seed = random_bits(seed_of(options_), 1000 + static_cast<std::uint64_t>(i));
    exposure.pattern_seed =
        options_.scene == SyntheticOptions::Scene::still ? seed_of(options_) : ~exposure.seed;
    exposure.full_scale = truth_.full_scale;
    exposure.noise = truth_.noise;
    std::byte* to = pixels_.data() + static_cast<std::size_t>(i) * shape_.bytes();
    expose(bank_, rates_.data(), mean_.data(), exposure, {to, shape_});
}

void ExposureCache::fill(const std::stop_token& stop) {
    // The simulated camera uses at most a quarter of the processor, to leave the rest for processing.
    using Clock = std::chrono::steady_clock;
    const bool beside = options_.live && options_.rate > 0;
    const int pauses = beside ? std::max(0, 8 / parallel_threads() - 1) : 0; // in units of the work
    const ThreadLimit limit(beside ? 1 : 0);
    const WatchWork watch([&stop](std::string_view, double) { return !stop.stop_requested(); });
    try {
        for (int i = 1; i < exposures_ && !stop.stop_requested(); ++i) {
            const Clock::time_point begin = Clock::now();
            make(i);
            std::unique_lock lock(mutex_);
            ready_.store(i + 1, std::memory_order_release);
            all_.notify_all();
            all_.wait_for(lock, stop, pauses * (Clock::now() - begin), [] { return false; });
        }
    } catch (const Cancelled&) { // NOLINT(bugprone-empty-catch): no longer needed
    } catch (...) {
        const std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
        all_.notify_all();
    }
}

bool ExposureCache::wait_all(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    all_.wait_for(lock, patience, [this] { return failure_ || ready_ == exposures_; });
    if (failure_)
        std::rethrow_exception(failure_);
    return ready_ == exposures_;
}

int ExposureCache::choose(double phase, std::uint64_t dice) const {
    const int ready = ready_.load(std::memory_order_acquire);
    if (phases_ == 1)
        return static_cast<int>(dice % static_cast<std::uint64_t>(ready));
    // Chooses between two phases with a probability by distance, so that the mean over bands and frames
    // changes smoothly.
    const double dither = static_cast<double>(dice & 0xffff) * 0x1p-16;
    const int wanted = static_cast<int>(std::floor(phase * phases_ + dither)) % phases_;
    int best = 0;
    int best_far = phases_ + 1;
    const int start = static_cast<int>((dice >> 16) % static_cast<std::uint64_t>(ready));
    for (int k = 0; k < ready && best_far > 0; ++k) { // while the cache fills: the nearest available phase
        const int i = (start + k) % ready;
        const int apart = std::abs(phase_of(i, phases_) - wanted);
        const int far = std::min(apart, phases_ - apart);
        if (far < best_far) {
            best = i;
            best_far = far;
        }
    }
    return best;
}

void ExposureCache::compose(std::uint64_t number, double seconds, HostView to) const {
    const double beats = seconds * kPulseRate;
    const double phase = beats - std::floor(beats);
    const std::uint64_t stream = random_bits(seed_of(options_) + 1, number);
    // Band boundaries move from frame to frame, so that seams are not visible.
    int y = -static_cast<int>(stream % kBand);
    for (std::uint64_t band = 0; y < shape_.height; ++band, y += kBand) {
        const ConstHostView from = exposure(choose(phase, random_bits(stream, band)));
        const int first = std::max(0, y);
        Shape rows = shape_;
        rows.height = std::min(shape_.height, y + kBand) - first;
        copy_pixels({from.row(first), rows, from.pitch}, {to.row(first), rows, to.pitch});
    }
}

} // namespace specklescope
