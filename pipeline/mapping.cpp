#include "pipeline/mapping.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

namespace specklescope {

namespace {
#include "pipeline/color_tables.inc"

constexpr unsigned digit(char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); }

constexpr std::array<Rgb, 256> decode(std::string_view hex) {
    std::array<Rgb, 256> table{};
    for (std::size_t i = 0; i < 256 * 3; ++i)
        table[i / 3][i % 3] = static_cast<std::uint8_t>(digit(hex[2 * i]) * 16 + digit(hex[2 * i + 1]));
    return table;
}

constexpr std::array<Rgb, 256> grey_ramp() {
    std::array<Rgb, 256> table{};
    for (std::size_t i = 0; i < 256; ++i)
        table[i].fill(static_cast<std::uint8_t>(i));
    return table;
}

constexpr std::array<std::array<Rgb, 256>, 7> kTables{decode(kViridis), decode(kInferno), decode(kMagma),
                                                      decode(kTurbo),   decode(kJet),     grey_ramp(),
                                                      decode(kRdbu)};

/// The rule of map_colors in single precision, one subtraction and one multiplication, as in the shader.
struct Scale {
    float low;
    float factor;
    const std::array<float, 255>* steps; ///< null: linear

    Scale(ValueRange range, ToneCurve curve)
        : low(static_cast<float>(range.low)),
          steps(curve == ToneCurve::linear ? nullptr : &tone_steps(curve)) {
        const double width = range.high - range.low;
        constexpr double kMost = std::numeric_limits<float>::max();
        // For an empty or reversed range, everything above `low` gets the last colour.
        factor = static_cast<float>(width > 0 ? std::min(256.0 / width, kMost) : kMost);
    }
    /// 0…255; NaN gives 0.
    std::size_t index(float value) const {
        const float scaled = (value - low) * factor;
        if (steps)
            return static_cast<std::size_t>(
                std::upper_bound(steps->begin(), steps->end(), scaled > 0.0F ? scaled / 256 : 0.0F) -
                steps->begin());
        const float positive = scaled > 0.0F ? scaled : 0.0F;
        return static_cast<std::size_t>(positive < 255.0F ? positive : 255.0F);
    }
};

template <class T>
void map_grey(View<const T> from, ColorMap map, const Scale& scale, View<std::uint8_t> to) {
    std::array<Rgb, 258> table{};
    std::copy(color_table(map).begin(), color_table(map).end(), table.begin());
    table[256] = kUndefinedColor;
    table[257] = kInfiniteColor;
    for (int y = 0; y < from.height; ++y) {
        const T* in = from.row(y);
        std::uint8_t* out = to.row(y);
        for (int x = 0; x < from.width; ++x, out += 3) {
            const auto value = static_cast<float>(in[x]);
            const Rgb& color = table[std::isfinite(value) ? scale.index(value)
                                     : std::isnan(value)  ? 256
                                                          : 257];
            out[0] = color[0];
            out[1] = color[1];
            out[2] = color[2];
        }
    }
}

template <class T> void scale_color(View<const T> from, const Scale& scale, View<std::uint8_t> to) {
    for (int y = 0; y < from.height; ++y) {
        const T* in = from.row(y);
        std::uint8_t* out = to.row(y);
        for (int i = 0; i < 3 * from.width; ++i)
            out[i] = static_cast<std::uint8_t>(scale.index(static_cast<float>(in[i])));
    }
}

template <class T> std::size_t sample(View<const T> image, std::vector<float>& samples) {
    constexpr double kSamples = 65536;
    const double pixels = static_cast<double>(image.width) * image.height;
    const int step = std::max(1, static_cast<int>(std::ceil(std::sqrt(pixels / kSamples) - 1e-9)));
    std::size_t looked = 0;
    for (int y = 0; y < image.height; y += step)
        for (int x = 0; x < image.width; x += step) {
            ++looked;
            const auto value = static_cast<float>(image.row(y)[x * image.channels]);
            if (std::isfinite(value))
                samples.push_back(value);
        }
    return looked;
}

double percentile(std::vector<float>& samples, double percent) {
    const double last = static_cast<double>(samples.size() - 1);
    const auto rank =
        static_cast<std::ptrdiff_t>(std::lround(std::clamp(percent, 0.0, 100.0) / 100.0 * last));
    std::nth_element(samples.begin(), samples.begin() + rank, samples.end());
    return samples[static_cast<std::size_t>(rank)];
}
} // namespace

