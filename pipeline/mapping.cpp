#include "pipeline/mapping.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace specklescope {

double srgb_decode(double code) {
    const double size = std::abs(code);
    return std::copysign(size <= 0.04045 ? size / 12.92 : std::pow((size + 0.055) / 1.055, 2.4), code);
}

double srgb_encode(double light) {
    const double size = std::abs(light);
    return std::copysign(size <= 0.0031308 ? size * 12.92 : 1.055 * std::pow(size, 1 / 2.4) - 0.055, light);
}

double tone(ToneCurve curve, double t) {
    t = t > 0 ? t : 0;
    switch (curve) {
    case ToneCurve::reinhard:
        return std::isinf(t) ? 1 : srgb_encode(t / (1 + t));
    case ToneCurve::filmic: {
        const double light =
            std::isinf(t) ? 1
                          : t * (2.51 * t + 0.03) / (t * (2.43 * t + 0.59) + 0.14); // 2.51/2.43 at infinity
        return srgb_encode(std::min(light, 1.0));
    }
    case ToneCurve::srgb:
        return srgb_encode(std::min(t, 1.0));
    case ToneCurve::automatic:
    case ToneCurve::linear:
        break;
    }
    return std::min(t, 1.0);
}

namespace {

std::array<float, 255> make_steps(ToneCurve curve) {
    std::array<float, 255> steps{};
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const double wanted = static_cast<double>(i + 1) / 256;
        float low = 0; // where tone() is below the wanted value
        float high = 1;
        while (tone(curve, static_cast<double>(high)) < wanted)
            high *= 2;
        while (true) {
            const float middle = low + (high - low) / 2;
            if (middle <= low || middle >= high)
                break;
            (tone(curve, static_cast<double>(middle)) < wanted ? low : high) = middle;
        }
        steps[i] = high;
    }
    return steps;
}

} // namespace

const std::array<float, 255>& tone_steps(ToneCurve curve) {
    static const std::array<std::array<float, 255>, 3> steps{
        make_steps(ToneCurve::srgb), make_steps(ToneCurve::reinhard), make_steps(ToneCurve::filmic)};
    return steps[static_cast<std::size_t>(curve) - static_cast<std::size_t>(ToneCurve::srgb)];
}

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
                    {"viridis", "inferno", "magma", "turbo", "jet", "grey", {"rdbu", "Blue to red"}},
                    {.label = "Colours",
                     .doc = "Colour map, from low to high. rdbu: blue to red, for changes. jet and turbo "
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
            .choice("curve", &Mapping::curve,
                    {{"auto", "Automatic"}, "linear", {"srgb", "sRGB"}, "reinhard", "filmic"},
                    {.label = "Tone curve",
                     .doc = "Curve from light to brightness, for colour and grey. auto: srgb for images, "
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

std::string release_range(Mapping& mapping, RangeSubject& known, const RangeSubject& now) {
    const RangeSubject before = std::exchange(known, now);
    if (before == now || before == RangeSubject() || mapping.automatic)
        return "";
    mapping.automatic = true;
    const std::string range = to_string(ParamValue(mapping.low)) + "…" + to_string(ParamValue(mapping.high));
    return "The fixed range " + range + " was of " +
           (before.quantity != now.quantity ? before.quantity : "another source") +
           "; it is automatic again for " + now.quantity + ".";
}

namespace {

constexpr double kHighestLevel = std::numeric_limits<std::uint16_t>::max();

template <class T> void round_all(View<const T> from, const LevelScale& scale, View<std::uint16_t> to) {
    for (int y = 0; y < from.height; ++y) {
        const T* in = from.row(y);
        std::uint16_t* out = to.row(y);
        for (int x = 0; x < from.width; ++x) {
            const double level = (static_cast<double>(in[x]) - scale.offset) / scale.scale;
            const double positive = level > 0 ? level : 0; // NaN is not
            out[x] = static_cast<std::uint16_t>(
                std::floor((positive < kHighestLevel ? positive : kHighestLevel) + 0.5));
        }
    }
}

} // namespace

LevelScale level_scale(PixelType type, ValueRange range) {
    if (type != PixelType::f32)
        return {};
    return {(range.high - range.low) / kHighestLevel, range.low};
}

void to_levels(ConstHostView image, const LevelScale& scale, View<std::uint16_t> levels) {
    assert(image.shape.channels == 1);
    assert(levels.width == image.shape.width && levels.height == image.shape.height);
    dispatch(image.shape.type, [&](auto zero) {
        using T = decltype(zero);
        round_all<T>(image.as<T>(), scale, levels);
    });
}

namespace {

/// Marks the visible pixels of a row of results: those whose index in the colour map is at least `first`.
void seen_pixels(ConstHostView row, const Coloring& coloring, int first, std::vector<std::uint8_t>& seen) {
    const Shape grey{row.shape.width, 1, 3, PixelType::u8};
    std::vector<std::byte> index(grey.bytes());
    // In the grey map, colour and index are equal.
    map_colors(row, ColorMap::grey, coloring.range, coloring.curve, HostView(index.data(), grey));
    seen.assign(static_cast<std::size_t>(row.shape.width), 1);
    dispatch(row.shape.type, [&](auto zero) {
        const auto* values = row.as<decltype(zero)>().row(0);
        for (int x = 0; x < row.shape.width; ++x) {
            const auto value = static_cast<float>(values[x]);
            const auto at = static_cast<std::size_t>(x);
            seen[at] = std::isinf(value) ? 1
                       : std::isnan(value)
                           ? 0
                           : static_cast<std::uint8_t>(std::to_integer<int>(index[3 * at]) >= first);
        }
    });
}

ConstHostView row_of(ConstHostView image, int y) {
    Shape shape = image.shape;
    shape.height = 1;
    return {image.row(y), shape};
}

} // namespace

int Blend::first_index() const { return static_cast<int>(std::ceil(threshold * 256)); }

void blend_colors(ConstHostView raw, const Coloring& of_raw, ConstHostView result, const Coloring& of_result,
                  const Blend& blend, HostView rgb) {
    assert(rgb.shape.width == raw.shape.width && rgb.shape.height == raw.shape.height);
    map_colors(raw, of_raw.map, of_raw.range, of_raw.curve, rgb);
    const int left = (raw.shape.width - result.shape.width) / 2;
    const int above = (raw.shape.height - result.shape.height) / 2;
    if (left < 0 || above < 0)
        return;
    const Shape line{result.shape.width, 1, 3, PixelType::u8};
    std::vector<std::byte> color(line.bytes());
    std::vector<std::uint8_t> seen(static_cast<std::size_t>(line.width), 1);
    const View<std::uint8_t> out = rgb.as<std::uint8_t>();
    for (int y = 0; y < result.shape.height; ++y) {
        const ConstHostView row = row_of(result, y);
        map_colors(row, of_result.map, of_result.range, of_result.curve, HostView(color.data(), line));
        if (result.shape.channels == 1)
            seen_pixels(row, of_result, blend.first_index(), seen);
        std::uint8_t* to = out.row(y + above) + 3 * left;
        for (int i = 0; i < 3 * line.width; ++i) {
            if (!seen[static_cast<std::size_t>(i / 3)])
                continue;
            const double over = std::to_integer<int>(color[static_cast<std::size_t>(i)]);
            to[i] =
                static_cast<std::uint8_t>(std::lround(to[i] * (1 - blend.opacity) + over * blend.opacity));
        }
    }
}

} // namespace specklescope
