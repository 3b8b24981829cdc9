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
    return state_.change && !second_ && baseline && display_.has_result() &&
           baseline->misfit(display_.result()).empty();
}

std::string App::why_grey() const {
    if (session_.freshness().stale && display_.has_result())
        return "No frames for " + age_text(session_.freshness().age_s);
    const auto& baseline = session_.picture_baseline.image();
    if (state_.change && !second_ && baseline && display_.has_result())
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

/// Snapshots and movies get exactly the range on the screen.
void App::tell_look() {
    ScreenLook look = look_of(session_.view());
    look.mapping = shown_mapping();
    look.mapping.automatic = look.mapping.automatic && !display_.has_result();
    look.mark_saturated = marks_saturated();
    if (display_.has_result() && layout_.shows_raw)
        look.raw_range =
            display_.raw_range(state_.stretch_raw && display_.result().info.light == Light::counts);
    if (state_.change && !second_)
        look.baseline = session_.picture_baseline.image();
    session_.set_look(std::move(look));
}

/// Two films lie next to each other, or one above the other if they are larger then.
void App::place_pictures(Layout& l) const {
    Rect first = l.canvas, second, head;
    if (second_ && display_.has_result()) {
        const double gap = dp(2), height = ImGui::GetFrameHeight();
        const Shape shape = display_.placed_shape(false);
        const auto scale = [&](double width, double high) {
            return std::min(width / shape.width, high / shape.height);
        };
        const double top = alarms_ + height;
        const bool above = scale(first.width, (first.height - gap) / 2 - top) >
                           scale((first.width - gap) / 2, first.height - top);
        (above ? first.height : first.width) -= gap;
        (above ? first.height : first.width) /= 2;
        second = first;
        (above ? second.y : second.x) += (above ? first.height : first.width) + gap;
        head = {0, 0, first.width, height};
    }
    const auto place = [&](Rect area, double above) {
        Rect title = head;
        title.x = area.x;
        title.y = area.y + above;
        area.y += above + head.height;
        area.height = std::max(1.0, area.height - above - head.height);
        Pictures made = place_side(area, l);
        made.head = title;
        return made;
    };
    const double alarms = head.height > 0 ? alarms_ : 0; // they lie over the top of the canvas
    static_cast<Pictures&>(l) = place(first, alarms);
    l.second = second.width > 0 ? place(second, second.y > first.y ? 0 : alarms) : Pictures{};
}

App::Pictures App::place_side(const Rect& area, const Layout& l) const {
    const ViewSettings& view = session_.settings().view.as<ViewSettings>();
    Pictures p;
    p.area = p.processed = p.raw = area;
    p.change = shows_change() && l.shows_processed ? area : Rect{};
    p.processed_frame = p.raw_frame = area;
    if (view.layout == ViewSettings::Layout::side_by_side) {
        const double gap = dp(2);
        p.raw.width = (area.width - gap) / 2;
        p.processed.x = p.raw.x + p.raw.width + gap;
        p.processed.width = p.raw.width;
        p.raw_frame = p.raw;
        p.processed_frame = p.processed;
        if (shows_change())
            p.change = p.processed;
    } else if (l.split) {
        const double left = std::round(area.width * view.split);
        p.raw.width = left;
        p.processed.x = area.x + left;
        p.processed.width = area.width - left;
        if (shows_change())
            p.change.width = left;
    }
    return p;
}

std::vector<App::Side> App::sides(const Layout& layout) const {
    std::vector<Side> all;
    if (display_.has_result())
        all.push_back({display_, layout});
    if (display_.has_result() && second_ && second_->has_result() && layout.second.area.width > 0)
        all.push_back({*second_, layout.second});
    return all;
}

Camera::Placement App::placement(const Side& side, bool raw) const {
    return state_.camera.place(raw ? side.at.raw_frame : side.at.processed_frame,
                               side.display.placed_shape(raw));
}

/// True if the raw picture is visible at this position.
bool App::on_raw(const Layout& layout, const Pictures& at, double x, double y) const {
    return layout.shows_raw && (!layout.shows_processed || (!layout.blended && at.raw.contains(x, y)));
}

/// Called before the picture, which would take the mouse.
void App::divider(const Layout& layout) {
    if (!layout.split || !display_.has_result())
        return;
    const double wide = dp(12);
    const auto place = [&](const Rect& area) {
        return area.x + std::round(area.width * session_.view().split);
    };
    ImGui::SetCursorScreenPos(
        {static_cast<float>(place(layout.area) - wide / 2), static_cast<float>(layout.area.y)});
    ImGui::InvisibleButton("divider", {static_cast<float>(wide), static_cast<float>(layout.area.height)});
    probe::item("divider");
    tooltip("Drag to move the border between the raw image and the result.");
    const bool active = ImGui::IsItemActive(), hovered = ImGui::IsItemHovered();
    if (active || hovered)
        ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    if (active)
        session_.view().split =
            std::clamp((ImGui::GetIO().MousePos.x - layout.area.x) / layout.area.width, 0.0, 1.0);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImU32 colour = active || hovered ? theme::kAccent : theme::kText;
    for (const Side& side : sides(layout)) {
        const Rect& area = side.at.area;
        const auto at = static_cast<float>(place(area)), top = static_cast<float>(area.y);
        const auto height = static_cast<float>(area.height);
        draw.AddLine({at, top}, {at, top + height}, IM_COL32(10, 13, 16, 190), dp(4));
        draw.AddLine({at, top}, {at, top + height}, colour, dp(1.5F));
        draw.AddCircleFilled({at, top + height / 2}, dp(7), colour);
    }
    probe::value("split", session_.view().split);
}

void App::draw_raw(const Side& side, double ratio) {
    const Shape raw = side.display.raw_shape();
    Mapping grey = session_.view().mapping;
    grey.colormap = ColorMap::grey;
    const Result& result = side.display.result();
    const bool picture = result.info.light != Light::counts;
    // Two intensity images use the same range, so that they can be compared.
    const ValueRange range = is_picture(result.info, result.quantity)
                                 ? exposed({grey.low, grey.high}, grey.exposure_stops)
                                 : display_.raw_range(state_.stretch_raw && !picture);
    PictureStyle style{ColorMap::grey, range, curve_in_effect(grey, raw.channels, picture), 0};
    if (marks_saturated())
        style.saturated = result.info.full_scale > 0 ? result.info.full_scale : type_full_scale(raw.type);
    display_.shader().draw(side.display.raw(), style, side.at.raw, placement(side, true), ratio);
    if (&side.display != &display_)
        return;
    probe::value("raw.low", range.low);
    probe::value("raw.high", range.high);
}

/// Both films share a range, so that they can be compared, unless they show different quantities.
ValueRange App::range_of(const Side& side) const {
    const Mapping& mapping = session_.settings().view.as<ViewSettings>().mapping;
    const bool own = side.display.result().quantity.name != display_.result().quantity.name;
    return exposed(own ? ValueRange{second_mapping_.low, second_mapping_.high}
                       : ValueRange{mapping.low, mapping.high},
                   mapping.exposure_stops);
}

void App::draw_result(const Side& side, double ratio) {
    const ViewSettings& view = session_.view();
    const auto draw = [&](const ImageTexture& texture, PictureStyle style, const Rect& area) {
        if (layout_.blended)
            style.blend = view.blend;
        const Shape& shape = texture.shape();
        const Shape placed = side.display.placed_shape(false);
        Camera::Placement at = placement(side, false);
        at.x += (placed.width - shape.width) / 2.0 * at.scale; // border = crop removes both sides
        at.y += (placed.height - shape.height) / 2.0 * at.scale;
        display_.shader().draw(texture, style, area, at, ratio);
    };
    const bool change = side.display.has_change() && side.at.change.width > 0;
    if (side.display.processed() && !(change && side.at.only_change()))
        draw(side.display.processed(),
             {grey_.empty() ? shown_mapping().colormap : ColorMap::grey, range_of(side), shown_curve(), 0},
             side.at.processed);
    if (change)
        draw(side.display.changed(),
             {grey_.empty() ? ColorMap::rdbu : ColorMap::grey,
              {-view.change_range, view.change_range},
              ToneCurve::linear,
              0},
             side.at.change);
}

void App::draw_pictures() {
    const double ratio = window_.ratio();
    for (const Side& side : sides(layout_)) {
        if (layout_.shows_raw && side.display.raw())
            draw_raw(side, ratio);
        if (layout_.shows_processed)
            draw_result(side, ratio);
    }
}

} // namespace specklescope
