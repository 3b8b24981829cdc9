#include "stages/background/background.hpp"

#include "base/error.hpp"
#include "pipeline/counts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace specklescope {

namespace {
constexpr double kLeastLight = 0.01; ///< fraction of the flat field's mean

using From = BackgroundParams::From;

double value_at(const std::vector<float>& values, std::size_t i) {
    return static_cast<double>(values.size() == 1 ? values[0] : values[i]);
}
} // namespace

Calibration::Calibration(const BackgroundParams& params)
    : params_(params), wants_dark_(params.dark == From::capture), wants_flat_(params.flat == From::capture),
      wanted_(params.frames) {}

void Calibration::prepare(const Shape& input, std::size_t stride) {
    input_ = input;
    stride_ = stride;
    const std::size_t samples = stride * static_cast<std::size_t>(input.height);
    // Allocate captures now; empty means that there is none.
    captured_dark_.clear();
    captured_flat_.clear();
    dark_.assign(params_.dark == From::none ? 1 : samples, 0);
    gain_.assign(params_.flat == From::none ? 1 : samples, 1);
    if (params_.dark == From::capture)
        captured_dark_.reserve(samples);
    if (params_.flat == From::capture)
        captured_flat_.reserve(samples);
    if (params_.dark == From::file)
        file_dark_ = read("dark", params_.dark_file);
    if (params_.flat == From::file)
        file_flat_ = read("flat", params_.flat_file);
    make_planes();
}

void Calibration::inherit(Calibration& old) {
    if (old.input_ != input_ || old.stride_ != stride_)
        return;
    const auto take = [](std::vector<float>& mine, std::vector<float>& others, bool& wants, bool wanted) {
        if (others.empty())
            return;
        mine.swap(others);
        wants = wants && wanted; // the button may have been pressed since
    };
    take(captured_dark_, old.captured_dark_, wants_dark_, old.wants_dark_);
    take(captured_flat_, old.captured_flat_, wants_flat_, old.wants_flat_);
    make_planes();
}

const std::vector<float>& Calibration::measured_dark() const {
    static const std::vector<float> none;
    return params_.dark == From::file      ? file_dark_.plane
           : params_.dark == From::capture ? captured_dark_
                                           : none;
}

const std::vector<float>& Calibration::measured_flat() const {
    static const std::vector<float> none;
    return params_.flat == From::file      ? file_flat_.plane
           : params_.flat == From::capture ? captured_flat_
                                           : none;
}

CalibrationFile Calibration::read(const char* part, const std::string& name) const {
    const std::string what = std::string("stage background: ") + part;
    if (name.empty())
        throw UsageError(what + " = file needs the name of an image: " + part + "_file = \"" + part +
                         ".tif\", PNG, TIFF or NPY.");
    return read_calibration(what + "_file", name, input_, stride_);
}

void Calibration::set_params(const BackgroundParams& params) {
    const bool new_black = params.black != params_.black;
    // Buttons count their presses; a chain read from a file starts at 0 again.
    const bool dark = params.capture_dark > params_.capture_dark && params_.dark == From::capture;
    const bool flat = params.capture_flat > params_.capture_flat && params_.flat == From::capture;
    params_.black = params.black;
    params_.frames = params.frames;
    params_.capture_dark = params.capture_dark;
    params_.capture_flat = params.capture_flat;
    if (dark || (flat && !wants_dark_))
        taken_ = 0;
    wants_dark_ |= dark;
    wants_flat_ |= flat;
    if (new_black && params_.dark == From::none)
        make_planes();
}

Calibration::Take Calibration::next(bool again) {
    if (again)
        return {};
    ends_capture_ = false;
    if (!(wants_dark_ || wants_flat_))
        return {};
    if (taken_ == 0)
        wanted_ = params_.frames;
    ++taken_;
    ends_capture_ = taken_ == wanted_;
    return {.take = true, .first = taken_ == 1, .last = ends_capture_};
}

void Calibration::finish(const double* sums) {
    std::vector<float>& plane = wants_dark_ ? captured_dark_ : captured_flat_;
    plane.resize(stride_ * static_cast<std::size_t>(input_.height));
    const double part = 1.0 / taken_;
    for (std::size_t i = 0; i < plane.size(); ++i)
        plane[i] = static_cast<float>(sums[i] * part);
    (wants_dark_ ? wants_dark_ : wants_flat_) = false;
    taken_ = 0;
    make_planes();
}

