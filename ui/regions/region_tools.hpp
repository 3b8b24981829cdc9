// Drawing and editing regions with mouse and keys: translates gestures to edits. The set of regions belongs
// to the session (analysis/region_editor.hpp).
#pragma once

#include "config/keys/actions.hpp"
#include "session/session.hpp"
#include "ui/regions/line_panel.hpp"
#include "ui/regions/region_drawing.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace specklescope {

enum class RegionTool : std::uint8_t { select, rectangle, ellipse, polygon, freehand, line };

struct RegionToolInfo {
    RegionTool tool;
    Action action; ///< selects the tool
    const char* name;
};
/// Tools in the order of the enumeration.
std::span<const RegionToolInfo> region_tools();

/// Values of the newest result for display, updated a few times a second.
struct RegionNumbers {
    std::shared_ptr<const RegionValues> values; ///< null: none
    std::string unit;
    std::string assumed;        ///< assumed_text() of an assumed exposure; empty: the exposure is known
    double um_per_px = 0;       ///< 0: unknown
    std::uint64_t sequence = 0; ///< sequence number of the measured frame
    std::uint64_t version = 0;  ///< of the edits that made the values
    SteadyClock::time_point when{};
    bool stale = false; ///< Freshness::stale: no values
    void take(const Result& result, double um, bool old);
};

/// Field for a file of regions; ui/regions/region_files.cpp draws it.
struct RegionFileField {
    enum class Ask : std::uint8_t { nothing, save, load };
    Ask ask = Ask::nothing; ///< open it in this frame
    std::string path;       ///< typed path
    std::string folder;     ///< folder of the offered file name; empty: unchanged
    std::string error;      ///< reason why the file could not be read or written
    std::string replaces;   ///< the file that a second Enter replaces
};

/// Field for the name of a region, in its row of the table.
struct RegionNameField {
    bool asked = false;               ///< rename the selected region
    bool begins = false;              ///< it appears in this frame
    std::optional<std::size_t> index; ///< region whose name is edited
    std::string before;               ///< name of this region before the edit
    std::string name;                 ///< typed name
};

class RegionTools {
public:
    RegionTool tool() const { return tool_; }
    /// Selects a tool; the current tool again selects none.
    void choose(RegionTool tool);
    /// Reason why an action of regions (config/keys/actions.hpp) is not possible now, empty if it is; run()
    /// performs the action.
    std::string why_not(Action action, const Session& session) const;
    void run(Action action, Session& session);
    /// Empty unless a region is being drawn or dragged with the mouse.
    std::string why_held() const {
        return gesture_ == Gesture::drag || gesture_ == Gesture::draw ? "Release the mouse button first."
                                                                      : "";
    }
    /// Call after the item that contains the pictures. `hovered`: the mouse is over this item. `trail`:
    /// mouse path with the button down since the last frame. True if the mouse edits regions, so that it
    /// must not move the picture.
    bool mouse(const RegionViews& views, bool hovered, const std::vector<ImVec2>& trail, Session& session);
    void draw(const RegionViews& views, const Session& session) const;
    bool asks_for_field() const { return file.ask != RegionFileField::Ask::nothing || rename.asked; }
    /// Instruction or numbers for the status line; may be empty.
    std::string status(const Session& session) const;
    void say(std::string sentence);

    RegionFileField file;
    RegionNameField rename;
    bool any = false;    ///< the panel has shown regions
    bool reveal = false; ///< the section is to be scrolled into view
    RegionNumbers numbers;
    LinePanel line;
    int first_row = 0, end_row = 0;   ///< of the table in the last frame
    RegionEditor::Index row_selected; ///< selection when the table was last drawn

private:
    enum class Gesture : std::uint8_t { none, click, draw, corner, drag, done };
    void press(const RegionView& view, RegionEditor& editor);
    void hold(const RegionView& view, const std::vector<ImVec2>& trail, RegionEditor& editor);
    void release(const RegionView& view, RegionEditor& editor);
    void cursor(const RegionView& view, const RegionEditor& editor) const;
    void add_corner(const RegionPoint& pixel, double scale, RegionEditor& editor);
    /// Adds the drawn shape as a region.
    void finish(RegionEditor& editor);
    void give_up() {
        drawn_.clear();
        if (std::exchange(once_, false))
            tool_ = RegionTool::select;
    }
    std::string why_not_drawing(Action action, const RegionEditor& editor) const;
    void change_selected(Action action, std::size_t index, Session& session);
    void shift(Action action, std::size_t index, Session& session);
    void cancel(RegionEditor& editor);
    void put_in_the_middle(RegionEditor& editor);
    void draw_unfinished(const RegionView& view) const;

    RegionTool tool_ = RegionTool::select;
    bool once_ = false; ///< the tool is for the present drag only
    Gesture gesture_ = Gesture::none;
    bool moved_ = false;   ///< the mouse has moved far enough to start a drag
    std::size_t view_ = 0; ///< view in which the gesture began
    ImVec2 pressed_{};
    std::optional<RegionGrip> grip_;
    std::vector<RegionPoint> drawn_; ///< points of the unfinished shape
    RegionPoint mouse_;              ///< in image coordinates
    std::optional<Region> copied_;
    std::string said_;
    SteadyClock::time_point said_at_{};
};

/// Draws the column of tools next to the picture; its width is region_bar_width().
void draw_region_bar(const Rect& area, RegionTools& tools, const KeyBindings& keys);
float region_bar_width();
/// Draws the field for a file while it is open. `confirm`, `dismiss`: Enter and Escape in this frame.
void draw_region_files(Session& session, RegionFileField& file, bool confirm, bool dismiss);
/// True if the file has the extension of region files. It is then read, or the error is reported.
bool take_region_file(const std::string& path, Session& session);

} // namespace specklescope
