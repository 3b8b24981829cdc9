// Drawing and changing regions with mouse and keys: what a gesture is, and which edit it becomes. The set
// itself is the session's (analysis/region_editor.hpp).
#pragma once

#include "config/keys/actions.hpp"
#include "session/session.hpp"
#include "ui/regions/line_panel.hpp"
#include "ui/regions/region_drawing.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace specklescope {

enum class RegionTool : std::uint8_t { select, rectangle, ellipse, polygon, freehand, line };

struct RegionToolInfo {
    RegionTool tool;
    Action action; ///< that chooses it
    const char* name;
};
/// In the order of the enumeration.
std::span<const RegionToolInfo> region_tools();

/// What the window shows of the newest result, a few times a second.
struct RegionNumbers {
    std::shared_ptr<const RegionValues> values; ///< null: none
    std::string unit;
    std::string assumed;        ///< assumed_text() of an exposure that nobody gave; empty: it is known
    double um_per_px = 0;       ///< 0: unknown
    std::uint64_t sequence = 0; ///< of the frame that they are of
    SteadyClock::time_point when{};
    bool stale = false; ///< Freshness::stale: there are no values
    void take(const Result& result, double um, bool old);
};

class RegionTools {
public:
    /// Which file is asked for; ui/regions/region_files.cpp shows the field.
    enum class Ask : std::uint8_t { nothing, save, load };

    RegionTool tool() const { return tool_; }
    /// The one in use again: none.
    void choose(RegionTool tool);
    /// An action of regions (config/keys/actions.hpp): why it is not possible now, empty if it is; and to do
    /// it.
    std::string why_not(Action action, const Session& session) const;
    void run(Action action, Session& session);
    /// Behind the item on which the pictures lie, which is `hovered` or not; `trail`: where the mouse has
    /// been with its button down since the last frame. True if the mouse means regions: then it moves no
    /// picture.
    bool mouse(const RegionViews& views, bool hovered, const std::vector<ImVec2>& trail, Session& session);
    void draw(const RegionViews& views, const Session& session) const;
    bool asks_for_field() const { return ask != Ask::nothing || rename; }
    /// A sentence or numbers for the status line; empty: nothing to say.
    std::string status(const Session& session) const;
    void say(std::string sentence);

    Ask ask = Ask::nothing; ///< in this frame
    bool rename = false;    ///< of the selected one is asked for
    bool rename_begins = false;
    bool any = false;                   ///< the panel has shown some
    std::optional<std::size_t> renamed; ///< its name is being typed
    std::string renames;                ///< the name that the region has meanwhile
    std::string name;                   ///< typed
    std::string path;                   ///< typed
    std::string folder;                 ///< of the name that is offered then; empty: as it was
    std::string path_error;             ///< why it could not be read or written
    std::string replaces;               ///< the file that Enter once more replaces
    RegionNumbers numbers;
    LinePanel line;
    int first_row = 0, end_row = 0;   ///< of the table as it was last drawn
    RegionEditor::Index row_selected; ///< when the table was last drawn

private:
    enum class Gesture : std::uint8_t { none, click, draw, corner, drag, done };
    void press(const RegionView& view, RegionEditor& editor);
    void hold(const RegionView& view, const std::vector<ImVec2>& trail, RegionEditor& editor);
    void release(const RegionView& view, RegionEditor& editor);
    void cursor(const RegionView& view, const RegionEditor& editor) const;
    void add_corner(const RegionPoint& pixel, double scale, RegionEditor& editor);
    /// What is drawn becomes a region.
    void finish(RegionEditor& editor);
    void give_up() { drawn_.clear(); }
    std::string why_not_drawing(Action action, const RegionEditor& editor) const;
    void change_selected(Action action, std::size_t index, Session& session);
    void shift(Action action, std::size_t index, Session& session);
    void cancel(RegionEditor& editor);
    void put_in_the_middle(RegionEditor& editor);
    void draw_unfinished(const RegionView& view) const;

    RegionTool tool_ = RegionTool::select;
    Gesture gesture_ = Gesture::none;
    bool moved_ = false;   ///< far enough from where the mouse was pressed to mean it
    std::size_t view_ = 0; ///< in which the gesture began
    ImVec2 pressed_{};
    std::optional<RegionGrip> grip_;
    std::vector<RegionPoint> drawn_; ///< of the shape under way
    RegionPoint mouse_;              ///< in the picture
    std::optional<Region> copied_;
    std::string said_;
    SteadyClock::time_point said_at_{};
};

/// The column of tools beside the picture; as wide as region_bar_width().
void draw_region_bar(const Rect& area, RegionTools& tools, const KeyBindings& keys);
float region_bar_width();
/// The field for a file, while it is asked for. `confirm`, `dismiss`: Enter and Escape in this frame.
void draw_region_files(Session& session, RegionTools& tools, bool confirm, bool dismiss);
/// True if the file is one of regions by its ending; then it is read, or its error said.
bool take_region_file(const std::string& path, Session& session);

} // namespace specklescope