Warmup Calibration::warmup() const {
    if (wants_dark_ || wants_flat_)
        return {{}, taken_, taken_ > 0 ? wanted_ : params_.frames};
    return ends_capture_ ? Warmup{{}, wanted_, wanted_ + 1} : Warmup{};
}

template <class F> void Calibration::for_channel(int channel, F&& f) const {
    for (int y = 0; y < input_.height; ++y)
        for (int x = 0; x < input_.width; ++x)
            f(static_cast<std::size_t>(y) * stride_ +
              static_cast<std::size_t>(x * input_.channels + channel));
}

/// False if the flat field is as dark as the dark frame, so that no division is possible.
bool Calibration::make_gain_of_channel(int channel) {
    const std::vector<float>& flat = measured_flat();
    const auto light = [&](std::size_t i) { return static_cast<double>(flat[i]) - value_at(dark_, i); };
    double sum = 0;
    std::uint64_t count = 0;
    for_channel(channel, [&](std::size_t i) {
        if (std::isfinite(light(i))) {
            sum += light(i);
            ++count;
        }
    });
    const double mean = count > 0 ? sum / static_cast<double>(count) : 0;
    if (!(mean > 0))
        return false;
    for_channel(channel, [&](std::size_t i) {
        const bool lit = light(i) >= kLeastLight * mean && std::isfinite(light(i));
        gain_[i] = lit ? static_cast<float>(mean / light(i)) : std::numeric_limits<float>::quiet_NaN();
        without_light_ += lit ? 0 : 1;
    });
    return true;
}

void Calibration::make_planes() {
    if (params_.passes())
        return;
    ++version_;
    if (const std::vector<float>& dark = measured_dark(); !dark.empty())
        dark_ = dark;
    else
        std::fill(dark_.begin(), dark_.end(),
                  static_cast<float>(params_.dark == From::none ? params_.black : 0));
    std::fill(gain_.begin(), gain_.end(), 1.0F);
    without_light_ = 0;
    largest_gain_ = 0;
    smallest_offset_ = std::numeric_limits<double>::max();
    if (params_.dark == From::none && params_.flat == From::none) {
        largest_gain_ = 1;
        smallest_offset_ = static_cast<double>(dark_[0]);
        return;
    }
    for (int channel = 0; channel < input_.channels; ++channel) {
        if (!measured_flat().empty() && !make_gain_of_channel(channel))
            for_channel(channel, [&](std::size_t i) {
                gain_[i] = std::numeric_limits<float>::quiet_NaN();
                ++without_light_;
            });
        for_channel(channel, [&](std::size_t i) {
            const double gain = value_at(gain_, i);
            const double offset = value_at(dark_, i) * gain;
            if (std::isfinite(offset)) {
                largest_gain_ = std::max(largest_gain_, gain);
                smallest_offset_ = std::min(smallest_offset_, offset);
            }
        });
    }
}

Calibration::Saturation Calibration::saturation(const FrameInfo& info) const {
    constexpr float none = std::numeric_limits<float>::infinity();
    const std::optional<double> threshold = saturation_threshold(input_.type, info);
    if (!threshold || !(largest_gain_ > 0))
        return {none, none};
    // Above the result of every sample below the threshold.
    const double largest = *threshold * largest_gain_ - smallest_offset_;
    const auto mark = static_cast<float>(largest);
    return {static_cast<float>(*threshold),
            static_cast<double>(mark) < largest ? std::nextafter(mark, none) : mark};
}

std::string Calibration::note() const {
    std::string text = wants_dark_ ? "takes the dark frame" : wants_flat_ ? "takes the flat field" : "";
    const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
    if (params_.dark == From::file && file_dark_.pages > 1)
        add("dark frame: mean of " + std::to_string(file_dark_.pages) + " pages");
    if (params_.flat == From::file && file_flat_.pages > 1)
        add("flat field: mean of " + std::to_string(file_flat_.pages) + " pages");
    if (without_light_ > 0)
        add(std::to_string(without_light_) + " samples of the flat field have no light: undefined");
    return text;
}

} // namespace specklescope
