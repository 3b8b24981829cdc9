// Dark frame and flat field on the host.
#include "stages/background/background.hpp"

#include "base/error.hpp"
#include "pipeline/counts.hpp"
#include "stages/frame_rows.hpp"
#include "stages/maker.hpp"
#include "stages/sum/sum.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace specklescope {

namespace {

constexpr const char* kFileDoc = "PNG, JPEG, TIFF or NPY of the camera's size and values; the mean of its "
                                 "pages, or page N with FILE?page=N";

const ParamTable& background_table() {
    using From = BackgroundParams::From;
    static const ParamTable table =
        Declare<BackgroundParams>("stage background")
            .choice("dark", &BackgroundParams::dark, {"none", "file", "capture"},
                    {.label = "Dark frame",
                     .cost = Cost::rebuild,
                     .doc = "Dark frame to subtract. capture: the mean of the first frames, or of those "
                            "after the button is pressed"})
            .path("dark_file", &BackgroundParams::dark_file,
                  {.cost = Cost::rebuild,
                   .visible = [](const BackgroundParams& p) { return p.dark == From::file; },
                   .doc = kFileDoc})
            .action("capture_dark", &BackgroundParams::capture_dark,
                    {.visible = [](const BackgroundParams& p) { return p.dark == From::capture; },
                     .doc = "Capture a new dark frame from the next frames. Cover the lens first"})
            .real("black", &BackgroundParams::black,
                  {.label = "Black level",
                   .unit = "DN",
                   .min = 0,
                   .max = 65535,
                   .visible = [](const BackgroundParams& p) { return p.dark == From::none; },
                   .doc = "Black level of the camera, subtracted if there is no dark frame"})
            .choice("flat", &BackgroundParams::flat, {"none", "file", "capture"},
                    {.label = "Flat field",
                     .cost = Cost::rebuild,
                     .doc = "Flat field that corrects illumination and lens. capture: as for the dark frame"})
            .path("flat_file", &BackgroundParams::flat_file,
                  {.cost = Cost::rebuild,
                   .visible = [](const BackgroundParams& p) { return p.flat == From::file; },
                   .doc = kFileDoc})
            .action("capture_flat", &BackgroundParams::capture_flat,
                    {.visible = [](const BackgroundParams& p) { return p.flat == From::capture; },
                     .doc = "Capture a new flat field from the next frames. Show an even surface first"})
            .integer("frames", &BackgroundParams::frames,
                     {.label = "Frames taken",
                      .min = 1,
                      .max = 1000,
                      .logarithmic = true,
                      .visible =
                          [](const BackgroundParams& p) {
                              return p.dark == From::capture || p.flat == From::capture;
                          },
                      .doc = "Number of frames that a capture averages"})
            .table();
    return table;
}

template <class T> void add_row(const T* samples, int count, bool first, double* sums) {
    if (first)
        std::fill_n(sums, count, 0.0);
    for (int x = 0; x < count; ++x)
        sums[x] += samples[x];
}

/// The same value for every sample.
struct Number {
    float value;
    float operator[](int) const { return value; }
};
/// Calls f with the values from sample `at` on.
template <class F> void with_values(const std::vector<float>& values, std::size_t at, F&& f) {
    if (values.size() == 1)
        f(Number{values[0]});
    else
        f(values.data() + at);
}

/// count_pixels(), faster if there are none.
template <class T, class F> std::uint64_t pixels_with(const T* samples, int width, int channels, F&& is) {
    const std::uint64_t found = count_pixels(samples, width * channels, 1, is);
    return channels == 1 || found == 0 ? found : count_pixels(samples, width, channels, is);
}

template <class T, class Dark, class Gain>
void correct_row(const T* samples, int width, int channels, Dark dark, Gain gain,
                 Calibration::Saturation saturation, float* output, PixelCounts& counts) {
    for (int x = 0; x < width * channels; ++x)
        output[x] = corrected(static_cast<float>(samples[x]), dark[x], gain[x], saturation.threshold,
                              saturation.mark);
    if (std::isfinite(saturation.threshold))
        counts.saturated += pixels_with(samples, width, channels, [&](T sample) {
            return static_cast<float>(sample) >= saturation.threshold ? 1 : 0;
        });
    constexpr bool same = std::is_same_v<Dark, Number> && std::is_same_v<Gain, Number>;
    if (same && !std::is_same_v<T, float> && std::isfinite(dark[0] * gain[0]))
        return;
    if (count_pixels(output, width * channels, 1, [](float v) { return std::isfinite(v) ? 0 : 1; }) > 0)
        count_undefined(output, width, channels, counts);
}

class BackgroundHost final : public HostStage {
public:
    explicit BackgroundHost(const Params& params)
        : calibration_(params.as<BackgroundParams>()), passes_(params.as<BackgroundParams>().passes()),
          captures_(params.as<BackgroundParams>().captures()) {}

