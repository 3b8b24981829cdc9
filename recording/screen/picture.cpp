#include "recording/screen/screen.hpp"

#include "analysis/baseline_image.hpp"
#include "pipeline/counts.hpp"
#include "pipeline/scale/pixel_size.hpp"

#include <algorithm>
#include <cmath>

namespace specklescope {

namespace {

constexpr Rgb kBackground{10, 13, 16};
constexpr int kGap = 2; ///< px between two images side by side

struct Colored {
    ConstHostView image;
    Coloring coloring;
};

Shape rgb_shape(int width, int height) { return {width, height, 3, PixelType::u8}; }

/// `width` columns of a view from column `left` on.
template <class Byte>
BasicImageView<Space::host, Byte> columns(BasicImageView<Space::host, Byte> view, int left, int width) {
    const auto pixel = static_cast<std::size_t>(view.shape.channels) * pixel_bytes(view.shape.type);
    view.data += static_cast<std::size_t>(left) * pixel;
    view.shape.width = width;
    return view;
}

template <class Byte>
BasicImageView<Space::host, Byte> rows(BasicImageView<Space::host, Byte> view, int top, int height) {
    view.data = view.row(top);
    view.shape.height = height;
    return view;
}

/// Part of `image` in the columns [from, to) of a canvas, on which it starts at column x and row y.
void paint_part(const Colored& what, int x, int y, int from, int to, HostView canvas) {
    const int left = std::max(x, from), right = std::min(x + what.image.shape.width, to);
    if (left >= right)
        return;
    map_colors(columns(what.image, left - x, right - left), what.coloring.map, what.coloring.range,
               what.coloring.curve, columns(rows(canvas, y, what.image.shape.height), left, right - left));
}

void paint(const Colored& what, int x, int y, HostView canvas) {
    paint_part(what, x, y, 0, canvas.shape.width, canvas);
}

void mark_saturated(const RecordedFrame& frame, int x, int y, int from, int to, HostView canvas) {
    const ConstHostView raw = frame.raw.host();
    const std::optional<double> threshold = saturation_threshold(raw.shape.type, frame.info);
    if (!threshold)
        return;
    const int left = std::max(x, from), right = std::min(x + raw.shape.width, to);
    dispatch(raw.shape.type, [&](auto zero) {
        using T = decltype(zero);
        const auto limit = static_cast<T>(*threshold);
        const int channels = raw.shape.channels;
        for (int row = 0; row < raw.shape.height; ++row) {
            const T* values = raw.as<T>().row(row);
            std::uint8_t* to_row = canvas.as<std::uint8_t>().row(y + row);
            for (int column = left; column < right; ++column) {
                const T* pixel = values + static_cast<std::ptrdiff_t>(column - x) * channels;
                if (std::any_of(pixel, pixel + channels, [&](T value) { return value >= limit; }))
                    std::copy(kSaturatedColor.begin(), kSaturatedColor.end(),
                              to_row + std::ptrdiff_t{3} * column);
            }
        }
    });
}

class Composer {
public:
    Composer(const RecordedFrame& frame, const ScreenLook& look, ScreenPicture& picture)
        : frame_(frame), look_(look), picture_(picture), result_(frame.pixels.shape()),
          raw_(frame.raw ? frame.raw.shape() : Shape{}), moved_(frame.chain && moves_pixels(*frame.chain)) {}

    void draw() {
        const bool colour = result_.channels == 3;
        ScreenLayout layout = frame_.raw ? look_.layout : ScreenLayout::processed;
        if (layout == ScreenLayout::blended && (moved_ || colour))
            layout = ScreenLayout::processed;
        color();
        picture_.panes.clear();
        picture_.legend.shown = !colour && layout != ScreenLayout::raw;
        switch (layout) {
        case ScreenLayout::processed:
            return draw_result();
        case ScreenLayout::raw:
            return draw_raw();
        case ScreenLayout::side_by_side:
            return draw_both();
        case ScreenLayout::split:
            return draw_split();
        case ScreenLayout::blended:
            return draw_blended();
        }
    }

private:
    void color() {
        const Mapping& m = look_.mapping;
        const ConstHostView image = frame_.pixels.host();
        const ValueRange range = m.automatic ? percentile_range(image, m.low_percentile, m.high_percentile)
                                             : ValueRange{m.low, m.high};
        const bool light = is_picture(frame_.info, frame_.quantity);
        const ValueRange seen = exposed(range, m.exposure_stops);
        shown_ = {image, {m.colormap, seen, curve_in_effect(m, result_.channels, light)}};
        picture_.legend = {m.colormap,           seen, shown_.coloring.curve, frame_.quantity.symbol,
                           frame_.quantity.unit, false};
        const MadeWith with = made_with(frame_);
        const std::string misfit =
            look_.baseline ? look_.baseline->misfit(result_, frame_.quantity, &with) : "";
        if (!misfit.empty()) { // as in the window: never in the colours of a change
            shown_.coloring.map = picture_.legend.map = ColorMap::grey;
        } else if (look_.baseline) {
            picture_.change.resize(result_.pixels());
            const Shape percent{result_.width, result_.height, 1, PixelType::f32};
            const HostView change(reinterpret_cast<std::byte*>(picture_.change.data()), percent);
            look_.baseline->change(image, change);
            const ValueRange around{-look_.change_range, look_.change_range};
            changed_ = Colored{change, {ColorMap::rdbu, around, ToneCurve::linear}};
        }
        if (frame_.raw)
            color_raw(light ? std::optional(seen) : std::nullopt);
    }

