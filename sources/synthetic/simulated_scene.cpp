#include "sources/synthetic/simulated_scene.hpp"

#include "base/long_work.hpp"
#include "base/memory_budget.hpp"
#include "sources/exposures.hpp"

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

/// K²/β with static light: ρ²·L(x) + 4ρ(1 − ρ)(e^{−x} − 1 + x)/x² + (1 − ρ)² (Parthasarathy 2008).
double contrast2_of(double x, double rho) {
    return rho * rho * lorentzian_contrast2(x) + 2 * rho * (1 - rho) * lorentzian_contrast2(x / 2) +
           (1 - rho) * (1 - rho);
}

/// Contrast of most of the image at the shortest exposure.
double contrast_of(const SyntheticOptions& options, double beta) {
    const std::vector<double> exposures = exposures_of(options);
    const double time_s = *std::min_element(exposures.begin(), exposures.end()) * 1e-3;
    using Scene = SyntheticOptions::Scene;
    const double rate = options.scene == Scene::still     ? 0
                        : options.scene == Scene::vessels ? kTissueRate
                                                          : 1e3 / options.tau_ms;
    return std::sqrt(
        beta * contrast2_of(time_s * (options.scene == Scene::straight ? 0.1 * rate : rate), options.rho));
}

SceneMaps scene_of(const SyntheticOptions& options) {
    const int width = options.width;
    const int height = options.height;
    switch (options.scene) {
    case SyntheticOptions::Scene::vessels:
        return vessel_scene(width, height, static_cast<std::uint64_t>(options.seed));
    case SyntheticOptions::Scene::uniform:
        return uniform_scene(width, height, 1e3 / options.tau_ms, options.pulse);
    case SyntheticOptions::Scene::straight:
        return straight_scene(width, height, 1e3 / options.tau_ms, options.pulse, options.vessel_px);
    case SyntheticOptions::Scene::still:
        break;
    }
    return uniform_scene(width, height, 0, 0);
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

constexpr int kTaps = 16;

/// Weights of the neighbours from −kTaps/2 on for a value `part` of a pixel before number 0: a windowed sinc.
std::array<float, kTaps> interpolation(double part) {
    const auto sinc = [](double x) {
        return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
    };
    constexpr double kHalf = kTaps / 2.0;
    std::array<double, kTaps> weights{};
    double sum = 0;
    for (std::size_t j = 0; j < weights.size(); ++j) {
        const double at = static_cast<double>(j) - kHalf + part;
        sum += weights[j] = sinc(at) * sinc(at / kHalf);
    }
    std::array<float, kTaps> result{};
    for (std::size_t j = 0; j < weights.size(); ++j)
        result[j] = static_cast<float>(weights[j] / sum);
    return result;
}

int wrapped(int value, int period) { return (value % period + period) % period; }

/// Column or row of a map that is mirrored at its borders.
int mirrored(int value, int length) {
    const int at = wrapped(value, 2 * length);
    return at < length ? at : 2 * length - 1 - at;
}

} // namespace

std::vector<double> exposures_of(const SyntheticOptions& options) {
    const std::vector<double> exposures = exposure_cycle("source synthetic", options.exposures);
    return exposures.empty() ? std::vector{options.exposure_ms} : exposures;
}

SceneShift scene_shift(const SyntheticOptions& options, std::uint64_t number, double seconds) {
    const std::uint64_t seed = seed_of(options) + 4;
    const double beats = seconds * kPulseRate;
    const auto frame = static_cast<double>(number);
    return {options.drift_x * frame + options.shake * static_cast<double>(random_normal(seed, 2 * number)),
            options.drift_y * frame +
                options.shake * static_cast<double>(random_normal(seed, 2 * number + 1)) +
                options.beat * pulse_wave(beats - std::floor(beats))};
}

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
      optics_(options.speckle), bank_(options.width, options.height, optics_, seed_of(options)),
      exposures_ms_(exposures_of(options)) {
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
    moves_ = fastest > 0 && options.rho > 0;
    make_defects();
}