const std::array<Rgb, 256>& color_table(ColorMap map) { return kTables[static_cast<std::size_t>(map)]; }

const ParamTable& mapping_table() {
    static const ParamTable table =
        Declare<Mapping>("view")
            .choice("colormap", &Mapping::colormap,
                    {"viridis", "inferno", "magma", "turbo", "jet", "grey", "rdbu"},
                    {.doc = "Colour map, from low to high. rdbu: blue to red, for changes. jet and turbo "
                            "mislead colour-blind readers"})
            .boolean("automatic", &Mapping::automatic,
                     {.doc = "Take the range from percentiles of each image"})
            .real("low", &Mapping::low,
                  {.visible = [](const Mapping& m) { return !m.automatic; },
                   .doc = "Value of the first colour, in the unit of the image"})
            .real("high", &Mapping::high,
                  {.visible = [](const Mapping& m) { return !m.automatic; },
                   .doc = "Value of the last colour, in the unit of the image"})
            .real("low_percentile", &Mapping::low_percentile,
                  {.unit = "%",
                   .min = 0,
                   .max = 100,
                   .visible = [](const Mapping& m) { return m.automatic; },
                   .doc = "Percentage of pixels below the first colour in the automatic range"})
            .real("high_percentile", &Mapping::high_percentile,
                  {.unit = "%",
                   .min = 0,
                   .max = 100,
                   .visible = [](const Mapping& m) { return m.automatic; },
                   .doc = "Percentage of pixels below the last colour in the automatic range"})
            .real("exposure_stops", &Mapping::exposure_stops,
                  {.unit = "stops",
                   .min = -10,
                   .max = 10,
                   .doc = "Exposure of the display: values are shown times 2^stops"})
            .choice("curve", &Mapping::curve, {"auto", "linear", "srgb", "reinhard", "filmic"},
                    {.doc = "Curve from light to brightness, for colour and grey. auto: srgb for images, "
                            "linear for camera counts. reinhard, filmic: also show values above the range"})
            .table();
    return table;
}

ValueRange exposed(ValueRange range, double stops) {
    const double gain = std::exp2(stops);
    return {range.low / gain, range.high / gain};
}

std::size_t sample_values(ConstHostView image, std::vector<float>& finite) {
    return dispatch(image.shape.type, [&](auto zero) { return sample(image.as<decltype(zero)>(), finite); });
}

ValueRange percentile_range(ConstHostView image, double low_percentile, double high_percentile) {
    thread_local std::vector<float> samples; // reused between calls: this runs for every image
    samples.clear();
    sample_values(image, samples);
    if (samples.empty())
        return {};
    const auto [first, second] = std::minmax(low_percentile, high_percentile);
    ValueRange range{percentile(samples, first), percentile(samples, second)};
    if (!(range.high > range.low)) { // a flat image gets the middle colour
        const double half = std::max(std::abs(range.low) * 0.005, 1e-6);
        range = {range.low - half, range.high + half};
    }
    return range;
}

ToneCurve curve_in_effect(const Mapping& mapping, int channels, bool picture) {
    if (channels != 3 && mapping.colormap != ColorMap::grey)
        return ToneCurve::linear;
    if (mapping.curve != ToneCurve::automatic)
        return mapping.curve;
    return picture ? ToneCurve::srgb : ToneCurve::linear;
}

void map_colors(ConstHostView image, ColorMap map, ValueRange range, ToneCurve curve, HostView rgb) {
    assert(rgb.shape.width == image.shape.width && rgb.shape.height == image.shape.height);
    assert(rgb.shape.channels == 3);
    const Scale scale(range, curve);
    dispatch(image.shape.type, [&](auto zero) {
        using T = decltype(zero);
        if (image.shape.channels == 3)
            scale_color<T>(image.as<T>(), scale, rgb.as<std::uint8_t>());
        else
            map_grey<T>(image.as<T>(), map, scale, rgb.as<std::uint8_t>());
    });
}

} // namespace specklescope
