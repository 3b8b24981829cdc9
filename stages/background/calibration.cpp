#include "stages/background/calibration.hpp"

#include "files/image_file.hpp"
#include "pipeline/counts.hpp"
#include "pipeline/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace specklescope {

namespace {
constexpr double kLeastLight = 0.01; ///< of the flat field's mean

using From = BackgroundParams::From;

bool same_size(const Shape& a, const Shape& b) {
    return a.width == b.width && a.height == b.height && a.channels == b.channels;
}
} // namespace

Calibration::Calibration(const BackgroundParams& params)
    : params_(params), wants_dark_(params.dark == From::capture), wants_flat_(params.flat == From::capture),
      wanted_(params.frames) {}

void Calibration::prepare(const Shape& input, std::size_t stride) {
    input_ = input;
    stride_ = stride;
    const std::size_t samples = stride * static_cast<std::size_t>(input.height);
    // Memory for what is captured comes now; empty means that there is nothing yet.
    captured_dark_.clear();
    captured_flat_.clear();
    dark_.assign(params_.passes() ? 0 : samples, 0);
    gain_.assign(dark_.size(), 1);
    if (params_.dark == From::capture)
        captured_dark_.reserve(samples);
    if (params_.flat == From::capture)
        captured_flat_.reserve(samples);
    if (params_.dark == From::file)
        read("dark", params_.dark_file, file_dark_);
    if (params_.flat == From::file)
        read("flat", params_.flat_file, file_flat_);
    make_planes();
}

void Calibration::inherit(Calibration& old) {
    if (old.input_ != input_ || old.stride_ != stride_)
        return;
    const auto take = [](std::vector<float>& mine, std::vector<float>& others, bool& wants, bool wanted) {
        if (others.empty())
            return;
        mine.swap(others);
        wants = wants && wanted; // its button may have been pressed since
    };
    take(captured_dark_, old.captured_dark_, wants_dark_, old.wants_dark_);
    take(captured_flat_, old.captured_flat_, wants_flat_, old.wants_flat_);
    make_planes();
}

const std::vector<float>& Calibration::measured_dark() const {
    static const std::vector<float> none;
    return params_.dark == From::file ? file_dark_ : params_.dark == From::capture ? captured_dark_ : none;
}

const std::vector<float>& Calibration::measured_flat() const {
    static const std::vector<float> none;
    return params_.flat == From::file ? file_flat_ : params_.flat == From::capture ? captured_flat_ : none;
}

void Calibration::read(const char* part, const std::string& path, std::vector<float>& plane) const {
    const std::string name = std::string("stage background: ") + part;
    if (path.empty())
        throw UsageError(name + " = file needs the name of an image: " + part + "_file = \"" + part +
                         ".tif\", PNG or TIFF.");
    std::optional<Shape> shape;
    std::vector<std::byte> pixels;
    try {
        const std::unique_ptr<ImageReader> reader = open_image(path);
        shape = reader->next_page();
        if (shape && same_size(*shape, input_)) {
            pixels.resize(shape->bytes());
            reader->read_rows({pixels.data(), *shape});
        }
    } catch (const RunError& error) { // a wrong name in an edit must not end the run
        throw UsageError(name + "_file: " + error.what());
    }
    if (pixels.empty())
        throw UsageError(name + "_file '" + path + "' " +
                         (shape ? "is " + to_string(*shape) : std::string("holds no image")) +
                         "; it must be as large as the input, " + std::to_string(input_.width) + "x" +
                         std::to_string(input_.height) + " pixels with " + std::to_string(input_.channels) +
                         (input_.channels == 1 ? " channel." : " channels."));
    plane.assign(dark_.size(), 0);
    dispatch(shape->type, [&](auto zero) {
        const auto view = ConstHostView(pixels.data(), *shape).as<decltype(zero)>();
        for (int y = 0; y < view.height; ++y)
            std::copy_n(view.row(y), view.width * view.channels,
                        plane.data() + static_cast<std::size_t>(y) * stride_);
    });
}

void Calibration::set_params(const BackgroundParams& params) {
    const bool new_black = params.black != params_.black;
    // A button counts how often it was pressed; a chain read from a file counts from 0 again.
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
    if (!(wants_dark_ || wants_flat_) || again)
        return {};
    if (taken_ == 0)
        wanted_ = params_.frames;
    ++taken_;
    return {.take = true, .first = taken_ == 1, .last = taken_ == wanted_};
}

void Calibration::finish(const double* sums) {
    std::vector<float>& plane = wants_dark_ ? captured_dark_ : captured_flat_;
    plane.resize(dark_.size());
    const double part = 1.0 / taken_;
    for (std::size_t i = 0; i < plane.size(); ++i)
        plane[i] = static_cast<float>(sums[i] * part);
    (wants_dark_ ? wants_dark_ : wants_flat_) = false;
    taken_ = 0;
    make_planes();
}

Warmup Calibration::warmup() const {
    return wants_dark_ || wants_flat_ ? Warmup{{}, taken_, taken_ > 0 ? wanted_ : params_.frames} : Warmup{};
}

template <class F> void Calibration::for_channel(int channel, F&& f) const {
    for (int y = 0; y < input_.height; ++y)
        for (int x = 0; x < input_.width; ++x)
            f(static_cast<std::size_t>(y) * stride_ +
              static_cast<std::size_t>(x * input_.channels + channel));
}

/// False if the flat field is as dark as the dark frame: there is nothing to divide by.
bool Calibration::make_gain_of_channel(int channel) {
    const std::vector<float>& flat = measured_flat();
    const auto light = [&](std::size_t i) {
        return static_cast<double>(flat[i]) - static_cast<double>(dark_[i]);
    };
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
    for (int channel = 0; channel < input_.channels; ++channel) {
        if (!measured_flat().empty() && !make_gain_of_channel(channel))
            for_channel(channel, [&](std::size_t i) {
                gain_[i] = std::numeric_limits<float>::quiet_NaN();
                ++without_light_;
            });
        for_channel(channel, [&](std::size_t i) {
            const auto gain = static_cast<double>(gain_[i]);
            const double offset = static_cast<double>(dark_[i]) * gain;
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
    // No sample below the threshold becomes as large.
    const double largest = *threshold * largest_gain_ - smallest_offset_;
    const auto mark = static_cast<float>(largest);
    return {static_cast<float>(*threshold),
            static_cast<double>(mark) < largest ? std::nextafter(mark, none) : mark};
}

std::string Calibration::note() const {
    std::string text = wants_dark_ ? "takes the dark frame" : wants_flat_ ? "takes the flat field" : "";
    if (without_light_ > 0)
        text += (text.empty() ? "" : "; ") + std::to_string(without_light_) +
                " samples of the flat field have no light: undefined";
    return text;
}

} // namespace specklescope
