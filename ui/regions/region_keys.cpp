// What keys do with regions; `?` shows this list.
#include "base/error.hpp"
#include "ui/regions/region_tools.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <array>
#include <cctype>
#include <cmath>

namespace specklescope {

namespace {

/// The letter on the key in the user's layout; 0: none.
char letter_of(int key) {
    const char* name = key >= GLFW_KEY_SPACE && key < GLFW_KEY_ESCAPE ? glfwGetKeyName(key, 0) : nullptr;
    return name && name[1] == 0 ? static_cast<char>(std::tolower(static_cast<unsigned char>(name[0]))) : '\0';
}

} // namespace

std::span<const std::array<const char*, 2>> region_keys() {
    static constexpr std::array<std::array<const char*, 2>, 15> kKeys = {{
        {"B  C  L", "draw a rectangle, an ellipse, a line"},
        {"G  D", "draw a polygon, freehand"},
        {"V  Esc", "select again"},
        {"Shift", "square, circle, steps of 45°"},
        {"Enter", "close a polygon; put a shape in the middle"},
        {"N  Shift N", "next region, the one before"},
        {"Arrows", "move it by 1 px, with Shift by 10"},
        {"Ctrl arrows", "resize it"},
        {"Ctrl click", "take a corner out of a polygon"},
        {"Del", "delete it"},
        {"F2", "rename it"},
        {"Ctrl K  Ctrl L", "next colour; lock"},
        {"Ctrl D  C  V", "duplicate; copy, paste"},
        {"Ctrl Z  Y", "undo, redo"},
        {"Ctrl S  Ctrl Shift O", "save, load regions"},
    }};
    return kKeys;
}

bool RegionTools::drawing_key(const KeyPress& key, RegionEditor& editor) {
    switch (key.key) {
    case GLFW_KEY_ESCAPE:
        if (editor.dragging()) {
            editor.cancel_drag();
            gesture_ = Gesture::done;
        } else if (!drawn_.empty()) {
            give_up();
            gesture_ = Gesture::done;
        } else if (tool_ != RegionTool::select) {
            tool_ = RegionTool::select;
        } else if (editor.selected()) {
            editor.select({});
        } else {
            return false;
        }
        return true;
    case GLFW_KEY_ENTER:
    case GLFW_KEY_KP_ENTER:
        if (tool_ == RegionTool::select || gesture_ == Gesture::draw)
            return false;
        if (drawn_.empty())
            put_in_the_middle(editor);
        else
            finish(editor);
        return true;
    case GLFW_KEY_BACKSPACE:
        if (drawn_.empty() || tool_ != RegionTool::polygon)
            return false;
        drawn_.pop_back();
        return true;
    default:
        return false;
    }
}

/// Without a mouse: half as wide and high as the picture, to be moved and resized with the arrows.
void RegionTools::put_in_the_middle(RegionEditor& editor) {
    const double x0 = std::round(editor.width() * 0.25), y0 = std::round(editor.height() * 0.25);
    const double x1 = std::round(editor.width() * 0.75), y1 = std::round(editor.height() * 0.75);
    if (tool_ == RegionTool::polygon || tool_ == RegionTool::freehand)
        drawn_ = {{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}};
    else
        drawn_ = {{x0, y0}, {x1, y1}};
    finish(editor);
}

bool RegionTools::arrow(const KeyPress& key, RegionEditor& editor) {
    if (!editor.selected())
        return false;
    const double step = (key.modifiers & GLFW_MOD_SHIFT) != 0 ? 10 : 1;
    RegionPoint by;
    switch (key.key) {
    case GLFW_KEY_LEFT:
        by.x = -step;
        break;
    case GLFW_KEY_RIGHT:
        by.x = step;
        break;
    case GLFW_KEY_UP:
        by.y = -step;
        break;
    case GLFW_KEY_DOWN:
        by.y = step;
        break;
    default:
        return false;
    }
    const std::size_t index = *editor.selected();
    const bool done = (key.modifiers & GLFW_MOD_CONTROL) != 0 ? editor.resize(index, by.x, by.y)
                                                              : editor.move(index, by.x, by.y);
    if (!done)
        say(editor.regions()[index].locked ? "This region is locked; Ctrl L unlocks it."
                                           : "It would leave the picture, or have no size.");
    return true;
}

bool RegionTools::command(char letter, bool shift, Session& session) {
    RegionEditor& editor = session.regions;
    if (letter == 'z' || letter == 'y') {
        const bool redo = letter == 'y' || shift;
        if (!(redo ? editor.redo() : editor.undo()))
            say(redo ? "There is nothing to do again." : "There is nothing to undo.");
        return true;
    }
    if (letter == 's' || (letter == 'o' && shift)) {
        ask = letter == 's' ? Ask::save : Ask::load;
        return true;
    }
    if (letter == 'v' && copied_) {
        editor.paste(*copied_);
        return true;
    }
    if (!editor.selected())
        return false;
    const std::size_t index = *editor.selected();
    const Region& region = editor.regions()[index];
    switch (letter) {
    case 'd':
        editor.duplicate(index);
        return true;
    case 'c':
        copied_ = region;
        say("Region '" + region.name + "' is copied; Ctrl V puts another one in.");
        return true;
    case 'k': {
        const std::vector<std::string>& palette = region_palette();
        std::size_t next = 0;
        for (std::size_t i = 0; i < palette.size(); ++i)
            next = palette[i] == region_colour(region, index) ? (i + 1) % palette.size() : next;
        editor.recolour(index, palette[next]);
        return true;
    }
    case 'l':
        editor.lock(index, !region.locked);
        return true;
    default:
        return false;
    }
}

bool RegionTools::key(const KeyPress& key, Session& session) {
    RegionEditor& editor = session.regions;
    if (drawing_key(key, editor))
        return true;
    if (gesture_ == Gesture::drag || gesture_ == Gesture::draw)
        return false; // first the mouse
    try {
        if (arrow(key, editor))
            return true;
        if ((key.modifiers & GLFW_MOD_CONTROL) != 0)
            return command(letter_of(key.key), (key.modifiers & GLFW_MOD_SHIFT) != 0, session);
    } catch (const UsageError& error) {
        say(error.what());
        return true;
    }
    if (!editor.selected())
        return false;
    if (key.key == GLFW_KEY_DELETE || key.key == GLFW_KEY_BACKSPACE) {
        if (!editor.remove(*editor.selected()))
            say("This region is locked; Ctrl L unlocks it.");
        return true;
    }
    if (key.key == GLFW_KEY_F2) {
        rename = true;
        session.view().panel = true;
        return true;
    }
    return false;
}

bool RegionTools::character(unsigned character, Session& session) {
    if (character >= 128 || gesture_ == Gesture::drag || gesture_ == Gesture::draw)
        return false;
    const int letter = std::tolower(static_cast<int>(character));
    if (letter == 'n') {
        session.regions.select_next(character == 'N' ? -1 : 1);
        return true;
    }
    for (const RegionToolInfo& info : region_tools())
        if (info.key == letter) {
            if (info.tool != tool_)
                choose(info.tool);
            return true;
        }
    return false;
}

} // namespace specklescope
