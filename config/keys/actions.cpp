#include "config/keys/actions.hpp"

#include <algorithm>

namespace specklescope {

namespace {

constexpr std::string_view kFrames = "Frames", kPicture = "Picture", kProgram = "Program",
                           kTraces = "Traces of regions", kRegions = "Regions",
                           kSelected = "The selected region", kDrawing = "While a region is drawn";

} // namespace

const std::vector<ActionInfo>& actions() {
    using enum KeyPlace;
    using enum ActionFiles;
    // clang-format off
    static const std::vector<ActionInfo> rows = {
        {Action::pause, "pause", "pause, go on, play again", kFrames, "Space"},
        {Action::step_back, "step_back", "one frame back", kFrames, "Left ,"},
        {Action::step, "step", "one frame on", kFrames, "Right ."},
        {Action::jump_back, "jump_back", "ten frames back", kFrames, "Shift+Left"},
        {Action::jump, "jump", "ten frames on", kFrames, "Shift+Right"},
        {Action::first_frame, "first_frame", "first frame", kFrames, "Ctrl+Home"},
        {Action::last_frame, "last_frame", "last frame", kFrames, "Ctrl+End"},
        {Action::loop, "loop", "loop on, off", kFrames, "J"},
        {Action::mark_in, "mark_in", "the loop begins here", kFrames, "I"},
        {Action::mark_out, "mark_out", "the loop ends here", kFrames, "U"},
        {Action::slower, "slower", "play slower", kFrames, "Ctrl+Down"},
        {Action::faster, "faster", "play faster", kFrames, "Ctrl+Up"},
        {Action::show_processed, "show_processed", "show the processed picture", kPicture, "1"},
        {Action::show_raw, "show_raw", "show the raw picture", kPicture, "2"},
        {Action::show_both, "show_both", "show both, side by side", kPicture, "3"},
        {Action::show_split, "show_split", "show both in one place, with a divider", kPicture, "4"},
        {Action::show_blended, "show_blended", "show the result through the raw picture", kPicture, "5"},
        {Action::next_layout, "next_layout", "the next of these", kPicture, "Tab"},
        {Action::layers_left, "layers_left", "divider to the left; lower threshold of the blend", kPicture, "Alt+Left"},
        {Action::layers_right, "layers_right", "divider to the right; higher threshold", kPicture, "Alt+Right"},
        {Action::more_opaque, "more_opaque", "blend: the result more opaque", kPicture, "Alt+Up"},
        {Action::less_opaque, "less_opaque", "blend: the result less opaque", kPicture, "Alt+Down"},
        {Action::zoom_in, "zoom_in", "zoom in", kPicture, "+"},
        {Action::zoom_out, "zoom_out", "zoom out", kPicture, "-"},
        {Action::fit, "fit", "fit the picture into the window", kPicture, "F"},
        {Action::one_to_one, "one_to_one", "1:1, pixel on pixel", kPicture, "0"},
        {Action::next_colormap, "next_colormap", "next colour map", kPicture, "M"},
        {Action::automatic_range, "automatic_range", "automatic range", kPicture, "A"},
        {Action::histogram, "histogram", "show or hide the histogram", kPicture, "H"},
        {Action::lower_low, "lower_low", "low end of the range further down", kPicture, "("},
        {Action::raise_low, "raise_low", "low end of the range further up", kPicture, ")"},
        {Action::lower_high, "lower_high", "high end of the range further down", kPicture, "{"},
        {Action::raise_high, "raise_high", "high end of the range further up", kPicture, "}"},
        {Action::darker, "darker", "darker by half a stop", kPicture, "["},
        {Action::brighter, "brighter", "brighter by half a stop", kPicture, "]"},
        {Action::smaller_window, "smaller_window", "smaller radius of the first window", kPicture, "<"},
        {Action::larger_window, "larger_window", "larger radius of the first window", kPicture, ">"},
        {Action::mark_saturated, "mark_saturated", "mark saturated raw pixels", kPicture, "X"},
        {Action::pixel_size, "pixel_size", "how large a pixel is, in µm", kPicture, "K"},
        {Action::change, "change", "the picture in ΔF/F₀, or in absolute units", kPicture, "Y"},
        {Action::baseline_picture, "baseline_picture", "take the baseline F₀ of the picture, or end it", kPicture, "Shift+Y"},
        {Action::open, "open", "open a source", kProgram, "O Ctrl+O"},
        {Action::snapshot, "snapshot", "snapshot", kProgram, "S", anywhere, writes},
        {Action::record, "record", "record the processed picture", kProgram, "R", anywhere, writes},
        {Action::record_raw, "record_raw", "record the raw picture", kProgram, "W", anywhere, writes},
        {Action::record_traces, "record_traces", "record the traces of the regions", kProgram, "Ctrl+T", anywhere, writes},
        {Action::record_screen, "record_screen", "record a movie of the screen", kProgram, "Shift+R", anywhere, writes},
        {Action::report, "report", "report: PDF, PNG and CSV", kProgram, "Ctrl+R", anywhere, writes},
        {Action::palette, "palette", "find anything by its name", kProgram, "Ctrl+P"},
        {Action::keys, "keys", "this list of keys", kProgram, "?"},
        {Action::controls, "controls", "walk through the controls with the arrows", kProgram, "F6"},
        {Action::statistics, "statistics", "statistics on the picture", kProgram, "F1"},
        {Action::panel, "panel", "side panel", kProgram, "P"},
        {Action::full_screen, "full_screen", "full screen", kProgram, "F11"},
        {Action::larger_text, "larger_text", "larger text and controls", kProgram, "Ctrl+= Ctrl++"},
        {Action::smaller_text, "smaller_text", "smaller text and controls", kProgram, "Ctrl+-"},
        {Action::quit, "quit", "quit", kProgram, "Ctrl+Q"},
        {Action::presets, "presets", "presets: load, save, compare, delete", kProgram, "Ctrl+M"},
        {Action::traces, "traces", "show or hide the traces", kTraces, "T"},
        {Action::baseline, "baseline", "take the baseline F₀", kTraces, "Z"},
        {Action::relative, "relative", "ΔF/F₀, or absolute units", kTraces, "%"},
        {Action::event, "event", "mark an event", kTraces, "E"},
        {Action::event_1, "event_1", "event with the first label given", kTraces, "Ctrl+1"},
        {Action::event_2, "event_2", "event with the second label given", kTraces, "Ctrl+2"},
        {Action::event_3, "event_3", "event with the third label given", kTraces, "Ctrl+3"},
        {Action::event_4, "event_4", "event with the fourth label given", kTraces, "Ctrl+4"},
        {Action::event_5, "event_5", "event with the fifth label given", kTraces, "Ctrl+5"},
        {Action::event_6, "event_6", "event with the sixth label given", kTraces, "Ctrl+6"},
        {Action::event_7, "event_7", "event with the seventh label given", kTraces, "Ctrl+7"},
        {Action::event_8, "event_8", "event with the eighth label given", kTraces, "Ctrl+8"},
        {Action::event_9, "event_9", "event with the ninth label given", kTraces, "Ctrl+9"},
        {Action::follow, "follow", "follow the newest", kTraces, "End"},
        {Action::whole_run, "whole_run", "show the whole run", kTraces, "Home"},
        {Action::select_tool, "select_tool", "select regions", kRegions, "V"},
        {Action::rectangle_tool, "rectangle_tool", "draw a rectangle", kRegions, "B"},
        {Action::ellipse_tool, "ellipse_tool", "draw an ellipse", kRegions, "C"},
        {Action::line_tool, "line_tool", "draw a line", kRegions, "L"},
        {Action::polygon_tool, "polygon_tool", "draw a polygon", kRegions, "G"},
        {Action::freehand_tool, "freehand_tool", "draw freehand", kRegions, "D"},
        {Action::next_region, "next_region", "next region", kRegions, "N"},
        {Action::previous_region, "previous_region", "region before", kRegions, "Shift+N"},
        {Action::undo, "undo", "undo", kRegions, "Ctrl+Z"},
        {Action::redo, "redo", "redo", kRegions, "Ctrl+Y Ctrl+Shift+Z"},
        {Action::paste_region, "paste_region", "paste a region", kRegions, "Ctrl+V"},
        {Action::save_regions, "save_regions", "save the regions to a file", kRegions, "Ctrl+S", anywhere, writes},
        {Action::load_regions, "load_regions", "load regions from a file", kRegions, "Ctrl+Shift+O", anywhere, reads},
        {Action::move_left, "move_left", "move it left by 1 px", kSelected, "Left", selected_region},
        {Action::move_right, "move_right", "move it right by 1 px", kSelected, "Right", selected_region},
        {Action::move_up, "move_up", "move it up by 1 px", kSelected, "Up", selected_region},
        {Action::move_down, "move_down", "move it down by 1 px", kSelected, "Down", selected_region},
        {Action::move_far_left, "move_far_left", "move it left by 10 px", kSelected, "Shift+Left", selected_region},
        {Action::move_far_right, "move_far_right", "move it right by 10 px", kSelected, "Shift+Right", selected_region},
        {Action::move_far_up, "move_far_up", "move it up by 10 px", kSelected, "Shift+Up", selected_region},
        {Action::move_far_down, "move_far_down", "move it down by 10 px", kSelected, "Shift+Down", selected_region},
        {Action::narrower, "narrower", "make it narrower", kSelected, "Ctrl+Left", selected_region},
        {Action::wider, "wider", "make it wider", kSelected, "Ctrl+Right", selected_region},
        {Action::lower, "lower", "make it lower", kSelected, "Ctrl+Up", selected_region},
        {Action::higher, "higher", "make it higher", kSelected, "Ctrl+Down", selected_region},
        {Action::delete_region, "delete_region", "delete it", kSelected, "Delete Backspace", selected_region},
        {Action::rename_region, "rename_region", "rename it", kSelected, "F2", selected_region},
        {Action::recolour_region, "recolour_region", "give it the next colour", kSelected, "Ctrl+K", selected_region},
        {Action::lock_region, "lock_region", "lock or unlock it", kSelected, "Ctrl+L", selected_region},
        {Action::duplicate_region, "duplicate_region", "duplicate it", kSelected, "Ctrl+D", selected_region},
        {Action::copy_region, "copy_region", "copy it", kSelected, "Ctrl+C", selected_region},
        {Action::finish_shape, "finish_shape", "close a polygon; put a shape in the middle", kDrawing, "Enter", drawing},
        {Action::drop_corner, "drop_corner", "take the last corner of a polygon back", kDrawing, "Backspace", drawing},
        {Action::cancel, "cancel", "give up; select again; select nothing", kDrawing, "Escape", drawing},
    };
    // clang-format on
    return rows;
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
