#include "config/camera_profile.hpp"

#include "analysis/camera_calibration.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "config/atomic_file.hpp"
#include "config/data_folder.hpp"
#include "config/look/frame_reader.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"
#include "files/input_file.hpp"
#include "recording/recorder.hpp"

#include <spdlog/spdlog.h>
#include <toml++/toml.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <sstream>

namespace specklescope {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostText = std::size_t{1} << 20;

/// The numbers of a profile: key and member.
constexpr std::pair<const char*, double CameraProfile::*> kNumbers[] = {
    {"gain", &CameraProfile::gain},
    {"read_noise", &CameraProfile::read_noise},
    {"black", &CameraProfile::black},
    {"beta", &CameraProfile::beta},
    {"speckle_size", &CameraProfile::speckle_size}};

CameraProfile read_profile(const std::string& path) {
    const std::string text = whole_text(path, kMostText, "camera profile. Name one", Pipes::refused);
    CameraProfile profile;
    profile.name = fs::path(path).stem().string();
    try {
        const toml::table root = toml::parse(text, path);
        for (const auto& [key, node] : root) {
            const std::string name(key.str());
            const auto number = std::find_if(std::begin(kNumbers), std::end(kNumbers),
                                             [&](const auto& one) { return name == one.first; });
            if (number != std::end(kNumbers) && node.is_number())
                profile.*number->second = node.value<double>().value_or(CameraProfile::kNone);
            else if (name == "camera" && node.is_string())
                profile.camera = node.value<std::string>().value_or("");
            else if (name == "dark_file" && node.is_string())
                profile.dark_file =
                    (fs::path(path).parent_path() / node.value<std::string>().value_or("")).string();
            else if (name == "flat_file" && node.is_string())
                profile.flat_file =
                    (fs::path(path).parent_path() / node.value<std::string>().value_or("")).string();
            else
                throw UsageError(one_line(path) + ", line " + std::to_string(node.source().begin.line) +
                                 ": '" + one_line(name) +
                                 "' is not a value of a camera profile. Leave it out, or calibrate again.");
        }
    } catch (const toml::parse_error& error) {
        throw UsageError(one_line(path) + ", line " + std::to_string(error.source().begin.line) + ": " +
                         one_line(error.description()) + ".");
    }
    return profile;
}

std::string profile_text(const CameraProfile& profile, const std::string& measured) {
    std::ostringstream text;
    text << "# Camera profile, measured by specklescope calibrate. DN: digital numbers of the raw frames.\n"
         << measured;
    toml::table table;
    if (!profile.camera.empty())
        table.insert("camera", profile.camera);
    for (const auto& [key, member] : kNumbers)
        if (std::isfinite(profile.*member))
            table.insert(key, profile.*member);
    if (!profile.dark_file.empty())
        table.insert("dark_file", fs::path(profile.dark_file).filename().string());
    if (!profile.flat_file.empty())
        table.insert("flat_file", fs::path(profile.flat_file).filename().string());
    text << table << "\n";
    return text.str();
}

CalibrationRecording read_recording(const SourceArgument& source, std::string& camera) {
    CalibrationRecording recording(source.shown());
    FrameReader reader(source);
    if (reader.info().live)
        camera = reader.info().name;
    double exposure = CameraProfile::kNone;
    while (recording.frames() < CalibrationRecording::kMostFrames) {
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
    return recording;
}

void write_map(const std::string& path, std::vector<float> pixels, const Shape& shape, const char* name) {
    Result result;
    const Shape real{shape.width, shape.height, 1, PixelType::f32};
    result.image = borrowed_frame({reinterpret_cast<std::byte*>(pixels.data()), real});
    result.chain = std::make_shared<const Chain>();
    result.quantity.name = name;
    RecordOptions options;
    options.path = path;
    (void)write_snapshot(result, options, {});
}

/// Mean of the lit recording, with its dark signal, as stage background expects it. Bad pixels get the dark
/// signal alone, so that the stage leaves them out.
std::vector<float> flat_field(const CalibrationRecording& lit, const CalibrationRecording* dark,
                              const std::vector<std::uint8_t>& bad) {
    std::vector<float> flat = lit.mean();
    const std::vector<float> base = dark ? dark->mean() : std::vector<float>(flat.size(), 0);
    for (std::size_t i = 0; i < bad.size(); ++i)
        if (bad[i] != 0)
            flat[i] = base[i];
    return flat;
}

/// The measured values, as lines of the terminal and comments of the file.
class Lines {
public:
    void add(const char* what, const std::string& text) { lines_.push_back(row(what, text, 14)); }
    std::string text() const {
        std::string all;
        for (const std::string& line : lines_)
            all += line;
        return all;
    }
    std::string comments() const {
        std::string all;
        for (const std::string& line : lines_)
            all += "# " + line;
        return all;
    }

private:
    std::vector<std::string> lines_;
};

void report_noise(const PhotonTransfer& noise, Lines& report) {
    report.add("gain", printed("%.4g ± %.1g DN per electron", noise.gain, noise.gain_error));
    if (std::isfinite(noise.read_noise)) {
        report.add("read noise",
                   printed("%.3g DN = %.3g electrons", noise.read_noise, noise.read_noise / noise.gain));
        report.add("black level", printed("%.5g DN", noise.offset));
    } else {
        report.add("read noise", "not measured: give a recording without light by --dark");
    }
    for (const PhotonTransfer::Level& level : noise.levels)
        report.add("level", printed("mean %.5g DN, variance %.4g DN²: ", level.mean, level.variance) +
                                one_line(level.recording));
    report.add("fit",
               printed("largest difference of a variance from the line %.2g %%", 100 * noise.residual) +
                   (noise.levels.size() < 3 ? " (two levels always fit; give a third)"
                    : noise.residual > 0.05 ? ". Warning: above 5 %: the camera is not linear, or the "
                                              "light was not steady"
                                            : ""));
}

void report_scatterer(const StaticScatterer& found, Lines& report) {
    report.add("β", printed("%.4g ± %.1g", found.beta, found.beta_error));
    report.add("speckle",
               printed("%.3g px wide at half maximum; autocovariance within %.2g of a round pupil's",
                       found.speckle_size, found.residual) +
                   (found.speckle_size < 2 ? ". Warning: below 2 px (Nyquist): close the aperture of the "
                                             "lens, or go nearer"
                                           : ""));
    report.add("steadiness", printed("%.4g of the correlation is left at the last frame", found.steadiness));
}

} // namespace

std::string profile_path(const std::string& name) {
    if (name.ends_with(".toml"))
        return name;
    if (name.empty() || name.find_first_of("/\\") != std::string::npos || name == "auto" || name == "none")
        throw UsageError("'" + one_line(name) +
                         "' is no name for a camera profile. Give a name, or a file that ends in .toml.");
    const std::string folder = user_folder();
    if (folder.empty())
        throw UsageError("There is no home folder for the camera profile '" + one_line(name) +
                         "'. Give a file that ends in .toml.");
    return folder + "/cameras/" + name + ".toml";
}

CameraProfile load_profile(const std::string& name) { return read_profile(profile_path(name)); }

std::vector<CameraProfile> profiles() {
    std::vector<CameraProfile> all;
    const std::string folder = user_folder();
    std::error_code none; // a missing folder has no profiles
    if (!folder.empty())
        for (const auto& entry : fs::directory_iterator(fs::path(folder) / "cameras", none)) {
            if (entry.path().extension() != ".toml")
                continue;
            try {
                all.push_back(read_profile(entry.path().string()));
            } catch (const Error& error) {
                run_log().warn("A camera profile was not loaded. {}", error.what());
            }
        }
    return all;
}

std::optional<CameraProfile> profile_for(const std::string& wanted, const SourceInfo& source) {
    if (wanted == "none")
        return std::nullopt;
    if (wanted != "auto")
        return load_profile(wanted);
    if (source.live)
        for (CameraProfile& profile : profiles())
            if (!profile.camera.empty() && profile.camera == source.name)
                return std::move(profile);
    return std::nullopt;
}

std::string use_profile(const std::optional<CameraProfile>& given, Chain& chain) {
    const CameraProfile profile = given.value_or(CameraProfile());
    std::string used;
    bool dark = false; // a stage before subtracts the dark signal
    for (ChainStage& stage : chain.stages()) {
        if (stage.bypassed)
            continue;
        for (const auto& [key, member] : kNumbers) {
            if (!stage.params.table().find(key) || stage.params.given(key))
                continue;
            const bool known = std::isfinite(profile.*member) && !(dark && std::string_view(key) == "black");
            stage.params.suggest(key,
                                 known ? ParamValue(profile.*member) : Params(stage.params.table()).get(key));
            if (known)
                used += (used.empty() ? "" : ", ") + std::string(stage.type->name) + ":" + key + "=" +
                        to_string(stage.params.get(key));
        }
        const auto map = [&](const std::string& part, const std::string& file) {
            const ParamDecl* decl = stage.params.table().find(part + "_file");
            if (!decl || stage.params.given(decl->name))
                return;
            stage.params.suggest(decl->name, file);
            if (file.empty() || stage.params.get(part) != ParamValue(std::string("file")))
                return;
            used += (used.empty() ? "" : ", ") + std::string(stage.type->name) + ":" + decl->name;
        };
        map("dark", profile.dark_file);
        map("flat", profile.flat_file);
        dark = dark || stage.params.table().find("dark_file") != nullptr;
    }
    return used;
}

int calibrate(const CalibrateSettings& settings) {
    const std::string path = profile_path(settings.name);
    if (settings.lit.empty() && settings.still.empty())
        throw UsageError("calibrate needs recordings: --lit FILE twice or more, of an evenly lit surface at "
                         "different levels of light, and --dark FILE, without light; or --static FILE, of a "
                         "scatterer that does not move.");
    CameraProfile profile;
    profile.camera = settings.camera;
    Lines report;
    std::string camera;
    std::vector<CalibrationRecording> lit;
    lit.reserve(settings.lit.size());
    for (const SourceArgument& source : settings.lit)
        lit.push_back(read_recording(source, camera));
    std::optional<CalibrationRecording> dark;
    if (!settings.dark.empty())
        dark.emplace(read_recording(settings.dark, camera));
    for (const CalibrationRecording& one : lit)
        if (one.shape() != (dark ? dark->shape() : lit.front().shape()))
            throw UsageError("The recordings have different sizes or types: " + to_string(one.shape()) +
                             " and " + to_string(dark ? dark->shape() : lit.front().shape()) +
                             ". Record all alike.");
    const std::vector<std::uint8_t> bad = bad_pixels(lit, dark ? &*dark : nullptr);
    if (!lit.empty()) {
        const PhotonTransfer noise = photon_transfer(lit, dark ? &*dark : nullptr, bad);
        report_noise(noise, report);
        profile.gain = noise.gain;
        profile.read_noise = noise.read_noise;
        profile.black = noise.offset;
        const auto count = std::count(bad.begin(), bad.end(), 1);
        report.add("bad pixels", std::to_string(count) + " of " + std::to_string(bad.size()));
    }
    if (!settings.still.empty()) {
        const CalibrationRecording still = read_recording(settings.still, camera);
        const bool fits = bad.size() == still.shape().pixels();
        const StaticScatterer found = static_scatterer(still, dark ? mean_level(*dark, bad) : 0,
                                                       fits ? bad : std::vector<std::uint8_t>());
        report_scatterer(found, report);
        profile.beta = std::min(found.beta, 1.0);
        profile.speckle_size = found.speckle_size;
        if (!dark)
            report.add("note", "without --dark the black level is taken as 0, which makes β too small");
    }
    if (profile.camera.empty())
        profile.camera = camera;
    fs::create_directories(fs::path(path).parent_path().empty() ? "." : fs::path(path).parent_path());
    check_writable(path);
    const std::string stem = path.substr(0, path.size() - std::string_view(".toml").size());
    if (dark) {
        profile.dark_file = stem + "-dark.tiff";
        write_map(profile.dark_file, dark->mean(), dark->shape(), "dark frame");
    }
    if (!lit.empty()) {
        const CalibrationRecording& bright = *std::max_element(
            lit.begin(), lit.end(), [](const CalibrationRecording& a, const CalibrationRecording& b) {
                return mean_level(a, {}) < mean_level(b, {});
            });
        profile.flat_file = stem + "-flat.tiff";
        write_map(profile.flat_file, flat_field(bright, dark ? &*dark : nullptr, bad), bright.shape(),
                  "flat field");
    }
    write_atomically(path, profile_text(profile, report.comments()));
    std::fputs((report.text() +
                row("camera",
                    profile.camera.empty() ? "any: give its name by --camera to use the profile "
                                             "whenever it is opened"
                                           : one_line(profile.camera),
                    14) +
                row("profile", path, 14))
                   .c_str(),
               stdout);
    return 0;
}

} // namespace specklescope