void SimulatedScene::make_defects() {
    const std::uint64_t seed = seed_of(options_) + 5;
    if (options_.pattern > 0) {
        fill_up(response_, mean_.size(), 1.0F, "making room for the simulated scene");
        for (std::size_t i = 0; i < response_.size(); ++i)
            response_[i] += static_cast<float>(0.01 * options_.pattern) * random_normal(seed, i);
    }
    if (options_.hot_columns > 0) // brighter by 2 … 10 % of full scale
        columns_.resize(static_cast<std::size_t>(shape_.width), 0.0F);
    for (int i = 0; i < options_.hot_columns; ++i) {
        const auto dice = static_cast<std::uint64_t>(i);
        columns_[random_bits(seed + 1, dice) % columns_.size()] =
            static_cast<float>(truth_.full_scale * (0.02 + 0.08 * random_unit(seed + 2, dice)));
    }
    for (int i = 0; i < options_.bad_pixels; ++i) {
        const std::uint64_t at = random_bits(seed + 3, static_cast<std::uint64_t>(i));
        bad_.push_back({static_cast<int>((at >> 32) % static_cast<std::uint64_t>(shape_.height)),
                        static_cast<int>((at & 0xffffffff) % static_cast<std::uint64_t>(shape_.width)),
                        i % 2 == 0 ? static_cast<int>(truth_.full_scale) : 0});
    }
    std::stable_sort(bad_.begin(), bad_.end(),
                     [](const BadPixel& a, const BadPixel& b) { return a.y < b.y; });
}

void SimulatedScene::prepare(double interval_s) {
    interval_s = std::max(interval_s, *std::max_element(exposures_ms_.begin(), exposures_ms_.end()) * 1e-3);
    if (interval_s == interval_s_)
        return;
    interval_s_ = interval_s;
    evolution_.emplace(classes_.rates, interval_s);
    drawings_.clear();
    for (const double exposure_ms : exposures_ms_)
        drawings_.push_back(drawing(exposure_ms * 1e-3, interval_s));
}

