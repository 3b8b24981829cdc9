#include "config/calibration.hpp"

#include "base/error.hpp"
#include "base/long_work.hpp"
#include "config/atomic_file.hpp"
#include "config/look/frame_reader.hpp"
#include "config/text.hpp"
#include "recording/recorder.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>

namespace specklescope {

namespace {

namespace fs = std::filesystem;

/// Reads the recordings one after the other, with progress over all of them.
class Reading {
public:
    explicit Reading(std::size_t recordings) : all_(static_cast<double>(recordings)) {}
    CalibrationRecording read(const SourceArgument& source);
    /// The camera that the recordings state; empty: none, or several.
    std::string camera() const { return cameras_.size() == 1 ? *cameras_.begin() : ""; }

private:
    double all_, done_ = 0;
    std::set<std::string> cameras_;
};

CalibrationRecording Reading::read(const SourceArgument& source) {
    CalibrationRecording recording(source.shown());
    FrameReader reader(source);
    const std::string& camera = reader.info().live ? reader.info().name : reader.info().camera;
    if (!camera.empty())
        cameras_.insert(camera);
    const double length = reader.info().length > 0
                              ? static_cast<double>(std::min<std::uint64_t>(
                                    reader.info().length, CalibrationRecording::kMostFrames))
                              : CalibrationRecording::kMostFrames;
    double exposure = CameraProfile::kNone;
    while (recording.frames() < CalibrationRecording::kMostFrames) {
        work_goes_on("the calibration", (done_ + std::min(1.0, recording.frames() / length)) / all_);
        const std::optional<Frame> frame = reader.next();
        if (!frame)
            break;
        const double now = frame->info().exposure_ms;
        if (recording.frames() > 0 && std::isfinite(now) && std::abs(now - exposure) > 1e-3 * exposure)
            throw UsageError("The recording " + source.shown() + " has frames of " + printed("%g", exposure) +
                             " and " + printed("%g", now) + " ms. Record each level with one exposure.");
        exposure = now;
        recording.add(frame->host(), frame->info().full_scale);
    }
    if (recording.frames() == 0)
        throw RunError("'" + source.shown() + "' has no frames. Record some.");
    ++done_;
    return recording;
}

/// Returns the name, numbered if `path` is taken.
std::string write_map(const std::string& path, std::vector<float> pixels, const Shape& shape,
                      const char* name) {
    Result result;
    const Shape real{shape.width, shape.height, 1, PixelType::f32};
    result.image = borrowed_frame({reinterpret_cast<std::byte*>(pixels.data()), real});
    result.chain = std::make_shared<const Chain>();
    result.quantity.name = name;
    RecordOptions options;
    options.path = path;
    return write_snapshot(result, options, {});
}

/// Mean of the lit recording, with its dark signal, as stage background expects it. Bad pixels get the dark
/// signal alone, so that the stage leaves them out.
std::vector<float> flat_field(const CalibrationRecording& lit, const std::vector<float>& dark,
                              const std::vector<std::uint8_t>& bad) {
    std::vector<float> flat = lit.mean();
    for (std::size_t i = 0; i < bad.size(); ++i)
        if (bad[i] != 0)
            flat[i] = dark.empty() ? 0 : dark[i];
    return flat;
}

using Rows = std::vector<std::pair<std::string, std::string>>;

void add_noise(const PhotonTransfer& noise, Rows& rows) {
    rows.emplace_back("gain", printed("%.4g ± %.1g DN per electron", noise.gain, noise.gain_error));
    if (std::isfinite(noise.read_noise)) {
        rows.emplace_back("read noise", printed("%.3g DN = %.3g electrons", noise.read_noise,
                                                noise.read_noise / noise.gain));
        rows.emplace_back("black level", printed("%.5g DN", noise.offset));
    } else {
        rows.emplace_back("read noise", "not measured: add a recording without light (--dark)");
    }
    for (const PhotonTransfer::Level& level : noise.levels)
        rows.emplace_back("level", printed("mean %.5g DN, variance %.4g DN²: ", level.mean, level.variance) +
                                       one_line(level.recording));
    rows.emplace_back(
        "fit", noise.levels.size() < 3
                   ? std::string("two levels always fit; give a third")
                   : printed("largest difference of a variance from the line %.2g %%", 100 * noise.residual) +
                         (noise.residual > 0.05 ? ". Warning: above 5 %: the camera is not linear, or the "
                                                  "light was not steady"
                                                : ""));
}

void add_scatterer(const StaticScatterer& found, Rows& rows) {
    rows.emplace_back("β", printed("%.4g ± %.1g", found.beta, found.beta_error));
    rows.emplace_back(
        "speckle", printed("%.3g px wide at half maximum; autocovariance within %.2g of a round pupil's",
                           found.speckle_size, found.residual) +
                       (found.speckle_size < 2 ? ". Warning: below 2 px (Nyquist): close the aperture of the "
                                                 "lens, or go nearer"
                                               : ""));
    rows.emplace_back("steadiness",
                      printed("%.4g of the correlation is left at the last frame", found.steadiness));
}

void measure_noise(const std::vector<CalibrationRecording>& lit, const CalibrationRecording* dark,
                   const std::vector<std::uint8_t>& bad, MeasuredCamera& measured) {
    const PhotonTransfer& noise = measured.noise.emplace(photon_transfer(lit, dark, bad));
    measured.profile.gain = noise.gain;
    measured.profile.read_noise = noise.read_noise;
    measured.profile.black = noise.offset;
    measured.bad_pixels = static_cast<std::size_t>(std::count(bad.begin(), bad.end(), 1));
    measured.pixels = bad.size();
    const CalibrationRecording& bright = *std::max_element(
        lit.begin(), lit.end(), [](const CalibrationRecording& a, const CalibrationRecording& b) {
            return mean_level(a, {}) < mean_level(b, {});
        });
    measured.shape = bright.shape();
    measured.flat = flat_field(bright, measured.dark, bad);
}

} // namespace

MeasuredCamera measure_camera(const CalibrateSettings& settings) {
    if (settings.lit.empty() && settings.still.empty())
        throw UsageError("calibrate needs recordings: --lit FILE twice or more, of an evenly lit surface at "
                         "different levels of light, and --dark FILE, without light; or --static FILE, of a "
                         "scatterer that does not move.");
    MeasuredCamera measured;
    Reading reading(settings.lit.size() + (settings.dark.empty() ? 0 : 1) + (settings.still.empty() ? 0 : 1));
    std::vector<CalibrationRecording> lit;
    lit.reserve(settings.lit.size());
    for (const SourceArgument& source : settings.lit)
        lit.push_back(reading.read(source));
    std::optional<CalibrationRecording> dark;
    if (!settings.dark.empty()) {
        dark.emplace(reading.read(settings.dark));
        measured.dark = dark->mean();
        measured.shape = dark->shape();
    }
    for (const CalibrationRecording& one : lit)
        if (one.shape() != (dark ? dark->shape() : lit.front().shape()))
            throw UsageError("The recordings have different sizes or types: " + to_string(one.shape()) +
                             " and " + to_string(dark ? dark->shape() : lit.front().shape()) +
                             ". Record all alike.");
    const std::vector<std::uint8_t> bad = bad_pixels(lit, dark ? &*dark : nullptr);
    if (!lit.empty())
        measure_noise(lit, dark ? &*dark : nullptr, bad, measured);
    if (!settings.still.empty()) {
        const CalibrationRecording still = reading.read(settings.still);
        const bool fits = bad.size() == still.shape().pixels();
        const StaticScatterer& found = measured.still.emplace(static_scatterer(
            still, dark ? mean_level(*dark, bad) : 0, fits ? bad : std::vector<std::uint8_t>()));
        measured.profile.beta = std::min(found.beta, 1.0);
        measured.profile.speckle_size = found.speckle_size;
        measured.black_known = dark.has_value();
    }
    measured.profile.camera = settings.camera.empty() ? reading.camera() : settings.camera;
    return measured;
}

Rows calibration_rows(const MeasuredCamera& measured) {
    Rows rows;
    if (measured.noise) {
        add_noise(*measured.noise, rows);
        rows.emplace_back("bad pixels",
                          std::to_string(measured.bad_pixels) + " of " + std::to_string(measured.pixels));
    }
    if (measured.still)
        add_scatterer(*measured.still, rows);
    if (!measured.black_known)
        rows.emplace_back("note", "without --dark the black level is taken as 0, which makes β too small");
    return rows;
}

std::string save_calibration(const MeasuredCamera& measured, const std::string& name) {
    const std::string path = profile_path(name);
    fs::create_directories(fs::path(path).parent_path().empty() ? "." : fs::path(path).parent_path());
    check_writable(path);
    const std::string stem = path.substr(0, path.size() - std::string_view(".toml").size());
    CameraProfile profile = measured.profile;
    if (!measured.dark.empty()) {
        profile.dark_file = write_map(stem + "-dark.tiff", measured.dark, measured.shape, "dark frame");
    }
    if (!measured.flat.empty()) {
        profile.flat_file = write_map(stem + "-flat.tiff", measured.flat, measured.shape, "flat field");
    }
    std::string comments;
    for (const auto& [what, value] : calibration_rows(measured))
        comments += "# " + what + ": " + value + "\n";
    write_profile(profile, comments, path);
    return path;
}

int calibrate(const CalibrateSettings& settings) {
    (void)profile_path(settings.name); // refuses a name before the work
    const MeasuredCamera measured = measure_camera(settings);
    const std::string path = save_calibration(measured, settings.name);
    Rows rows = calibration_rows(measured);
    rows.emplace_back("camera",
                      measured.profile.camera.empty()
                          ? "any: give its name by --camera to use the profile whenever it is opened"
                          : one_line(measured.profile.camera));
    rows.emplace_back("profile", path);
    std::string text;
    for (const auto& [what, value] : rows)
        text += row(what, value, 14);
    std::fputs(text.c_str(), stdout);
    return 0;
}

} // namespace specklescope