    Shape prepare(const Shape& input) override {
        stride_ = static_cast<std::size_t>(input.width) * static_cast<std::size_t>(input.channels);
        calibration_.prepare(input, stride_);
        if (passes_)
            return input;
        sums_.assign(captures_ ? stride_ * static_cast<std::size_t>(input.height) : 0, 0);
        rows_.prepare(input.height);
        return {input.width, input.height, input.channels, PixelType::f32};
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        if (passes_)
            return copy_pixels(input, output);
        const FrameRows::Run frame{input, output, context};
        const Calibration::Take take = calibration_.next(context.again);
        if (take.take)
            each_row({&frame, 1}, [&](const auto* samples, std::size_t, int y, PixelCounts&) {
                add_row(samples, static_cast<int>(stride_), take.first, sums_.data() + at(y));
            });
        if (take.last)
            calibration_.finish(sums_.data());
        correct({&frame, 1});
    }

    bool run_together(std::span<const FrameRows::Run> frames) override {
        if (passes_ || !calibration_.warmup().done())
            return false;
        correct(frames);
        return true;
    }

    void set_params(const Params& params) override { calibration_.set_params(params.as<BackgroundParams>()); }
    void inherit(HostStage& old) override {
        calibration_.inherit(dynamic_cast<BackgroundHost&>(old).calibration_);
    }
    void reset() override { calibration_.reset(); }
    Warmup warmup() const override { return calibration_.warmup(); }
    std::string note() const override { return calibration_.note(); }
    Counted counted() const override { return {.undefined = !passes_, .saturated = !passes_}; }
    void describe(FrameInfo& info) const override {
        if (passes_)
            return;
        info.full_scale = std::isfinite(saturation_.mark) ? static_cast<double>(saturation_.mark) : 0;
    }

private:
    std::size_t at(int y) const { return static_cast<std::size_t>(y) * stride_; }

    void correct(std::span<const FrameRows::Run> frames) {
        saturation_ = calibration_.saturation(frames[0].context.info);
        each_row(frames, [&](const auto* samples, std::size_t frame, int y, PixelCounts& counts) {
            const HostView& output = frames[frame].output;
            with_values(calibration_.dark(), at(y), [&](auto dark) {
                with_values(calibration_.gain(), at(y), [&](auto gain) {
                    correct_row(samples, output.shape.width, output.shape.channels, dark, gain, saturation_,
                                output.as<float>().row(y), counts);
                });
            });
        });
    }

    /// Calls f(samples, frame, y, counts) for every row, in parallel.
    template <class F> void each_row(std::span<const FrameRows::Run> frames, F&& f) {
        rows_.run(frames, [&](std::size_t frame, int y, int, PixelCounts& counts) {
            const ConstHostView& input = frames[frame].input;
            dispatch(input.shape.type,
                     [&](auto zero) { f(input.as<decltype(zero)>().row(y), frame, y, counts); });
        });
    }

    Calibration calibration_;
    bool passes_, captures_;
    Calibration::Saturation saturation_{};
    std::size_t stride_ = 0;
    std::vector<double> sums_; ///< of the current capture
    FrameRows rows_;
};

} // namespace

StageType background_stage() {
    return {.name = "background",
            .doc = "Dark frame and flat field, from files or captured",
            .title = "Dark and flat field",
            .group = StageGroup::correction,
            .table = &background_table(),
            .tolerance = 1e-6,
            .make_host = host_maker<BackgroundHost>,
            .make_device = device_maker<make_background_device>,
            .stateful = true,
            .passes = [](const Params& params) { return params.as<BackgroundParams>().passes(); },
            .science = "Dark frame and flat field",
            .settle = [](const Params& params, const Quantity& input) -> Params {
                if (input.symbol == kSumSymbol && !params.as<BackgroundParams>().passes())
                    throw UsageError("stage background: the dark frame and the black level are those of one "
                                     "frame. Put it before stage sum.");
                return params;
            }};
}

} // namespace specklescope