SimulatedScene::Drawing SimulatedScene::drawing(double exposure_s, double interval_s) const {
    double correlation = 0;
    for (const double rate : classes_.rates)
        correlation = std::max(correlation, frame_correlation(rate, exposure_s, interval_s));
    const bool fields = moves_ && (options_.rho < 1 || correlation > kUncorrelated);
    PixelLaw result;
    const auto put = [&](int part, std::size_t c, double value) {
        auto& values = result.of[static_cast<std::size_t>(part)];
        if (value != 0 && values.empty())
            values.resize(classes_.rates.size());
        if (value != 0)
            values[c] = static_cast<float>(value);
    };
    // A pixel's area multiplies variance by β and third cumulant by optics.skew(): fields give √β·J + 1 − √β,
    // and the looks make up for the third cumulant.
    const double root = std::sqrt(optics_.beta());
    const double rho = moves_ ? options_.rho : 1;
    const double part_of = root * rho; // of fields in the light
    for (std::size_t c = 0; c < classes_.rates.size(); ++c) {
        const double x = classes_.rates[c] * exposure_s;
        double mean = 1;
        double variance = optics_.beta() * lorentzian_contrast2(x);
        double skew = optics_.skew() * lorentzian_skew(x);
        if (fields && x <= 0) { // only the still field, in s = 2z
            put(PixelLaw::sum, c, root / 4);
            mean -= root;
            variance = 0;
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
            put(PixelLaw::sum, c, part_of * p);
            put(PixelLaw::difference, c, part_of * q);
            put(PixelLaw::mode, c, std::sqrt(part_of) * m);
            put(PixelLaw::bridge, c, std::sqrt(part_of * power));
            if (rho < 1) {
                // Interference with still light z: 2√(ρ(1 − ρ))·Re z*ζ, ζ = ∫field dt/T of variance
                // lorentzian_contrast2(x/2); what neither s nor the bridge holds of it is added to the
                // bridge.
                const double cross = 2 * root * std::sqrt(rho * (1 - rho));
                const double of_sum = x < 1e-4 ? 0.5 : std::tanh(x / 2) / x;
                const double rest = lorentzian_contrast2(x / 2) - of_sum * of_sum * 2 * (1 + e);
                put(PixelLaw::still, c, root * (1 - rho));
                put(PixelLaw::cross_sum, c, cross * of_sum);
                put(PixelLaw::cross_bridge, c, cross * std::sqrt(std::max(rest, 0.0)));
            }
            // Powers of the independent parts: the eigenvalues of the quadratic form, and d's.
            const double s2 = 2 * (1 + e);
            const double trace = (p + m * m) * s2 + power;
            const double determinant = p * s2 * power;
            const double split = std::sqrt(std::max(trace * trace / 4 - determinant, 0.0));
            mean -= root * (1 - rho);
            variance *= rho * rho;
            skew *= rho * rho * rho;
            for (const double power_of : {trace / 2 + split, trace / 2 - split, 2 * q * (1 - e)}) {
                const double part = part_of * power_of;
                mean -= part;
                variance -= part * part;
                skew -= part * part * part;
            }
        }
        const LookWeights looks = look_weights(mean, variance, std::max(skew, 0.0));
        put(PixelLaw::constant, c, looks.constant);
        for (int k = 0; k < SpeckleBank::kLooks; ++k)
            put(PixelLaw::look + k, c, looks.weight[static_cast<std::size_t>(k)]);
    }
    if (result.of[PixelLaw::constant].empty())
        result.of[PixelLaw::constant].resize(classes_.rates.size());
    return {fields, std::move(result)};
}

// --- a frame
// ---------------------------------------------------------------------------------------------------

struct SimulatedScene::Frame {
    std::uint64_t number = 0;
    const Drawing* drawing = nullptr;
    float wave = 0;
    SceneShift shift;
    std::vector<std::uint64_t> keys;
    std::vector<std::vector<float>> sums, differences; ///< of each key, per class
};

struct SimulatedScene::Scratch {
    std::vector<std::int32_t> classes;
    std::array<std::vector<float>, 4> maps; ///< still, flow, pulse, mean of a row that crosses a border
    std::vector<float> wide, rows;          ///< of shifted_light
};

TorusRow SimulatedScene::pattern(std::uint64_t key, const float* (SpeckleBank::*plane)(int, int) const,
                                 int number, int x, int y) const {
    const std::uint64_t bits = random_bits(seed_of(options_) + 2, key);
    const auto offset = [](std::uint64_t dice, int length) {
        return static_cast<int>(dice % static_cast<std::uint64_t>(length));
    };
    return {(bank_.*plane)(number, wrapped(y + offset(bits >> 40, bank_.height()), bank_.height())),
            bank_.width(), wrapped(x + offset(bits >> 8 & 0xffffffff, bank_.width()), bank_.width())};
}

/// Patterns of row y of the scene from column x on.
LightRow SimulatedScene::patterns(const Frame& frame, int x, int y) const {
    constexpr std::uint64_t kLookKeys = std::uint64_t{1} << 61;
    constexpr std::uint64_t kBridgeKeys = std::uint64_t{1} << 62;
    LightRow row;
    row.law = &frame.drawing->law;
    const std::uint64_t number = moves_ ? frame.number : 0; // a still scene: only the noise differs
    for (std::size_t k = 0; k < row.looks.size(); ++k)
        row.looks[k] = pattern(kLookKeys + number * row.looks.size() + k, &SpeckleBank::looks,
                               static_cast<int>(k), x, y);
    const auto field = [&](std::uint64_t key) {
        const auto which = static_cast<int>(random_bits(seed_of(options_) + 3, key) % SpeckleBank::kFields);
        return std::array{pattern(key, &SpeckleBank::real, which, x, y),
                          pattern(key, &SpeckleBank::imaginary, which, x, y)};
    };
    for (std::size_t i = 0; i < frame.keys.size(); ++i) {
        const auto parts = field(frame.keys[i]);
        row.fields.push_back({parts[0], parts[1], frame.sums[i].data(), frame.differences[i].data()});
    }
    if (frame.drawing->fields) {
        row.bridge = field(kBridgeKeys + number);
        row.still = field(Evolution::kStill);
    }
    return row;
}

