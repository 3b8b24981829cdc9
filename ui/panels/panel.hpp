// The side panel, the tool bar above the picture and the status line below it.
#pragma once

#include "session/session.hpp"
#include "ui/canvas/display.hpp"
#include "ui/film.hpp"
#include "ui/histogram/histogram_panel.hpp"
#include "ui/panels/scale_dialog.hpp"
#include "ui/presets/preset_edits.hpp"
#include "ui/regions/region_tools.hpp"
#include "ui/sources/folder_dialog.hpp"

namespace specklescope {

/// Choices of the window that are not worth remembering.
struct ViewState {
    Camera camera;
    std::optional<bool> mark_saturated; ///< of raw pixels; unset: next to contrast and flow
    bool marks_saturated = true;        ///< they are marked now
    bool stretch_raw = true;
    bool change = false; ///< the picture as change against the baseline, once there is one
    bool keys_open = false;
    bool about_asked = false; ///< in this frame, over the list of keys
    bool open_dialog = false; ///< the field for a source is asked for
    std::string open_text;
    enum class ToolbarRecords : std::uint8_t { processed, raw, both, screen };
    ToolbarRecords toolbar_records = ToolbarRecords::processed; ///< what its button begins
    bool open_recorded = true;                                  ///< a recording brings its settings
    bool snapshot = false;                                      ///< asked for in this frame
    bool report = false;                                        ///< likewise
    bool toggle_traces = false;                                 ///< likewise
    bool presets_asked = false;                                 ///< likewise
    /// Enter and Escape in this frame.
    bool confirm = false, dismiss = false;
    RegionTools regions;
    ScaleDialog scale;
    FolderDialog folder;
    HistogramPanel histogram;
    Film film;
    PresetMenu presets;
};

void draw_panel(const Rect& area, Session& session, ViewState& state, Display& display);
void draw_tool_bar(const Rect& area, Session& session, ViewState& state, const Display& display);

/// What is under the mouse.
struct Hover {
    bool inside = false;
    int x = 0, y = 0;                 ///< raw pixel
    std::optional<double> raw, value; ///< grey, of colours their luma
    std::optional<Color> raw_color, color;
    std::optional<double> change; ///< against the baseline, %
    bool lost = false;            ///< Session::source_lost(): there are no values
};
/// `zoom`: pixels of the screen for one of the picture. `said`: what stands there instead of the values under
/// the mouse, if anything.
void draw_status_bar(const Rect& area, Session& session, const Hover& hover, const Display& display,
                     double zoom, const std::string& said);

// The lines of the panel for the change against the baseline, and for how the two pictures are laid together.

void draw_change_lines(Session& session, ViewState& state, const Display& display);
void draw_layout_lines(Session& session);

// The section of the panel from which recordings and snapshots begin.

void draw_record(Session& session, ViewState& state);

} // namespace specklescope
