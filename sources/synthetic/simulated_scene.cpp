#include "sources/synthetic/simulated_scene.hpp"

#include "base/long_work.hpp"
#include "base/memory_budget.hpp"
#include "base/parallel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace specklescope {

namespace {

constexpr double kFullWell = 20000;    ///< electrons at full scale
constexpr double kReadNoise = 6;       ///< electrons
constexpr double kUncorrelated = 1e-3; ///< correlation of neighbouring frames that is left out
constexpr std::size_t kNormals = 1 << 16;

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

/// Normal numbers in random order, the quantiles (i + ½)/65536; the first ones again at the end. Never
/// destroyed: a program may exit while a stream still makes frames.
const std::vector<float>& normals() {
    static const std::vector<float>& table = *[] {
        auto* values = new std::vector<float>(kNormals); // NOLINT: never destroyed
        double g = 0; // Newton's method from quantile to quantile, upwards from the median
        for (std::size_t i = 0; i < kNormals / 2; ++i) {
            const double above = 0.5 - (static_cast<double>(i) + 0.5) / kNormals;
            for (int step = 0; step < 3; ++step)
                g += (0.5 * std::erfc(g / std::numbers::sqrt2) - above) * std::sqrt(2 * std::numbers::pi) *
                     std::exp(0.5 * g * g);
            (*values)[kNormals / 2 + i] = static_cast<float>(g);
            (*values)[kNormals / 2 - 1 - i] = static_cast<float>(-g);
        }
        for (std::size_t i = kNormals - 1; i > 0; --i)
            std::swap((*values)[i], (*values)[random_bits(0x5eed, i) % (i + 1)]);
        for (std::size_t i = 0; i < LightRow::kMost; ++i)
            values->push_back((*values)[i]);
        return values;
    }();
    return table;
}

/// Correlation of the exposures of two frames in sequence.
double frame_correlation(double rate, double exposure_s, double interval_s) {
    const double x = rate * exposure_s;
    const double mean = x > 0 ? -std::expm1(-2 * x) / (2 * x) : 1;
    return mean * mean * std::exp(-2 * rate * (interval_s - exposure_s)) / lorentzian_contrast2(x);
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

RateClasses::RateClasses(double slowest, double fastest) : rates{slowest} {
    if (fastest <= slowest)
        return;
    const auto bits = [](double rate) { return std::bit_cast<std::int32_t>(static_cast<float>(rate)); };
    first = bits(slowest) >> kShift;
    last = bits(fastest) >> kShift;
    rates.clear();
    for (std::int32_t i = first; i <= last; ++i)
        rates.push_back(static_cast<double>(std::bit_cast<float>((i << kShift) + (1 << (kShift - 1)))));
    if (slowest <= 0)
        rates[0] = 0;
}

/// Checks the memory before allocating it.
SyntheticOptions SimulatedScene::affordable(const SyntheticOptions& options) {
    constexpr std::uint64_t kMaps = 6; // a scene, its mean, and a copy while it is drawn
    const std::uint64_t pixels =
        static_cast<std::uint64_t>(options.width) * static_cast<std::uint64_t>(options.height);
    check_memory(pixels * kMaps * sizeof(float) + SpeckleBank::bytes(options.width, options.height),
                 "A simulated scene of " + std::to_string(options.width) + "×" +
                     std::to_string(options.height),
                 "choose a smaller width and height");
    return options;
}

SimulatedScene::SimulatedScene(const SyntheticOptions& options)
    : options_(affordable(options)),
      truth_(synthetic_truth(options)), shape_{options.width, options.height, 1,
                                               options.bits <= 8 ? PixelType::u8 : PixelType::u16},
      optics_(options.speckle), bank_(options.width, options.height, optics_, seed_of(options)) {
    constexpr const char* kRoom = "making room for the simulated scene";
    fill_up(mean_, truth_.scene.brightness.size(), static_cast<float>(truth_.mean), kRoom);
    double slowest = std::numeric_limits<double>::infinity();
    double fastest = 0;
    for (std::size_t i = 0; i < mean_.size(); ++i) {
        if (i % kFilledAtOnce == 0)
            work_goes_on(kRoom);
        mean_[i] *= truth_.scene.brightness[i];
        const auto still = static_cast<double>(truth_.scene.still[i]);
        const auto flow = static_cast<double>(truth_.scene.flow[i]);
        const auto pulse = static_cast<double>(truth_.scene.pulse[i]);
        pulses_ = pulses_ || flow * pulse > 0;
        slowest = std::min(slowest, still + flow * std::max(0.0, 1 - 0.5 * pulse));
        fastest = std::max(fastest, still + flow * (1 + 1.1 * pulse));
    }
    classes_ = RateClasses(slowest, fastest);
}

void SimulatedScene::prepare(double interval_s) {
    const double exposure_s = options_.exposure_ms * 1e-3;
    interval_s = std::max(interval_s, exposure_s);
    if (interval_s == interval_s_)
        return;
    interval_s_ = interval_s;
    evolution_.emplace(classes_.rates, interval_s);
    double correlation = 0;
    for (const double rate : classes_.rates)
        correlation = std::max(correlation, frame_correlation(rate, exposure_s, interval_s));
    fields_ = classes_.rates.back() > 0 && correlation > kUncorrelated;
    law_ = law(exposure_s, fields_);
}

PixelLaw SimulatedScene::law(double exposure_s, bool fields) const {
    PixelLaw result;
    const auto put = [&](int part, std::size_t c, double value) {
        auto& values = result.of[static_cast<std::size_t>(part)];
        if (value != 0 && values.empty())
            values.resize(classes_.rates.size());
        if (value != 0)
            values[c] = static_cast<float>(value);
    };
    // A pixel's area multiplies variance by β and third cumulant by optics.skew(): the light is
    // √β·J + 1 − √β, and the looks make up for the third cumulant.
    const double root = std::sqrt(optics_.beta());
    const double area = optics_.skew() / std::pow(root, 3);
    for (std::size_t c = 0; c < classes_.rates.size(); ++c) {
        const double x = classes_.rates[c] * exposure_s;
        double mean = 1;
        double variance = lorentzian_contrast2(x);
        double skew = area * lorentzian_skew(x);
        if (fields && x <= 0) { // only the still field, in s = 2z
            put(PixelLaw::sum, c, root / 4);
            mean = variance = 0;
        } else if (fields) {
            // The field between its two ends is their conditional mean (hyperbolic sines) plus modes
            // sin(nπt/T) with power 2x/((nπ)² + x²) each. |mean|² integrated is A(|u|² + |v|²) + B·Re u*v.
            const double e = std::exp(-x);
            const double norm = std::pow(-std::expm1(-2 * x), 2);
            const double a = x < 0.02 ? 1.0 / 3 : ((1 - std::pow(e, 4)) / (2 * x) - 2 * e * e) / norm;
            const double b = x < 0.02 ? 1.0 / 3 : 2 * ((e + e * e * e) - (e - e * e * e) / x) / norm;
            const double pi = std::numbers::pi;
            const double m = std::numbers::sqrt2 * pi / (pi * pi + x * x);
            const double power = 2 * x / (pi * pi + x * x);
            const double q = (a - m * m) / 2 - (b - 2 * m * m) / 4;
            const double p = (a - m * m) / 2 + (b - 2 * m * m) / 4;
            put(PixelLaw::sum, c, root * p);
            put(PixelLaw::difference, c, root * q);
            put(PixelLaw::mode, c, std::sqrt(root) * m);
            put(PixelLaw::bridge, c, std::sqrt(root * power));
            // Powers of the independent parts: the eigenvalues of the quadratic form, and d's.
            const double s2 = 2 * (1 + e);
            const double trace = (p + m * m) * s2 + power;
            const double determinant = p * s2 * power;
            const double split = std::sqrt(std::max(trace * trace / 4 - determinant, 0.0));
            for (const double part : {trace / 2 + split, trace / 2 - split, 2 * q * (1 - e)}) {
                mean -= part;
                variance -= part * part;
                skew -= std::pow(part, 3);
            }
        }
        const LookWeights looks = look_weights(mean, variance, std::max(skew, 0.0));
        put(PixelLaw::constant, c, root * looks.constant + 1 - root);
        for (int k = 0; k < SpeckleBank::kLooks; ++k)
            put(PixelLaw::look + k, c, root * looks.weight[static_cast<std::size_t>(k)]);
    }
    if (result.of[PixelLaw::constant].empty())
        result.of[PixelLaw::constant].resize(classes_.rates.size());
    return result;
}

// --- a frame
// ---------------------------------------------------------------------------------------------------

struct SimulatedScene::Frame {
    std::uint64_t number = 0;
    float wave = 0;
    std::vector<std::uint64_t> keys;
    std::vector<std::vector<float>> sums, differences; ///< of each key, per class
};

struct SimulatedScene::Scratch {
    std::vector<std::int32_t> classes;
};

TorusRow SimulatedScene::pattern(std::uint64_t key, const float* (SpeckleBank::*plane)(int, int) const,
                                 int number, int y) const {
    const std::uint64_t bits = random_bits(seed_of(options_) + 2, key);
    const auto width = static_cast<std::uint64_t>(bank_.width());
    const auto height = static_cast<std::uint64_t>(bank_.height());
    const std::uint64_t row = ((bits >> 40) + static_cast<std::uint64_t>(y)) % height;
    return {(bank_.*plane)(number, static_cast<int>(row)), bank_.width(),
            static_cast<int>((bits >> 8 & 0xffffffff) % width)};
}

void SimulatedScene::light(const Frame& frame, int y, float* to, Scratch& scratch) const {
    const int width = shape_.width;
    const std::size_t begin = static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
    const bool one = classes_.rates.size() == 1;
    LightRow row;
    row.law = &law_;
    constexpr std::uint64_t kLookKeys = std::uint64_t{1} << 61;
    constexpr std::uint64_t kBridgeKeys = std::uint64_t{1} << 62;
    for (std::size_t k = 0; k < row.looks.size(); ++k)
        row.looks[k] = pattern(kLookKeys + frame.number * row.looks.size() + k, &SpeckleBank::looks,
                               static_cast<int>(k), y);
    const auto field = [&](std::uint64_t key) {
        const auto number = static_cast<int>(random_bits(seed_of(options_) + 3, key) % SpeckleBank::kFields);
        return std::array{pattern(key, &SpeckleBank::real, number, y),
                          pattern(key, &SpeckleBank::imaginary, number, y)};
    };
    for (std::size_t i = 0; i < frame.keys.size(); ++i) {
        const auto parts = field(frame.keys[i]);
        row.fields.push_back({parts[0], parts[1], frame.sums[i].data(), frame.differences[i].data()});
    }
    if (fields_)
        row.bridge = field(kBridgeKeys + frame.number);
    if (!one) {
        scratch.classes.resize(static_cast<std::size_t>(width));
        const SceneMaps& scene = truth_.scene;
        classify_row(
            {scene.still.data() + begin, scene.flow.data() + begin, scene.pulse.data() + begin, frame.wave},
            classes_.first, classes_.last, RateClasses::kShift, width, scratch.classes.data());
    }
    for (int x = 0; x < width; x += LightRow::kMost) {
        row.classes = one ? nullptr : scratch.classes.data() + x;
        light_row(row, x, std::min(LightRow::kMost, width - x), mean_.data() + begin + x, to + x);
    }
}

void SimulatedScene::record(const Frame& frame, int y, const float* light, std::byte* to) const {
    CameraRow camera;
    camera.gain = truth_.noise.gain;
    camera.read = camera.gain > 0 ? std::sqrt(truth_.noise.floor) / camera.gain : 0;
    camera.full_scale = truth_.full_scale;
    const std::uint64_t stream = random_bits(seed_of(options_) + 1, frame.number);
    for (int x = 0; x < shape_.width; x += LightRow::kMost) {
        const std::uint64_t dice = random_bits(stream, static_cast<std::uint64_t>(y) * 64 +
                                                           static_cast<std::uint64_t>(x / LightRow::kMost));
        camera.shot_noise = normals().data() + dice % kNormals;
        camera.read_noise = normals().data() + (dice >> 32) % kNormals;
        record_row(camera, light + x, std::min(LightRow::kMost, shape_.width - x), shape_.type,
                   to + static_cast<std::size_t>(x) * pixel_bytes(shape_.type));
    }
}

void SimulatedScene::render(const Moment& moment, HostView to) {
    prepare(moment.interval_s);
    Frame frame;
    frame.number = moment.number;
    const double beats = moment.seconds * kPulseRate;
    frame.wave = static_cast<float>(pulse_wave(beats - std::floor(beats)));
    if (fields_)
        for (Evolution::Term& term : evolution_->terms(moment.number, options_.exposure_ms * 1e-3)) {
            frame.keys.push_back(term.key);
            auto& sum = frame.sums.emplace_back();
            auto& difference = frame.differences.emplace_back();
            for (std::size_t c = 0; c < term.start.size(); ++c) {
                sum.push_back(static_cast<float>(term.start[c] + term.end[c]));
                difference.push_back(static_cast<float>(term.start[c] - term.end[c]));
            }
        }
    const bool moves = classes_.rates.back() > 0;
    Frame drawn = frame;
    drawn.number = moves ? frame.number : 0; // a still scene: only the noise differs
    const int slots = parallel_threads();
    for_bands(shape_.height, band_count(shape_.height, slots, 16), slots, [&](Band rows, int) {
        Scratch scratch;
        std::vector<float> values(static_cast<std::size_t>(shape_.width));
        for (int y = rows.begin; y < rows.end; ++y) {
            light(drawn, y, values.data(), scratch);
            record(frame, y, values.data(), to.row(y));
        }
    });
}

} // namespace specklescope