/// Row y of the scene from column x0 on, which may be outside: the scene is mirrored at its borders.
void SimulatedScene::light(const Frame& frame, int x0, int y, int count, float* to, Scratch& scratch) const {
    const SceneMaps& scene = truth_.scene;
    const std::size_t begin =
        static_cast<std::size_t>(mirrored(y, scene.height)) * static_cast<std::size_t>(scene.width);
    std::array<const float*, 4> maps = {scene.still.data(), scene.flow.data(), scene.pulse.data(),
                                        mean_.data()};
    const bool inside = x0 >= 0 && x0 + count <= scene.width;
    for (std::size_t m = 0; m < maps.size(); ++m) {
        maps[m] += begin;
        if (inside) {
            maps[m] += x0;
            continue;
        }
        scratch.maps[m].resize(static_cast<std::size_t>(count));
        for (int x = 0; x < count; ++x)
            scratch.maps[m][static_cast<std::size_t>(x)] = maps[m][mirrored(x0 + x, scene.width)];
        maps[m] = scratch.maps[m].data();
    }
    const bool one = classes_.rates.size() == 1;
    if (!one) {
        scratch.classes.resize(static_cast<std::size_t>(count));
        classify_row({maps[0], maps[1], maps[2], frame.wave}, classes_.first, classes_.last,
                     RateClasses::kShift, count, scratch.classes.data());
    }
    LightRow row = patterns(frame, x0, y);
    for (int x = 0; x < count; x += LightRow::kMost) {
        row.classes = one ? nullptr : scratch.classes.data() + x;
        light_row(row, x, std::min(LightRow::kMost, count - x), maps[3] + x, to + x);
    }
}

/// Light of image rows of a scene that is shifted, by parts of a pixel with a windowed sinc.
void SimulatedScene::shifted_light(const Frame& frame, Band rows, float* to, Scratch& scratch) const {
    const int width = shape_.width;
    const int dx = static_cast<int>(std::floor(frame.shift.x));
    const int dy = static_cast<int>(std::floor(frame.shift.y));
    const auto row = [width](float* from, int y) {
        return from + static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
    };
    const int count = rows.end - rows.begin;
    if (frame.shift.x == dx && frame.shift.y == dy) {
        for (int y = 0; y < count; ++y)
            light(frame, -dx, rows.begin + y - dy, width, row(to, y), scratch);
        return;
    }
    const std::array<float, kTaps> across = interpolation(frame.shift.x - dx);
    const std::array<float, kTaps> down = interpolation(frame.shift.y - dy);
    scratch.wide.resize(static_cast<std::size_t>(width + kTaps - 1));
    scratch.rows.assign(static_cast<std::size_t>(count + kTaps - 1) * static_cast<std::size_t>(width), 0.0F);
    for (int y = 0; y < count + kTaps - 1; ++y) {
        light(frame, -dx - kTaps / 2, rows.begin + y - dy - kTaps / 2, width + kTaps - 1, scratch.wide.data(),
              scratch);
        float* sums = row(scratch.rows.data(), y);
        for (std::size_t j = 0; j < kTaps; ++j)
            for (int x = 0; x < width; ++x)
                sums[x] += across[j] * scratch.wide[static_cast<std::size_t>(x) + j];
    }
    std::fill_n(to, static_cast<std::size_t>(count) * static_cast<std::size_t>(width), 0.0F);
    for (int y = 0; y < count; ++y)
        for (int j = 0; j < kTaps; ++j) {
            const float* from = row(scratch.rows.data(), y + j);
            const float weight = down[static_cast<std::size_t>(j)];
            float* sums = row(to, y);
            for (int x = 0; x < width; ++x)
                sums[x] += weight * from[x];
        }
    for (float* value = to; value != row(to, count); ++value)
        *value = std::max(*value, 0.0F); // the sinc may overshoot
}

