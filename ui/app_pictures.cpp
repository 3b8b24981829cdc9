// Layout of the pictures: one picture, two side by side, two with a divider, or two blended.
#include "config/start.hpp"
#include "ui/app.hpp"

#include "config/numbers.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/panels/controls.hpp"

#include <algorithm>
#include <cmath>

namespace specklescope {

namespace {
using theme::dp;
} // namespace

bool App::shows_change() const {
    const auto& baseline = session_.picture_baseline.image();
    return state_.change && baseline && display_.has_result() && baseline->misfit(display_.result()).empty();
}

std::string App::why_grey() const {
    if (session_.freshness().stale && display_.has_result())
        return "No frames for " + age_text(session_.freshness().age_s);
    const auto& baseline = session_.picture_baseline.image();
    if (state_.change && baseline && display_.has_result())
        return baseline->misfit(display_.result());
    return "";
}

Mapping App::shown_mapping() const {
    return mapping_for(session_.settings(), display_.has_result() ? display_.result().quantity : Quantity());
}

bool App::marks_saturated() const {
    return state_.mark_saturated.value_or(!display_.has_result() ||
                                          suffers_from_saturation(display_.result().quantity));
}

/// For snapshots and movies: exactly the range on the screen.
void App::tell_look() {
    ScreenLook look = look_of(session_.view());
    look.mapping = shown_mapping();
    look.mapping.automatic = look.mapping.automatic && !display_.has_result();
    look.mark_saturated = marks_saturated();
    if (display_.has_result() && layout_.shows_raw)
        look.raw_range =
            display_.raw_range(state_.stretch_raw && display_.result().info.light == Light::counts);
    if (state_.change)
        look.baseline = session_.picture_baseline.image();
    session_.set_look(std::move(look));
}

void App::place_pictures(Layout& l) const {
    const ViewSettings& view = session_.settings().view.as<ViewSettings>();
    l.processed = l.raw = l.canvas;
    l.change = shows_change() && l.shows_processed ? l.canvas : Rect{};
    l.processed_frame = l.raw_frame = l.canvas;
    if (view.layout == ViewSettings::Layout::side_by_side) {
        const double gap = dp(2);
        l.raw.width = (l.canvas.width - gap) / 2;
        l.processed.x = l.raw.x + l.raw.width + gap;
        l.processed.width = l.raw.width;
        l.raw_frame = l.raw;
        l.processed_frame = l.processed;
        if (shows_change())
            l.change = l.processed;
    } else if (l.split) {
        const double left = std::round(l.canvas.width * view.split);
        l.raw.width = left;
        l.processed.x = l.canvas.x + left;
        l.processed.width = l.canvas.width - left;
        if (shows_change())
            l.change.width = left;
    }
}

Camera::Placement App::placement(const Layout& layout, bool raw) const {
    return state_.camera.place(raw ? layout.raw_frame : layout.processed_frame, placed_shape(raw));
}

/// True if the raw picture is visible at this position.
bool App::on_raw(const Layout& layout, double x, double y) const {
    return layout.shows_raw && (!layout.shows_processed || (!layout.blended && layout.raw.contains(x, y)));
}

/// Called before the picture, which would take the mouse.
void App::divider(const Layout& layout) {
    if (!layout.split || !display_.has_result())
        return;
    const double x = layout.canvas.x + std::round(layout.canvas.width * session_.view().split);
    const double wide = dp(12);
    ImGui::SetCursorScreenPos({static_cast<float>(x - wide / 2), static_cast<float>(layout.canvas.y)});
    ImGui::InvisibleButton("divider", {static_cast<float>(wide), static_cast<float>(layout.canvas.height)});
    probe::item("divider");
    tooltip("Drag to move the border between the raw image and the result.");
    const bool active = ImGui::IsItemActive(), hovered = ImGui::IsItemHovered();
    if (active || hovered)
        ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    if (active)
        session_.view().split =
            std::clamp((ImGui::GetIO().MousePos.x - layout.canvas.x) / layout.canvas.width, 0.0, 1.0);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const auto at = static_cast<float>(x), top = static_cast<float>(layout.canvas.y);
    const auto height = static_cast<float>(layout.canvas.height);
    draw.AddLine({at, top}, {at, top + height}, IM_COL32(10, 13, 16, 190), dp(4));
    draw.AddLine({at, top}, {at, top + height}, active || hovered ? theme::kAccent : theme::kText, dp(1.5F));
    draw.AddCircleFilled({at, top + height / 2}, dp(7), active || hovered ? theme::kAccent : theme::kText);
    probe::value("split", session_.view().split);
}

void App::draw_raw(double ratio) {
    const Shape raw = display_.raw_shape();
    Mapping grey = session_.view().mapping;
    grey.colormap = ColorMap::grey;
    const Result& result = display_.result();
    const bool picture = result.info.light != Light::counts;
    // Two intensity images use the same range, so that they can be compared.
    const ValueRange range = is_picture(result.info, result.quantity)
                                 ? exposed({grey.low, grey.high}, grey.exposure_stops)
                                 : display_.raw_range(state_.stretch_raw && !picture);
    PictureStyle style{ColorMap::grey, range, curve_in_effect(grey, raw.channels, picture), 0};
    if (marks_saturated())
        style.saturated = result.info.full_scale > 0 ? result.info.full_scale : type_full_scale(raw.type);
    display_.shader().draw(display_.raw(), style, layout_.raw, placement(layout_, true), ratio);
    probe::value("raw.low", range.low);
    probe::value("raw.high", range.high);
}

void App::draw_result(double ratio) {
    const ViewSettings& view = session_.view();
    const Mapping mapping = shown_mapping();
    const auto draw = [&](const ImageTexture& texture, PictureStyle style, const Rect& area) {
        if (layout_.blended)
            style.blend = Blend{view.blend_opacity, view.blend_threshold};
        const Shape& shape = texture.shape();
        const Shape placed = placed_shape(false);
        Camera::Placement at = placement(layout_, false);
        at.x += (placed.width - shape.width) / 2.0 * at.scale; // border = crop removes both sides
        at.y += (placed.height - shape.height) / 2.0 * at.scale;
        display_.shader().draw(texture, style, area, at, ratio);
    };
    const bool change = display_.has_change() && layout_.change.width > 0;
    if (display_.processed() && !(change && layout_.only_change()))
        draw(display_.processed(),
             {grey_.empty() ? mapping.colormap : ColorMap::grey,
              exposed({mapping.low, mapping.high}, mapping.exposure_stops), shown_curve(), 0},
             layout_.processed);
    if (change)
        draw(display_.changed(),
             {grey_.empty() ? ColorMap::rdbu : ColorMap::grey,
              {-view.change_range, view.change_range},
              ToneCurve::linear,
              0},
             layout_.change);
}

void App::draw_pictures() {
    if (!display_.has_result())
        return;
    const double ratio = window_.ratio();
    if (layout_.shows_raw && display_.raw())
        draw_raw(ratio);
    if (layout_.shows_processed)
        draw_result(ratio);
}

} // namespace specklescope
