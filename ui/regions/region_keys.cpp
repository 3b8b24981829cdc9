// Functions and conditions of the region actions.
#include "base/error.hpp"
#include "config/keys/bindings.hpp"
#include "ui/regions/region_tools.hpp"

#include <algorithm>
#include <cmath>

namespace specklescope {

namespace {

std::string locked_text(Session& session) {
    const std::string keys = keys_text(session.settings().keys, Action::lock_region);
    return keys.empty() ? "This region is locked." : "This region is locked; " + keys + " unlocks it.";
}

bool of_selected(Action action) { return info(action).place == KeyPlace::selected_region; }

} // namespace

std::string RegionTools::why_not_drawing(Action action, const RegionEditor& editor) const {
    switch (action) {
    case Action::finish_shape:
        return tool_ == RegionTool::select || gesture_ == Gesture::draw ? "No drawing tool is chosen." : "";
    case Action::drop_corner:
        return drawn_.empty() || tool_ != RegionTool::polygon ? "No polygon is being drawn." : "";
    default:
        return editor.dragging() || !drawn_.empty() || tool_ != RegionTool::select || editor.selected()
                   ? ""
                   : "Nothing is drawn or selected.";
    }
}

std::string RegionTools::why_not(Action action, const Session& session) const {
    const RegionEditor& editor = session.regions;
    if (info(action).place == KeyPlace::drawing)
        return why_not_drawing(action, editor);
    if (std::string held = why_held(); !held.empty())
        return held;
    if (of_selected(action))
        return editor.selected() ? "" : "No region is selected.";
    switch (action) {
    case Action::paste_region:
        return copied_ ? "" : "No region was copied.";
    case Action::next_region:
    case Action::previous_region:
    case Action::save_regions:
        return editor.regions().empty() ? "There are no regions." : "";
    default:
        return "";
    }
}

void RegionTools::run(Action action, Session& session) {
    RegionEditor& editor = session.regions;
    try {
        if (of_selected(action))
            return change_selected(action, *editor.selected(), session);
        switch (action) {
        case Action::finish_shape:
            return drawn_.empty() ? put_in_the_middle(editor) : finish(editor);
        case Action::drop_corner:
            return drawn_.pop_back();
        case Action::cancel:
            return cancel(editor);
        case Action::paste_region:
            return editor.paste(*copied_);
        case Action::save_regions:
        case Action::load_regions:
            file.ask =
                action == Action::save_regions ? RegionFileField::Ask::save : RegionFileField::Ask::load;
            return;
        case Action::next_region:
        case Action::previous_region:
            return editor.select_next(action == Action::next_region ? 1 : -1);
        default:
            for (const RegionToolInfo& tool : region_tools())
                if (tool.action == action && tool.tool != tool_)
                    return choose(tool.tool);
        }
    } catch (const UsageError& error) {
        say(error.what());
    }
}

void RegionTools::cancel(RegionEditor& editor) {
    if (editor.dragging()) {
        editor.cancel_drag();
        gesture_ = Gesture::done;
    } else if (!drawn_.empty()) {
        give_up();
        gesture_ = Gesture::done;
    } else if (tool_ != RegionTool::select) {
        tool_ = RegionTool::select;
    } else {
        editor.select({});
    }
}

/// Adds a region without a mouse: half as wide and high as the picture, to be moved and resized with the
/// arrows.
void RegionTools::put_in_the_middle(RegionEditor& editor) {
    const double x0 = std::round(editor.width() * 0.25), y0 = std::round(editor.height() * 0.25);
    const double x1 = std::round(editor.width() * 0.75), y1 = std::round(editor.height() * 0.75);
    if (tool_ == RegionTool::polygon || tool_ == RegionTool::freehand)
        drawn_ = {{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}};
    else
        drawn_ = {{x0, y0}, {x1, y1}};
    finish(editor);
}

void RegionTools::shift(Action action, std::size_t index, Session& session) {
    RegionEditor& editor = session.regions;
    constexpr double kFar = 10;
    struct Way {
        Action action;
        double dx, dy;
    };
    static constexpr Way kMoves[] = {{Action::move_left, -1, 0},        {Action::move_right, 1, 0},
                                     {Action::move_up, 0, -1},          {Action::move_down, 0, 1},
                                     {Action::move_far_left, -kFar, 0}, {Action::move_far_right, kFar, 0},
                                     {Action::move_far_up, 0, -kFar},   {Action::move_far_down, 0, kFar}};
    static constexpr Way kSizes[] = {
        {Action::narrower, -1, 0}, {Action::wider, 1, 0}, {Action::lower, 0, -1}, {Action::higher, 0, 1}};
    const auto is = [&](const Way& way) { return way.action == action; };
    bool done = true;
    if (const auto move = std::find_if(std::begin(kMoves), std::end(kMoves), is); move != std::end(kMoves))
        done = editor.move(index, move->dx, move->dy);
    else if (const auto size = std::find_if(std::begin(kSizes), std::end(kSizes), is);
             size != std::end(kSizes))
        done = editor.resize(index, size->dx, size->dy);
    if (!done)
        say(editor.regions()[index].locked ? locked_text(session)
                                           : "The region would leave the image, or have no size.");
}

void RegionTools::change_selected(Action action, std::size_t index, Session& session) {
    RegionEditor& editor = session.regions;
    const Region& region = editor.regions()[index];
    switch (action) {
    case Action::delete_region:
        if (!editor.remove(index))
            say(locked_text(session));
        return;
    case Action::rename_region:
        rename.asked = true;
        session.view().panel = true;
        return;
    case Action::recolour_region: {
        const std::vector<std::string>& palette = region_palette();
        std::size_t next = 0;
        for (std::size_t i = 0; i < palette.size(); ++i)
            next = palette[i] == region_colour(region, index) ? (i + 1) % palette.size() : next;
        return editor.recolour(index, palette[next]);
    }
    case Action::lock_region:
        return editor.lock(index, !region.locked);
    case Action::duplicate_region:
        return editor.duplicate(index);
    case Action::copy_region:
        copied_ = region;
        return say("Region '" + region.name + "' is copied.");
    default:
        return shift(action, index, session);
    }
}

} // namespace specklescope