void SimulatedScene::record(const Frame& frame, int y, const float* light, std::byte* to) const {
    CameraRow camera;
    camera.gain = truth_.noise.gain;
    camera.read = camera.gain > 0 ? std::sqrt(truth_.noise.floor) / camera.gain : 0;
    camera.offset = options_.offset;
    camera.full_scale = truth_.full_scale;
    const std::uint64_t stream = random_bits(seed_of(options_) + 1, frame.number);
    const std::size_t begin = static_cast<std::size_t>(y) * static_cast<std::size_t>(shape_.width);
    const std::size_t bytes = pixel_bytes(shape_.type);
    for (int x = 0; x < shape_.width; x += LightRow::kMost) {
        const std::uint64_t dice = random_bits(stream, static_cast<std::uint64_t>(y) * 64 +
                                                           static_cast<std::uint64_t>(x / LightRow::kMost));
        camera.shot_noise = normals().data() + dice % kNormals;
        camera.read_noise = normals().data() + (dice >> 32) % kNormals;
        camera.response = response_.empty() ? nullptr : response_.data() + begin + x;
        camera.columns = columns_.empty() ? nullptr : columns_.data() + x;
        record_row(camera, light + x, std::min(LightRow::kMost, shape_.width - x), shape_.type,
                   to + static_cast<std::size_t>(x) * bytes);
    }
    const auto before = [](const BadPixel& pixel, int row) { return pixel.y < row; };
    for (auto bad = std::lower_bound(bad_.begin(), bad_.end(), y, before); bad != bad_.end() && bad->y == y;
         ++bad)
        for (std::size_t i = 0; i < bytes; ++i) // little-endian
            to[static_cast<std::size_t>(bad->x) * bytes + i] =
                static_cast<std::byte>(bad->value >> 8 * i & 0xff);
}

void SimulatedScene::render(const Moment& moment, HostView to) {
    prepare(moment.interval_s);
    Frame frame;
    frame.number = moment.number;
    frame.drawing = &drawings_[moment.number % drawings_.size()];
    const double beats = moment.seconds * kPulseRate;
    frame.wave = static_cast<float>(pulse_wave(beats - std::floor(beats)));
    frame.shift = scene_shift(options_, moment.number, moment.seconds);
    if (frame.drawing->fields)
        for (const Evolution::Term& term :
             evolution_->terms(moment.number, exposure_ms(moment.number) * 1e-3)) {
            frame.keys.push_back(term.key);
            auto& sum = frame.sums.emplace_back();
            auto& difference = frame.differences.emplace_back();
            for (std::size_t c = 0; c < term.start.size(); ++c) {
                sum.push_back(static_cast<float>(term.start[c] + term.end[c]));
                difference.push_back(static_cast<float>(term.start[c] - term.end[c]));
            }
        }
    const int slots = parallel_threads();
    for_bands(shape_.height, band_count(shape_.height, slots, 16), slots, [&](Band rows, int) {
        Scratch scratch;
        std::vector<float> values(static_cast<std::size_t>(rows.end - rows.begin) *
                                  static_cast<std::size_t>(shape_.width));
        shifted_light(frame, rows, values.data(), scratch);
        for (int y = rows.begin; y < rows.end; ++y)
            record(frame, y,
                   values.data() +
                       static_cast<std::size_t>(y - rows.begin) * static_cast<std::size_t>(shape_.width),
                   to.row(y));
    });
}

} // namespace specklescope
