#include "ui/regions/region_tools.hpp"

#include "base/error.hpp"
#include "ui/actions/key_words.hpp"
#include "ui/canvas/theme.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace specklescope {

namespace {

using theme::dp;

constexpr double kSaid = 8; ///< s to show a message

RegionPoint pixel(const RegionPoint& point) { return {std::round(point.x), std::round(point.y)}; }

double distance(const ImVec2& a, const ImVec2& b) { return std::hypot(a.x - b.x, a.y - b.y); }

double tolerance(const RegionView& view) { return dp(6) / view.scale; }

RegionShape shape_of(RegionTool tool) {
    return static_cast<RegionShape>(static_cast<int>(tool) - static_cast<int>(RegionTool::rectangle));
}

/// Other end of a box or line that starts at `from`.
RegionPoint end_of(RegionTool tool, const RegionPoint& from, const RegionPoint& to, bool even) {
    const double dx = to.x - from.x, dy = to.y - from.y;
    if (!even)
        return to;
    const double size = std::max(std::abs(dx), std::abs(dy));
    if (tool == RegionTool::line) {                      // snaps to the nearest of eight directions
        constexpr double kTangent = 0.41421356237309503; // of 22.5°
        const bool flat = std::abs(dy) <= kTangent * std::abs(dx);
        const bool steep = std::abs(dx) <= kTangent * std::abs(dy);
        return {from.x + (steep ? 0 : std::copysign(size, dx)),
                from.y + (flat ? 0 : std::copysign(size, dy))};
    }
    return {from.x + std::copysign(size, dx), from.y + std::copysign(size, dy)};
}

/// "Enter or a double click closes it", for a polygon.
std::string closes_it(const KeyBindings& keys) {
    const std::string enter = key_of(keys, Action::finish_shape);
    return (enter.empty() ? "a" : enter + " or a") + std::string(" double click closes it");
}

/// Instructions for the tool.
std::string how_to(RegionTool tool, const KeyBindings& keys) {
    const std::string done = key_words(" ", key_of(keys, Action::cancel), ": done.");
    switch (tool) {
    case RegionTool::select:
        break;
    case RegionTool::rectangle:
        return "Rectangle: drag over the image. Shift: square." + done;
    case RegionTool::ellipse:
        return "Ellipse: drag over the image. Shift: circle." + done;
    case RegionTool::polygon:
        return "Polygon: click its corners; " + closes_it(keys) + "." + done;
    case RegionTool::freehand:
        return "Freehand: draw the outline with the button down." + done;
    case RegionTool::line:
        return "Line: drag from end to end. Shift: steps of 45°." + done;
    }
    return "";
}

std::string whole(double value) { return std::to_string(std::lround(value)); }

/// Size and position of the drawn or dragged shape.
std::string measure(RegionShape shape, const std::vector<RegionPoint>& points) {
    double x0 = points[0].x, x1 = x0, y0 = points[0].y, y1 = y0;
    for (const RegionPoint& p : points) {
        x0 = std::min(x0, p.x);
        x1 = std::max(x1, p.x);
        y0 = std::min(y0, p.y);
        y1 = std::max(y1, p.y);
    }
    const std::string place = "x " + whole(x0) + "…" + whole(x1) + "   y " + whole(y0) + "…" + whole(y1);
    if (shape == RegionShape::line) {
        std::array<char, 32> length{};
        std::snprintf(length.data(), length.size(), "%.1f",
                      std::hypot(points.back().x - points.front().x, points.back().y - points.front().y));
        return place + "   length " + length.data() + " px";
    }
    return place + "   " + whole(x1 - x0 + 1) + " × " + whole(y1 - y0 + 1) + " px";
}

} // namespace

std::span<const RegionToolInfo> region_tools() {
    static constexpr std::array<RegionToolInfo, 6> kTools = {{
        {RegionTool::select, Action::select_tool, "Select"},
        {RegionTool::rectangle, Action::rectangle_tool, "Rectangle"},
        {RegionTool::ellipse, Action::ellipse_tool, "Ellipse"},
        {RegionTool::polygon, Action::polygon_tool, "Polygon"},
        {RegionTool::freehand, Action::freehand_tool, "Freehand"},
        {RegionTool::line, Action::line_tool, "Line"},
    }};
    return kTools;
}

void RegionTools::choose(RegionTool tool) {
    give_up();
    tool_ = tool == tool_ ? RegionTool::select : tool;
}

