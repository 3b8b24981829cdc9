// Items on and around the picture, and their mouse actions.
#include "ui/app.hpp"

#include "config/numbers.hpp"
#include "ui/canvas/color_bar.hpp"
#include "ui/canvas/parts.hpp"
#include "ui/canvas/pixel.hpp"
#include "ui/canvas/probe.hpp"
#include "ui/canvas/theme.hpp"
#include "ui/canvas/ticks.hpp"
#include "ui/panels/alarm_bar.hpp"
#include "ui/panels/controls.hpp"
#include "ui/panels/overlay.hpp"

#include <algorithm>
#include <cmath>

namespace specklescope {

namespace {

using theme::dp;

/// Position of the image point under (x, y); processed images may lack a border on each side.
struct ImagePoint {
    int x = 0, y = 0;
    bool inside = false;
};

ImagePoint image_point(const Camera::Placement& at, const Shape& shape, double x, double y) {
    const double px = std::floor((x - at.x) / at.scale), py = std::floor((y - at.y) / at.scale);
    if (!(px >= 0 && py >= 0 && px < shape.width && py < shape.height)) // far outside if there is no mouse
        return {};
    return {static_cast<int>(px), static_cast<int>(py), true};
}

} // namespace

void App::canvas_window(const Layout& layout) {
    const Rect all{layout.canvas.x, layout.canvas.y, layout.canvas.width + layout.bar.width,
                   layout.canvas.height};
    ImGui::SetNextWindowPos({static_cast<float>(all.x), static_cast<float>(all.y)});
    ImGui::SetNextWindowSize({static_cast<float>(all.width), static_cast<float>(all.height)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::Begin(parts::kCanvas, nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoBackground |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus);
    ImGui::PopStyleVar();
    canvas_mouse(layout);
    if (layout.bar.width > 0) {
        const Quantity quantity =
            display_.has_result() ? display_.result().quantity : session_.chain().displayed_quantity();
        const double legend = color_legend_height();
        Rect bar = layout.bar;
        if (bar.height > 4 * legend) {
            draw_color_legend(bar, display_.has_result() ? display_.result().counts : PixelCounts());
            bar.height -= legend;
        }
        ImGui::PushStyleVar(ImGuiStyleVar_DisabledAlpha, 1.0F);
        ImGui::BeginDisabled(monitor_.locked());
        canvas_bar(bar, quantity);
        ImGui::EndDisabled();
        ImGui::PopStyleVar();
    }
    if (session_.freshness().stale && display_.has_result())
        ImGui::GetWindowDrawList()->AddRectFilled(
            {static_cast<float>(layout.canvas.x), static_cast<float>(layout.canvas.y)},
            {static_cast<float>(layout.canvas.x + layout.canvas.width),
             static_cast<float>(layout.canvas.y + layout.canvas.height)},
            IM_COL32(90, 94, 100, 120));
    else
        canvas_pixels(layout);
    state_.regions.draw(region_views(layout), session_);
    canvas_labels(layout);
    std::vector<Rect> taken = canvas_scale(layout);
    Rect statistics;
    const auto clear = [&](Rect area) { // of the bar of alarms
        if (second_)                    // below them already
            return area;
        area.y += alarms_;
        area.height = std::max(1.0, area.height - alarms_);
        return area;
    };
    if (session_.view().overlay && session_.pipeline())
        statistics = draw_statistics(clear(layout.area), stats_, display_, window_.renderer());
    draw_grey_notice(clear(layout.shows_processed ? layout.processed : layout.raw), grey_,
                     session_.freshness());
    if (layout.shows_processed && display_.has_result())
        draw_warmup(clear(layout.processed), display_.result(), statistics);
    const std::vector<Rect> marked = draw_record_marks(layout.canvas, session_.recordings.running());
    taken.insert(taken.end(), marked.begin(), marked.end());
    const float banner = draw_banner(layout.canvas, session_, taken);
    const bool narrow = layout.canvas.width < dp(860); // marks and messages would overlap
    const float marks = narrow ? static_cast<float>(session_.recordings.running().size()) * dp(38) : 0;
    fading_ = draw_toasts(layout.canvas, session_.notices().list(), std::max(marks, banner));
    ImGui::End();
    alarms_ = draw_alarm_bar(layout.canvas, session_, state_.messages_open);
}

void App::canvas_mouse(const Layout& layout) {
    heads(layout);
    divider(layout);
    raw_label(layout);
    ImGui::SetCursorScreenPos({static_cast<float>(layout.canvas.x), static_cast<float>(layout.canvas.y)});
    ImGui::InvisibleButton(
        "picture", {static_cast<float>(layout.canvas.width), static_cast<float>(layout.canvas.height)});
    probe::widget("canvas", layout.canvas.x, layout.canvas.y, layout.canvas.width, layout.canvas.height);
    const bool hovered = ImGui::IsItemHovered();
    hover_ = hovered || ImGui::IsItemActive() ? hover(layout) : Hover{};
    if (!display_.has_result())
        return;
    const ImGuiIO& io = ImGui::GetIO();
    const std::vector<ImVec2> path = window_.take_path();
    const bool regions =
        !monitor_.locked() && state_.regions.mouse(region_views(layout), hovered, path, session_);
    const double um = um_per_px({display_, layout}, false);
    state_.regions.numbers.take(display_.result(), um, session_.freshness().stale);
    const RegionEditor::Index selected = session_.regions.selected();
    state_.regions.line.take(
        display_.result(),
        selected && !session_.freshness().stale ? session_.regions.regions()[*selected].name : std::string(),
        session_.settings().program.as<ProgramSettings>().band, um);
    const std::vector<Side> all = sides(layout);
    const Side& side = all.back().at.area.contains(io.MousePos.x, io.MousePos.y) ? all.back() : all.front();
    const bool raw = on_raw(layout, side.at, io.MousePos.x, io.MousePos.y);
    const Rect& area = raw ? side.at.raw_frame : side.at.processed_frame;
    const Shape shape = side.display.placed_shape(raw);
    if (hovered && io.MouseWheel != 0)
        state_.camera.zoom(area, shape, io.MousePos.x, io.MousePos.y, std::pow(kZoomStep, io.MouseWheel));
    const bool middle = hovered && ImGui::IsMouseDragging(2, 2.0F); // also while regions are drawn
    if (middle || (!regions && ImGui::IsItemActive() && ImGui::IsMouseDragging(0, 2.0F)))
        state_.camera.pan(area, shape, io.MouseDelta.x, io.MouseDelta.y);
    if (!regions && hovered && ImGui::IsMouseDoubleClicked(0))
        state_.camera.fit();
}

Hover App::hover(const Layout& layout) const {
    const std::vector<Side> all = sides(layout);
    if (all.empty())
        return {};
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const Side& under = all.back().at.area.contains(mouse.x, mouse.y) ? all.back() : all.front();
    const bool at_raw = on_raw(layout, under.at, mouse.x, mouse.y);
    const ImagePoint p =
        image_point(placement(under, at_raw), under.display.placed_shape(at_raw), mouse.x, mouse.y);
    if (!p.inside)
        return {};
    Hover found;
    found.inside = true;
    found.x = p.x;
    found.y = p.y;
    found.stale = session_.freshness().stale;
    if (found.stale)
        return found;
    const auto result_at = [&](const Display& display, auto value) {
        const auto [dx, dy] = display.border();
        return (display.*value)(p.x - dx, p.y - dy);
    };
    if (at_raw || !display_.moved()) { // otherwise the raw pixel of a processed pixel is unknown
        found.raw = display_.raw_value(p.x, p.y);
        found.raw_color = display_.raw_color(p.x, p.y);
    }
    if (!at_raw || !display_.moved()) {
        found.value = result_at(display_, &Display::processed_value);
        found.color = result_at(display_, &Display::processed_color);
        found.change = result_at(display_, &Display::change_value);
    }
    if (all.size() > 1) {
        found.second = result_at(*second_, &Display::processed_value);
        found.second_raw = second_->raw_value(p.x, p.y);
        found.second_type = second_->raw_shape().type;
    }
    return found;
}

/// Drags the border between picture and controls.
void App::panel_edge(const Layout& layout) {
    const Rect& panel = layout.panel;
    const float wide = dp(8);
    const bool below = layout.panel_below;
    const ImVec2 at(static_cast<float>(panel.x) - (below ? 0 : wide / 2),
                    static_cast<float>(panel.y) - (below ? wide / 2 : 0));
    const ImVec2 size(below ? static_cast<float>(panel.width) : wide,
                      below ? wide : static_cast<float>(panel.height));
    ImGui::SetNextWindowPos(at);
    ImGui::SetNextWindowSize(size);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
    ImGui::Begin("##edge", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoBackground |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav);
    ImGui::PopStyleVar(2);
    ImGui::InvisibleButton("edge", size);
    probe::item("panel.edge");
    tooltip("Drag to change the size of the panel.");
    if (ImGui::IsItemHovered() || ImGui::IsItemActive())
        ImGui::SetMouseCursor(below ? ImGuiMouseCursor_ResizeNS : ImGuiMouseCursor_ResizeEW);
    if (ImGui::IsItemActive()) {
        const ImGuiIO& io = ImGui::GetIO();
        const double far =
            below ? panel.y + panel.height - io.MousePos.y : panel.x + panel.width - io.MousePos.x;
        const ParamDecl& decl = view_table().at("panel_size");
        session_.view().panel_size = std::clamp(std::round(far / dp(1)), decl.min, decl.max);
    }
    ImGui::End();
}

/// Regions are drawn on the result, and on the raw picture if the two align.
RegionViews App::region_views(const Layout& layout) const {
    RegionViews views;
    for (const Side& side : sides(layout)) {
        const Display& display = side.display;
        const auto add = [&](const Rect& area, bool on_raw) {
            const Camera::Placement at = placement(side, on_raw);
            const auto [left, above] = display.border();
            views.push_back({area, at.x + (left + 0.5) * at.scale, at.y + (above + 0.5) * at.scale, at.scale,
                             display.processed_shape(),
                             &display == &display_ ? nullptr : display.result().regions.get()});
        };
        if (layout.shows_raw && !display.moved() && !layout.blended)
            add(side.at.raw, true);
        if (layout.shows_processed)
            add(side.at.processed, false);
        if (layout.split && side.at.change.width > 0)
            add(side.at.change, false);
    }
    return views;
}

/// Bar of the change if only the change is visible; of the result otherwise.
void App::canvas_bar(const Rect& bar, const Quantity& quantity) {
    ViewSettings& view = session_.view();
    const bool change = display_.has_change() && !layout_.split;
    if (!change) {
        Mapping& mapping = view.mapping;
        color_bar(bar, mapping, quantity, display_.has_result() ? display_.result().exposure : Exposure(),
                  display_.has_result() ? shown_curve() : ToneCurve::linear,
                  display_.shader().colors(grey_.empty() ? shown_mapping().colormap : ColorMap::grey),
                  state_.histogram.beyond(HistogramOf::result,
                                          exposed({mapping.low, mapping.high}, mapping.exposure_stops)));
        return;
    }
    const Quantity relative = change_of(quantity);
    change_bar(bar, view.change_range, view_table().at("change_range"), ViewSettings().change_range, relative,
               display_.shader().colors(grey_.empty() ? ColorMap::rdbu : ColorMap::grey),
               state_.histogram.beyond(HistogramOf::change, {-view.change_range, view.change_range}));
}

double App::um_per_px(const Side& side, bool raw) const {
    if (!side.display.has_result())
        return 0;
    const Chain chain = raw ? Chain() : *side.display.result().chain;
    return &side.display == &display_ ? session_.um_per_px(chain) : session_.comparison.um_per_px(chain);
}

/// Scale bar on each picture, clear of the recording marks.
std::vector<Rect> App::canvas_scale(const Layout& layout) {
    std::vector<Rect> places;
    for (const Side& side : sides(layout)) {
        const auto bar = [&](const Rect& area, bool raw) {
            const bool marked = area.x <= layout.canvas.x;
            const float above =
                marked ? static_cast<float>(session_.recordings.running().size()) * dp(38) : 0;
            places.push_back(draw_scale_bar(area, um_per_px(side, raw) / placement(side, raw).scale, above));
        };
        const bool one = layout.split || layout.blended;
        if (one)
            bar(side.at.area, false);
        if (layout.shows_raw && !one)
            bar(side.at.raw, true);
        if (layout.shows_processed && !one)
            bar(side.at.processed, false);
    }
    return places;
}

double App::zoom() const {
    if (!display_.has_result())
        return 1;
    return placement(layout_, !layout_.shows_processed).scale * window_.ratio();
}

/// Draws values in large pixels, and a crosshair at the mouse position in the other pictures.
void App::canvas_pixels(const Layout& layout) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const bool apart = layout.shows_raw && layout.shows_processed && !layout.split && !layout.blended;
    int written = 0;
    for (const Side& side : sides(layout)) {
        const auto cross = [&](const Rect& area, bool raw) {
            if (hover_.inside && !area.contains(mouse.x, mouse.y))
                draw_crosshair(area, placement(side, raw), hover_.x, hover_.y);
        };
        if (apart && !side.display.moved()) {
            cross(side.at.raw, true);
            cross(side.at.processed, false);
        } else {
            cross(side.at.area, !layout.shows_processed);
        }
        written += side_pixels(side, layout);
    }
    if (display_.has_result())
        probe::value("pixel.values", written);
}

int App::side_pixels(const Side& side, const Layout& layout) {
    const Display& display = side.display;
    const Shape raw = display.raw_shape(), processed = display.processed_shape();
    const auto values = [&](bool on_raw) {
        const Rect& area = on_raw ? side.at.raw : side.at.processed;
        return draw_pixel_values(
            area, placement(side, on_raw), display.placed_shape(on_raw), [&](int x, int y) {
                const auto [dx, dy] = display.border();
                const std::optional<double> value = on_raw ? display.raw_value(x, y)
                                                    : display.has_change() && side.at.only_change()
                                                        ? display.change_value(x - dx, y - dy)
                                                        : display.processed_value(x - dx, y - dy);
                const bool counts = on_raw && raw.type != PixelType::f32;
                return !value   ? std::string()
                       : counts ? std::to_string(std::lround(*value))
                                : number_text(*value, 4);
            });
    };
    int written = 0;
    if (layout.shows_raw && raw.channels == 1 && !layout.blended)
        written += values(true);
    // Reading single values from the device is slow: request host pixels with the next result.
    const bool wanted =
        layout.shows_processed && processed.channels == 1 && pixels_are_readable(placement(side, false));
    if (&display == &display_)
        display_.want_host(wanted || state_.regions.line.wants_host());
    else
        second_->want_host(wanted);
    if (wanted && display.result().image)
        written += values(false);
    return written;
}

/// Draws the name and range of the raw picture. A click fixes a range that was automatic. Called before the
/// picture, which would take the mouse.
void App::raw_label(const Layout& layout) {
    if (!display_.has_result() || !layout.shows_raw || layout.blended)
        return;
    const bool counts = display_.result().info.light == Light::counts;
    const bool automatic = counts && state_.stretch_raw;
    if (!layout.shows_processed && !automatic)
        return;
    std::string text = "raw";
    if (automatic) {
        const ValueRange range = display_.raw_range(true);
        text += ", auto " + number_text(range.low, 3) + " – " + number_text(range.high, 3) + " · lock";
    }
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    const ImVec2 at(static_cast<float>(layout.raw.x + layout.raw.width) - size.x - dp(22),
                    static_cast<float>(layout.raw.y) + dp(12) + (second_ ? 0 : alarms_));
    if (at.x < layout.raw.x)
        return;
    const ImVec2 low(at.x - dp(10), at.y - dp(5)), high(at.x + size.x + dp(10), at.y + size.y + dp(5));
    if (automatic) {
        ImGui::SetCursorScreenPos(low);
        if (ImGui::InvisibleButton("raw range", {high.x - low.x, high.y - low.y}))
            state_.stretch_raw = false;
        probe::item("raw.lock");
        tooltip("The grey levels adapt to each image, so brightness cannot be compared over time. Click for "
                "0 to full "
                "scale.");
    }
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled(low, high, theme::kOverlay, dp(5));
    draw.AddText(at, automatic ? theme::kWarning : theme::kText, text.c_str());
}

void App::canvas_labels(const Layout& layout) {
    for (const Side& side : sides(layout))
        side_labels(side, layout);
}

void App::side_labels(const Side& side, const Layout& layout) {
    const bool change = side.display.has_change() && side.at.change.width > 0;
    const bool two = layout.shows_raw || (change && layout.split);
    if (!layout.shows_processed || (!two && !change))
        return;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const auto label = [&](const Rect& area, const std::string& text) {
        const ImVec2 size = ImGui::CalcTextSize(text.c_str());
        const ImVec2 at(static_cast<float>(area.x + area.width) - size.x - dp(22), // clear of the overlay
                        static_cast<float>(area.y) + dp(12) + (second_ ? 0 : alarms_));
        if (at.x < area.x)
            return;
        draw.AddRectFilled({at.x - dp(10), at.y - dp(5)}, {at.x + size.x + dp(10), at.y + size.y + dp(5)},
                           theme::kOverlay, dp(5));
        draw.AddText(at, theme::kText, text.c_str());
    };
    const std::string symbol = side.display.result().quantity.symbol;
    std::string changed = "Δ" + symbol + "/" + symbol + "₀";
    if (layout.split) // the colour bar belongs to the other picture
        changed += " ± " + number_text(session_.view().change_range, 3) + " %";
    probe::value("label.left", !layout.split ? "" : change ? changed : "raw");
    if (layout.blended)
        return label(side.at.area, "raw + " + (change ? changed : symbol));
    if (change)
        label(side.at.change, changed);
    if (!change || layout.split)
        label(side.at.processed, symbol);
    if (layout.split || !layout.shows_raw)
        return;
    const float x = static_cast<float>(side.at.processed.x) - dp(1);
    draw.AddLine({x, static_cast<float>(side.at.area.y)},
                 {x, static_cast<float>(side.at.area.y + side.at.area.height)}, theme::kLine, dp(2));
}

/// Value under the mouse; without it, how the compared film differs in frame or range. `brief`: only the
/// number.
std::string App::head_value(const Side& side, const Layout& layout, bool brief) const {
    const Result& result = side.display.result();
    const bool second = &side.display != &display_, raw = !layout.shows_processed;
    const Quantity& quantity = result.quantity;
    const std::string symbol = raw ? "raw" : quantity.symbol;
    if (const std::optional<double> value = raw      ? second ? hover_.second_raw : hover_.raw
                                            : second ? hover_.second
                                                     : hover_.value) {
        const std::string number =
            raw ? sample_text(*value, side.display.raw_shape().type) : number_text(*value);
        return brief ? number : symbol + " " + (raw ? number : quantity_text(*value, quantity.unit));
    }
    if (!second)
        return "";
    if (!raw && quantity.name != display_.result().quantity.name) {
        const ValueRange range = range_of(side);
        return symbol + " " + number_text(range.low, 3) + " – " + number_text(range.high, 3);
    }
    const auto& position = result.info.position;
    return position && position != display_.result().info.position ? "frame " + count_text(*position) : "";
}

/// Titles of two compared films. Called before the pictures, which would take the mouse.
void App::heads(const Layout& layout) {
    const std::vector<Side> all = sides(layout);
    if (all.size() < 2)
        return;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    for (const Side& side : all) {
        const bool second = &side.display != &display_;
        const Rect& head = side.at.head;
        const ImVec2 low(static_cast<float>(head.x), static_cast<float>(head.y));
        const ImVec2 high(low.x + static_cast<float>(head.width), low.y + static_cast<float>(head.height));
        draw.AddRectFilled(low, high, theme::kPanel);
        float right = high.x - dp(8);
        if (second) {
            right -= ImGui::CalcTextSize("×").x + dp(12);
            ImGui::SetCursorScreenPos({right, low.y});
            ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {dp(6), ImGui::GetStyle().FramePadding.y});
            if (ImGui::Button("×"))
                session_.comparison.close();
            ImGui::PopStyleVar();
            probe::item("second.close");
            tooltip(with_key("End the comparison", session_.settings().keys, Action::end_compare));
            right -= dp(8);
        }
        const std::string title = second ? session_.comparison.title() : session_.comparison.own_title();
        std::string value = head_value(side, layout, false);
        const float left = low.x + dp(8), room = right - left - dp(16);
        const auto wide = [](const std::string& text) { return ImGui::CalcTextSize(text.c_str()).x; };
        if (wide(title) + wide(value) > room)
            value = head_value(side, layout, true);
        const float top = low.y + ImGui::GetStyle().FramePadding.y;
        draw.AddText({right - wide(value), top}, theme::kText, value.c_str());
        draw.AddText({left, top}, theme::kText,
                     fitted_name(*ImGui::GetFont(), title, room - wide(value)).c_str());
    }
}

} // namespace specklescope
