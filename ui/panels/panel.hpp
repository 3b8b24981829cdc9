// Side panel, tool bar above the picture, status line below it.
#pragma once

#include "session/session.hpp"
#include "ui/canvas/display.hpp"
#include "ui/film.hpp"
#include "ui/histogram/histogram_panel.hpp"
#include "ui/panels/check_dialog.hpp"
#include "ui/panels/report_dialog.hpp"
#include "ui/panels/scale_dialog.hpp"
#include "ui/presets/preset_edits.hpp"
#include "ui/regions/region_tools.hpp"
#include "ui/sources/folder_dialog.hpp"

#include <functional>

namespace specklescope {

/// Choices of the window that are not stored.
struct ViewState {
    Camera camera;
    std::optional<bool> mark_saturated; ///< of raw pixels; unset: next to contrast and flow
    bool marks_saturated = true;        ///< they are marked now
    bool stretch_raw = true;
    bool change = false; ///< shows the picture as change against the baseline, if there is a baseline
    bool keys_open = false;
    bool messages_open = false;
    bool leave_asked = false;   ///< the window was closed during a recording
    bool about_asked = false;   ///< opens the dialog over the list of keys in this frame
    bool open_dialog = false;   ///< the dialog for a source is requested
    bool open_compares = false; ///< what it opens is compared with the present source
    enum class ToolbarRecords : std::uint8_t { processed, raw, both, screen };
    ToolbarRecords toolbar_records = ToolbarRecords::processed; ///< format that the record button begins
    bool snapshot = false;                                      ///< requested in this frame
    bool toggle_traces = false;                                 ///< requested in this frame
    bool presets_asked = false;                                 ///< requested in this frame
    /// Enter and Escape in this frame.
    bool confirm = false, dismiss = false;
    bool confirm_all = false; ///< Ctrl-Enter
    RegionTools regions;
    ScaleDialog scale;
    ReportDialog report;
    CheckDialog check;
    FolderDialog folder;
    HistogramPanel histogram;
    Film film;
    PresetMenu presets;
};

void draw_panel(const Rect& area, Session& session, ViewState& state, Display& display);
/// `menus(one)` draws the menus, or one button for all of them.
void draw_tool_bar(const Rect& area, Session& session, ViewState& state, const Display& display,
                   const std::function<void(bool one)>& menus);

/// Values under the mouse.
struct Hover {
    bool inside = false;
    int x = 0, y = 0;                 ///< raw pixel
    std::optional<double> raw, value; ///< grey; the luma of a colour image
    std::optional<Color> raw_color, color;
    std::optional<double> change;                 ///< against the baseline, in %
    bool stale = false;                           ///< Freshness::stale: no values
    std::optional<double> second_raw{}, second{}; ///< raw and value of the film that is compared
    PixelType second_type = PixelType::f32;       ///< of second_raw
};
/// `zoom`: screen pixels per image pixel.
void draw_status_bar(const Rect& area, Session& session, ViewState& state, const Hover& hover,
                     const Display& display, double zoom);

// Lines of the panel for the change against the baseline, and for the layout of the two pictures.

void draw_change_lines(Session& session, ViewState& state, const Display& display);
void draw_layout_lines(Session& session);

// Section of the panel with the controls of recordings and snapshots.

void draw_record(Session& session, ViewState& state);

} // namespace specklescope