void RegionTools::say(std::string sentence) {
    said_ = std::move(sentence);
    said_at_ = SteadyClock::now();
}

std::string RegionTools::status(const Session& session) const {
    if (!said_.empty() && SteadyClock::now() - said_at_ < std::chrono::duration<double>(kSaid))
        return said_;
    const RegionEditor& editor = session.regions;
    const KeyBindings& keys = session.settings().keys;
    if (!drawn_.empty() && tool_ == RegionTool::polygon) {
        std::string closes = closes_it(keys);
        closes[0] = closes[0] == 'a' ? 'A' : closes[0];
        return std::to_string(drawn_.size()) + (drawn_.size() == 1 ? " corner.  " : " corners.  ") + closes +
               key_words(", ", key_of(keys, Action::drop_corner), " removes the last one") +
               key_words(", ", key_of(keys, Action::cancel), " gives up") + ".";
    }
    if (drawn_.size() > 1)
        return measure(shape_of(tool_), drawn_);
    if (editor.dragging() && moved_) {
        const Region& region = editor.regions()[*editor.selected()];
        return region.name + "   " + measure(region.shape, region.points);
    }
    return how_to(tool_, keys);
}

bool RegionTools::mouse(const RegionViews& views, bool hovered, const std::vector<ImVec2>& trail,
                        Session& session) {
    RegionEditor& editor = session.regions;
    const bool pressed = ImGui::IsItemActivated(), held = ImGui::IsItemActive();
    const bool released = ImGui::IsItemDeactivated();
    const ImVec2 at = ImGui::GetIO().MousePos;
    if (views.empty()) {
        if (pressed && tool_ != RegionTool::select)
            say("Regions lie on the result, and a stage has moved its pixels: " +
                with_key("show the result", session.settings().keys, Action::show_processed) + " to draw.");
        editor.cancel_drag();
        give_up();
        gesture_ = Gesture::none;
        return false;
    }
    editor.set_picture(views[0].picture.width, views[0].picture.height);
    if (gesture_ == Gesture::none || view_ >= views.size()) {
        const auto under = std::find_if(views.begin(), views.end(),
                                        [&](const RegionView& v) { return v.area.contains(at.x, at.y); });
        view_ = under == views.end() ? 0 : static_cast<std::size_t>(under - views.begin());
    }
    const RegionView& view = views[view_];
    mouse_ = view.to_picture(at);
    if (pressed)
        press(view, editor);
    if (held || released) // the button may have been released before a frame saw the movement
        hold(view, trail, editor);
    if (released && gesture_ != Gesture::none)
        release(view, editor);
    const bool ours = gesture_ > Gesture::click || (grip_ && ImGui::IsMouseDoubleClicked(0));
    if (hovered && !held)
        cursor(view, editor);
    if (!held)
        gesture_ = Gesture::none;
    return ours || tool_ != RegionTool::select;
}

void RegionTools::press(const RegionView& view, RegionEditor& editor) {
    const ImGuiIO& io = ImGui::GetIO();
    pressed_ = io.MousePos;
    moved_ = false;
    gesture_ = Gesture::click;
    said_.clear();
    if (!drawn_.empty() && tool_ == RegionTool::polygon) {
        gesture_ = Gesture::corner;
        if (ImGui::IsMouseDoubleClicked(0) && drawn_.size() >= 3) {
            finish(editor);
            gesture_ = Gesture::done;
        }
        return;
    }
    grip_ = editor.hit(mouse_, tolerance(view));
    const bool handle = grip_ && grip_->part >= RegionGrip::Part::handle;
    if (handle && io.KeyCtrl && grip_->part == RegionGrip::Part::handle) {
        if (!editor.remove_corner(grip_->region, grip_->index))
            say("Ctrl-click removes a corner of a polygon that has more than three.");
        gesture_ = Gesture::done;
    } else if (handle) {
        gesture_ = editor.begin_drag(*grip_, mouse_) ? Gesture::drag : Gesture::done;
    } else if (tool_ == RegionTool::select && io.KeyCtrl && !grip_) {
        tool_ = RegionTool::rectangle; // for this drag
        once_ = true;
        gesture_ = Gesture::draw;
        drawn_ = {pixel(mouse_)};
    } else if (tool_ == RegionTool::polygon) {
        gesture_ = Gesture::corner;
    } else if (tool_ != RegionTool::select) {
        gesture_ = Gesture::draw;
        drawn_ = {pixel(mouse_)};
    } else if (grip_ && (grip_->part == RegionGrip::Part::outline || grip_->region == editor.selected()) &&
               editor.begin_drag(*grip_, mouse_)) {
        gesture_ = Gesture::drag;
    }
}

