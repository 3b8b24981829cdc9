#include "config/keys/actions.hpp"

#include <algorithm>

namespace specklescope {

namespace {

constexpr std::string_view kEditing = "Edit", kFrames = "Frames", kPicture = "Image", kProgram = "Program",
                           kTraces = "Traces of regions", kRegions = "Regions",
                           kSelected = "The selected region", kDrawing = "While a region is drawn";

// Paths in the menu.
constexpr std::string_view kFile = "File", kExport = "File/Export film", kSettings = "File/Settings",
                           kEdit = "Edit", kView = "View", kCompare = "View/Compare side by side",
                           kLayers = "View/Divider and blend", kZoom = "View/Zoom",
                           kColours = "View/Colours and range", kFilm = "Film", kRecord = "Record",
                           kLabelled = "Record/Event with a label", kOfRegions = "Regions",
                           kMove = "Regions/Move and resize", kHelp = "Help", kNoMenu{};

} // namespace

const std::vector<ActionInfo>& actions() {
    using enum KeyPlace;
    using enum ActionFiles;
    // clang-format off
    static const std::vector<ActionInfo> rows = {
        {Action::undo, "undo", "Undo the last edit", kEditing, kEdit, "Ctrl+Z"},
        {Action::redo, "redo", "Redo the edit that was undone", kEditing, kEdit, "Ctrl+Y Ctrl+Shift+Z"},
        {Action::history, "history", "List the edits, to return to one", kEditing, kEdit, "Ctrl+H"},
        {Action::compare, "compare", "Compare with the result before the last edit", kEditing, kEdit, "Ctrl+B"},
        {Action::pause, "pause", "Pause or resume; restart at the end", kFrames, kFilm, "Space"},
        {Action::step_back, "step_back", "One frame back", kFrames, kFilm, "Left ,"},
        {Action::step, "step", "One frame forward", kFrames, kFilm, "Right ."},
        {Action::jump_back, "jump_back", "Ten frames back", kFrames, kFilm, "Shift+Left"},
        {Action::jump, "jump", "Ten frames forward", kFrames, kFilm, "Shift+Right"},
        {Action::first_frame, "first_frame", "First frame", kFrames, kFilm, "Ctrl+Home"},
        {Action::last_frame, "last_frame", "Last frame", kFrames, kFilm, "Ctrl+End"},
        {Action::loop, "loop", "Loop on or off", kFrames, kFilm, "J"},
        {Action::mark_in, "mark_in", "Start the loop here", kFrames, kFilm, "I"},
        {Action::mark_out, "mark_out", "End the loop here", kFrames, kFilm, "U"},
        {Action::slower, "slower", "Play slower", kFrames, kFilm, "Ctrl+Down"},
        {Action::faster, "faster", "Play faster", kFrames, kFilm, "Ctrl+Up"},
        {Action::show_processed, "show_processed", "Show the result", kPicture, kView, "1"},
        {Action::show_raw, "show_raw", "Show the raw image", kPicture, kView, "2"},
        {Action::show_both, "show_both", "Show result and raw image side by side", kPicture, kView, "3"},
        {Action::show_split, "show_split", "Show both with a divider", kPicture, kView, "4"},
        {Action::show_blended, "show_blended", "Blend the result over the raw image", kPicture, kView, "5"},
        {Action::next_layout, "next_layout", "Next layout", kPicture, kView, "Tab"},
        {Action::layers_left, "layers_left", "Divider left, or lower blend threshold", kPicture, kLayers, "Alt+Left"},
        {Action::layers_right, "layers_right", "Divider right, or higher blend threshold", kPicture, kLayers, "Alt+Right"},
        {Action::more_opaque, "more_opaque", "Blend: result more opaque", kPicture, kLayers, "Alt+Up"},
        {Action::less_opaque, "less_opaque", "Blend: result less opaque", kPicture, kLayers, "Alt+Down"},
        {Action::compare_recording, "compare_recording", "Compare with another recording", kPicture, kCompare, "Shift+O"},
        {Action::compare_settings, "compare_settings", "Compare settings: keep these, edit others", kPicture, kCompare, "Ctrl+Shift+B"},
        {Action::end_compare, "end_compare", "End the comparison", kPicture, kCompare, "Ctrl+W"},
        {Action::zoom_in, "zoom_in", "Zoom in", kPicture, kZoom, "+"},
        {Action::zoom_out, "zoom_out", "Zoom out", kPicture, kZoom, "-"},
        {Action::fit, "fit", "Fit the image into the window", kPicture, kZoom, "F"},
        {Action::one_to_one, "one_to_one", "Zoom to 1:1", kPicture, kZoom, "0"},
        {Action::next_colormap, "next_colormap", "Next colour map", kPicture, kColours, "M"},
        {Action::automatic_range, "automatic_range", "Automatic range on or off", kPicture, kColours, "A"},
        {Action::histogram, "histogram", "Show or hide the histogram", kPicture, kColours, "H"},
        {Action::lower_low, "lower_low", "Lower the low end of the range", kPicture, kColours, "("},
        {Action::raise_low, "raise_low", "Raise the low end of the range", kPicture, kColours, ")"},
        {Action::lower_high, "lower_high", "Lower the high end of the range", kPicture, kColours, "{"},
        {Action::raise_high, "raise_high", "Raise the high end of the range", kPicture, kColours, "}"},
        {Action::darker, "darker", "Darker by half a stop", kPicture, kColours, "["},
        {Action::brighter, "brighter", "Brighter by half a stop", kPicture, kColours, "]"},
        {Action::smaller_window, "smaller_window", "Smaller radius of the first window", kPicture, kEdit, "<"},
        {Action::larger_window, "larger_window", "Larger radius of the first window", kPicture, kEdit, ">"},
        {Action::mark_saturated, "mark_saturated", "Mark saturated raw pixels", kPicture, kView, "X"},
        {Action::pixel_size, "pixel_size", "Set the pixel size in µm", kPicture, kView, "K"},
        {Action::change, "change", "Show ΔF/F₀, or absolute units", kPicture, kView, "Y"},
        {Action::baseline_picture, "baseline_picture", "Take the baseline F₀ of the image, or end it", kPicture, kEdit, "Shift+Y"},
        {Action::open, "open", "Open a source", kProgram, kFile, "O Ctrl+O"},
        {Action::save_traces, "save_traces", "Save trace of the whole film (CSV)", kProgram, kFile, "Ctrl+Shift+T", anywhere, writes},
        {Action::copy_traces, "copy_traces", "Copy trace to the clipboard", kProgram, kFile, "Ctrl+Shift+C"},
        {Action::save_plot, "save_plot", "Save plot of the traces (PNG, SVG, PDF)", kProgram, kFile, "Ctrl+Shift+P", anywhere, writes},
        {Action::export_results, "export_results", "Results of the whole film (TIFF)", kProgram, kExport, "Ctrl+Shift+E", anywhere, writes},
        {Action::export_change, "export_change", "Movie of the change from the baseline (MKV)", kProgram, kExport, "Ctrl+Shift+Y", anywhere, writes},
        {Action::export_screen, "export_screen", "Movie of the view (MKV)", kProgram, kExport, "Ctrl+Shift+R", anywhere, writes},
        {Action::snapshot, "snapshot", "Save a snapshot", kProgram, kFile, "S", anywhere, writes},
        {Action::record, "record", "Record results", kProgram, kRecord, "R", anywhere, writes},
        {Action::record_raw, "record_raw", "Record raw frames", kProgram, kRecord, "W", anywhere, writes},
        {Action::record_traces, "record_traces", "Record traces of the regions", kProgram, kRecord, "Ctrl+T", anywhere, writes},
        {Action::record_screen, "record_screen", "Record a screen movie", kProgram, kRecord, "Shift+R", anywhere, writes},
        {Action::report, "report", "Write a report: PDF, PNG and CSV", kProgram, kFile, "Ctrl+R", anywhere, writes},
        {Action::check_recording, "check_recording", "Check this recording for faults", kProgram, kFile, "Ctrl+Shift+K"},
        {Action::calibrate_camera, "calibrate_camera", "Calibrate a camera: gain, noise, β", kProgram, kFile, "Ctrl+Shift+L"},
        {Action::palette, "palette", "Find anything by name", kProgram, kHelp, "Ctrl+P"},
        {Action::menu, "menu", "Open the menu", kProgram, kNoMenu, "F10 Alt"},
        {Action::keys, "keys", "List the keys", kProgram, kHelp, "?"},
        {Action::controls, "controls", "Move through the controls with the arrows", kProgram, kView, "F6"},
        {Action::statistics, "statistics", "Show statistics on the image", kProgram, kView, "F1"},
        {Action::panel, "panel", "Show or hide the side panel", kProgram, kView, "P"},
        {Action::full_screen, "full_screen", "Full screen", kProgram, kView, "F11"},
        {Action::larger_text, "larger_text", "Larger text and controls", kProgram, kSettings, "Ctrl+= Ctrl++"},
        {Action::smaller_text, "smaller_text", "Smaller text and controls", kProgram, kSettings, "Ctrl+-"},
        {Action::quit, "quit", "Quit", kProgram, kFile, "Ctrl+Q"},
        {Action::presets, "presets", "Presets: load, save, compare, delete", kProgram, kSettings, "Ctrl+M"},
        {Action::acknowledge, "acknowledge", "Acknowledge the alarms", kProgram, kView, "F8"},
        {Action::messages, "messages", "Show all messages", kProgram, kView, "F7"},
        {Action::monitor, "monitor", "Monitor mode on or off", kProgram, kView, "F12"},
        {Action::traces, "traces", "Show or hide the traces", kTraces, kView, "T"},
        {Action::baseline, "baseline", "Take the baseline F₀ of the regions", kTraces, kEdit, "Z"},
        {Action::relative, "relative", "Plot ΔF/F₀, or absolute units", kTraces, kView, "%"},
        {Action::intervals, "intervals", "Edit the intervals: baseline and responses", kTraces, kEdit, "Ctrl+I"},
        {Action::delete_interval, "delete_interval", "Delete the chosen interval", kTraces, kEdit, "Delete", chosen_interval},
        {Action::response, "response", "Show the responses in the intervals", kTraces, kView, "Ctrl+Shift+I"},
        {Action::event, "event", "Mark an event", kTraces, kRecord, "E"},
        {Action::event_1, "event_1", "Mark an event with the first label", kTraces, kLabelled, "Ctrl+1"},
        {Action::event_2, "event_2", "Mark an event with the second label", kTraces, kLabelled, "Ctrl+2"},
        {Action::event_3, "event_3", "Mark an event with the third label", kTraces, kLabelled, "Ctrl+3"},
        {Action::event_4, "event_4", "Mark an event with the fourth label", kTraces, kLabelled, "Ctrl+4"},
        {Action::event_5, "event_5", "Mark an event with the fifth label", kTraces, kLabelled, "Ctrl+5"},
        {Action::event_6, "event_6", "Mark an event with the sixth label", kTraces, kLabelled, "Ctrl+6"},
        {Action::event_7, "event_7", "Mark an event with the seventh label", kTraces, kLabelled, "Ctrl+7"},
        {Action::event_8, "event_8", "Mark an event with the eighth label", kTraces, kLabelled, "Ctrl+8"},
        {Action::event_9, "event_9", "Mark an event with the ninth label", kTraces, kLabelled, "Ctrl+9"},
        {Action::follow, "follow", "Follow the newest frames", kTraces, kView, "End"},
        {Action::whole_run, "whole_run", "Show the whole run", kTraces, kView, "Home"},
        {Action::whole_film, "whole_film", "Process the whole film, or cancel it", kTraces, kFilm, "Shift+K"},
        {Action::select_tool, "select_tool", "Select regions", kRegions, kOfRegions, "V"},
        {Action::rectangle_tool, "rectangle_tool", "Draw a rectangle", kRegions, kOfRegions, "B"},
        {Action::ellipse_tool, "ellipse_tool", "Draw an ellipse", kRegions, kOfRegions, "C"},
        {Action::line_tool, "line_tool", "Draw a line", kRegions, kOfRegions, "L"},
        {Action::polygon_tool, "polygon_tool", "Draw a polygon", kRegions, kOfRegions, "G"},
        {Action::freehand_tool, "freehand_tool", "Draw freehand", kRegions, kOfRegions, "D"},
        {Action::next_region, "next_region", "Next region", kRegions, kOfRegions, "N"},
        {Action::previous_region, "previous_region", "Previous region", kRegions, kOfRegions, "Shift+N"},
        {Action::paste_region, "paste_region", "Paste a region", kRegions, kOfRegions, "Ctrl+V"},
        {Action::save_regions, "save_regions", "Save regions to a file", kRegions, kOfRegions, "Ctrl+S", anywhere, writes},
        {Action::load_regions, "load_regions", "Load regions from a file", kRegions, kOfRegions, "Ctrl+Shift+O", anywhere, reads},
        {Action::move_left, "move_left", "Move left by 1 px", kSelected, kMove, "Left", selected_region},
        {Action::move_right, "move_right", "Move right by 1 px", kSelected, kMove, "Right", selected_region},
        {Action::move_up, "move_up", "Move up by 1 px", kSelected, kMove, "Up", selected_region},
        {Action::move_down, "move_down", "Move down by 1 px", kSelected, kMove, "Down", selected_region},
        {Action::move_far_left, "move_far_left", "Move left by 10 px", kSelected, kMove, "Shift+Left", selected_region},
        {Action::move_far_right, "move_far_right", "Move right by 10 px", kSelected, kMove, "Shift+Right", selected_region},
        {Action::move_far_up, "move_far_up", "Move up by 10 px", kSelected, kMove, "Shift+Up", selected_region},
        {Action::move_far_down, "move_far_down", "Move down by 10 px", kSelected, kMove, "Shift+Down", selected_region},
        {Action::narrower, "narrower", "Make narrower", kSelected, kMove, "Ctrl+Left", selected_region},
        {Action::wider, "wider", "Make wider", kSelected, kMove, "Ctrl+Right", selected_region},
        {Action::lower, "lower", "Make lower", kSelected, kMove, "Ctrl+Up", selected_region},
        {Action::higher, "higher", "Make higher", kSelected, kMove, "Ctrl+Down", selected_region},
        {Action::delete_region, "delete_region", "Delete", kSelected, kOfRegions, "Delete Backspace", selected_region},
        {Action::rename_region, "rename_region", "Rename", kSelected, kOfRegions, "F2", selected_region},
        {Action::recolour_region, "recolour_region", "Next colour", kSelected, kOfRegions, "Ctrl+K", selected_region},
        {Action::lock_region, "lock_region", "Lock or unlock", kSelected, kOfRegions, "Ctrl+L", selected_region},
        {Action::duplicate_region, "duplicate_region", "Duplicate", kSelected, kOfRegions, "Ctrl+D", selected_region},
        {Action::copy_region, "copy_region", "Copy", kSelected, kOfRegions, "Ctrl+C", selected_region},
        {Action::finish_shape, "finish_shape", "Close a polygon; put a shape in the middle", kDrawing, kNoMenu, "Enter", drawing},
        {Action::drop_corner, "drop_corner", "Remove the last corner of a polygon", kDrawing, kNoMenu, "Backspace", drawing},
        {Action::cancel, "cancel", "Cancel; select tool; clear the selection", kDrawing, kNoMenu, "Escape", drawing},
    };
    // clang-format on
    return rows;
}

const std::vector<std::string_view>& menus() {
    static const std::vector<std::string_view> names = {kFile,   kEdit,      kView, kFilm,
                                                        kRecord, kOfRegions, kHelp};
    return names;
}

const ActionInfo& info(Action action) { return actions()[static_cast<std::size_t>(action)]; }

const ActionInfo* find_action(std::string_view name) {
    const auto& all = actions();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const ActionInfo& row) { return row.name == name; });
    return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> action_names() {
    std::vector<std::string> names;
    for (const ActionInfo& row : actions())
        names.emplace_back(row.name);
    return names;
}

} // namespace specklescope