    void color_raw(std::optional<ValueRange> beside_light) {
        Mapping grey = look_.mapping;
        grey.colormap = ColorMap::grey;
        const ConstHostView raw = frame_.raw.host();
        const bool picture = frame_.info.light != Light::counts;
        ValueRange range;
        if (beside_light)
            range = *beside_light; // in the same range, so that the two can be compared
        else if (look_.raw_range)
            range = *look_.raw_range;
        else if (const double full =
                     frame_.info.full_scale > 0 ? frame_.info.full_scale : type_full_scale(raw_.type);
                 picture && full > 0)
            range = {0, full};
        else
            range = percentile_range(raw, 0.5, 99.5);
        raw_shown_ = {raw, {ColorMap::grey, range, curve_in_effect(grey, raw_.channels, picture)}};
    }

    HostView begin(int width, int height, bool filled) {
        picture_.shape = rgb_shape(width, height);
        picture_.rgb.resize(picture_.shape.bytes());
        const HostView canvas = picture_.view();
        if (!filled)
            return canvas;
        for (int x = 0; x < width; ++x)
            std::copy(kBackground.begin(), kBackground.end(),
                      canvas.as<std::uint8_t>().row(0) + std::ptrdiff_t{3} * x);
        for (int y = 1; y < height; ++y)
            std::copy_n(canvas.row(0), picture_.shape.row_bytes(), canvas.row(y));
        return canvas;
    }

    /// The change if there is one, with its colour bar.
    const Colored& result_or_change() {
        if (!changed_)
            return shown_;
        picture_.legend.map = changed_->coloring.map;
        picture_.legend.range = changed_->coloring.range;
        picture_.legend.curve = ToneCurve::linear;
        picture_.legend.symbol = "Δ" + frame_.quantity.symbol;
        picture_.legend.unit = "%";
        return *changed_;
    }

    void draw_result() {
        paint(result_or_change(), 0, 0, begin(result_.width, result_.height, false));
        picture_.panes.push_back({0, 0, result_.width, result_.height, false, true, 0, 0});
    }

    int border_x() const { return (raw_.width - result_.width) / 2; }
    int border_y() const { return (raw_.height - result_.height) / 2; }

    void draw_raw() {
        const HostView canvas = begin(raw_.width, raw_.height, false);
        paint(raw_shown_, 0, 0, canvas);
        if (look_.mark_saturated)
            mark_saturated(frame_, 0, 0, 0, raw_.width, canvas);
        picture_.panes.push_back({0, 0, raw_.width, raw_.height, true, !moved_, border_x(), border_y()});
    }

    /// Centres each in an area of its own size, or of the raw image's size if the result aligns with it.
    void draw_both() {
        const Shape place = moved_ ? result_ : raw_;
        const int height = std::max(raw_.height, place.height), begins = raw_.width + kGap;
        const HostView canvas = begin(begins + place.width, height, true);
        const int raw_y = (height - raw_.height) / 2, place_y = (height - place.height) / 2;
        paint(raw_shown_, 0, raw_y, canvas);
        if (look_.mark_saturated)
            mark_saturated(frame_, 0, raw_y, 0, raw_.width, canvas);
        picture_.panes.push_back(
            {0, raw_y, raw_.width, raw_.height, true, !moved_, border_x(), raw_y + border_y()});
        const int x = begins + (place.width - result_.width) / 2;
        const int y = place_y + (place.height - result_.height) / 2;
        paint(result_or_change(), x, y, canvas);
        picture_.panes.push_back({begins, place_y, place.width, place.height, false, true, x, y});
    }

    /// With a baseline the change is left of the divider, as in the window.
    void draw_split() {
        const int width = changed_ ? result_.width : std::max(raw_.width, result_.width);
        const int height = changed_ ? result_.height : std::max(raw_.height, result_.height);
        const int divider = static_cast<int>(std::lround(width * look_.split));
        const HostView canvas = begin(width, height, true);
        const auto middle = [&](const Shape& s) {
            return std::pair((width - s.width) / 2, (height - s.height) / 2);
        };
        const auto [x, y] = middle(result_);
        paint_part(shown_, x, y, divider, width, canvas);
        if (changed_) {
            paint_part(*changed_, x, y, 0, divider, canvas);
        } else {
            const auto [left, above] = middle(raw_);
            paint_part(raw_shown_, left, above, 0, divider, canvas);
            if (look_.mark_saturated)
                mark_saturated(frame_, left, above, 0, divider, canvas);
        }
        picture_.panes.push_back({0, 0, width, height, false, changed_ || !moved_, x, y});
        if (moved_ && !changed_) { // regions align with the result only
            picture_.panes.back().width = divider;
            picture_.panes.push_back({divider, 0, width - divider, height, false, true, x, y});
        }
    }

    void draw_blended() {
        const HostView canvas = begin(raw_.width, raw_.height, false);
        const Colored& over = result_or_change();
        blend_colors(raw_shown_.image, raw_shown_.coloring, over.image, over.coloring, look_.blend, canvas);
        picture_.panes.push_back({0, 0, raw_.width, raw_.height, false, true, border_x(), border_y()});
    }

    const RecordedFrame& frame_;
    const ScreenLook& look_;
    ScreenPicture& picture_;
    Shape result_, raw_;
    bool moved_;
    Colored shown_, raw_shown_;
    std::optional<Colored> changed_;
};

} // namespace

void draw_screen(const RecordedFrame& frame, const ScreenLook& look, ScreenPicture& picture) {
    Composer(frame, look, picture).draw();
}

} // namespace specklescope