void RegionTools::hold(const RegionView& view, const std::vector<ImVec2>& trail, RegionEditor& editor) {
    const ImGuiIO& io = ImGui::GetIO();
    const auto far = [&](const ImVec2& at) { return distance(at, pressed_) >= dp(3); };
    moved_ = moved_ || far(io.MousePos) || std::any_of(trail.begin(), trail.end(), far);
    if (gesture_ == Gesture::drag && moved_)
        editor.drag(mouse_, io.KeyShift);
    if (gesture_ != Gesture::draw || !moved_ || drawn_.empty())
        return;
    if (tool_ != RegionTool::freehand) {
        drawn_ = {drawn_.front(), end_of(tool_, drawn_.front(), pixel(mouse_), io.KeyShift)};
        return;
    }
    for (const ImVec2& at : trail)
        if (const RegionPoint to = pixel(view.to_picture(at));
            !(to == drawn_.back()) && drawn_.size() < kMaxRegionPoints)
            drawn_.push_back(to);
}

void RegionTools::release(const RegionView& view, RegionEditor& editor) {
    switch (gesture_) {
    case Gesture::drag:
        if (moved_)
            editor.end_drag();
        else
            editor.cancel_drag();
        break;
    case Gesture::draw:
        if (moved_)
            finish(editor);
        else
            editor.select(grip_ ? RegionEditor::Index(grip_->region) : std::nullopt);
        give_up();
        break;
    case Gesture::corner:
        add_corner(pixel(mouse_), view.scale, editor);
        break;
    case Gesture::click:
        if (!moved_)
            editor.select(grip_ ? RegionEditor::Index(grip_->region) : std::nullopt);
        break;
    case Gesture::none:
    case Gesture::done:
        break;
    }
}

void RegionTools::add_corner(const RegionPoint& pixel, double scale, RegionEditor& editor) {
    const double near = dp(8) / scale;
    if (drawn_.size() >= 3 && std::hypot(pixel.x - drawn_[0].x, pixel.y - drawn_[0].y) <= near)
        return finish(editor);
    if (drawn_.empty() || !(pixel == drawn_.back()))
        drawn_.push_back(pixel);
}

void RegionTools::finish(RegionEditor& editor) {
    const std::vector<RegionPoint> points = std::exchange(drawn_, {});
    const bool outline = tool_ == RegionTool::polygon || tool_ == RegionTool::freehand;
    if (points.size() < (outline ? 3U : 2U))
        return say(tool_ == RegionTool::polygon ? "A polygon needs at least three corners."
                                                : "The outline is too short. Draw around an area.");
    try {
        editor.add(shape_of(tool_), points);
    } catch (const UsageError& error) {
        say(error.what());
    }
}

void RegionTools::cursor(const RegionView& view, const RegionEditor& editor) const {
    if (tool_ == RegionTool::polygon && !drawn_.empty())
        return;
    const std::optional<RegionGrip> grip = editor.hit(mouse_, tolerance(view));
    if (!grip || editor.regions()[grip->region].locked)
        return;
    if (grip->part == RegionGrip::Part::handle &&
        region_handles(editor.regions()[grip->region]).size() == 8 &&
        editor.regions()[grip->region].shape != RegionShape::polygon) {
        static constexpr std::array<ImGuiMouseCursor, 4> kCursors = {
            ImGuiMouseCursor_ResizeNWSE, ImGuiMouseCursor_ResizeNS, ImGuiMouseCursor_ResizeNESW,
            ImGuiMouseCursor_ResizeEW};
        ImGui::SetMouseCursor(kCursors[grip->index % 4]);
    } else if (grip->part >= RegionGrip::Part::handle) {
        ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeAll);
    } else if (tool_ == RegionTool::select) {
        const bool moves = grip->part == RegionGrip::Part::outline || grip->region == editor.selected();
        ImGui::SetMouseCursor(moves ? ImGuiMouseCursor_ResizeAll : ImGuiMouseCursor_Hand);
    }
}

} // namespace specklescope
