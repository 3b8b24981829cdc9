// Actions of keys and the command palette, declared once: name in [keys], description, and default keys.
// ui/app_actions.cpp has a row for each with its function and condition.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

enum class Action : std::uint8_t {
    undo,
    redo,
    history,
    compare,
    // frames
    pause,
    step_back,
    step,
    jump_back,
    jump,
    first_frame,
    last_frame,
    loop,
    mark_in,
    mark_out,
    slower,
    faster,
    // picture
    show_processed,
    show_raw,
    show_both,
    show_split,
    show_blended,
    next_layout,
    layers_left,
    layers_right,
    more_opaque,
    less_opaque,
    compare_recording,
    compare_settings,
    end_compare,
    zoom_in,
    zoom_out,
    fit,
    one_to_one,
    next_colormap,
    automatic_range,
    histogram,
    lower_low,
    raise_low,
    lower_high,
    raise_high,
    darker,
    brighter,
    smaller_window,
    larger_window,
    mark_saturated,
    pixel_size,
    change,
    baseline_picture,
    // program
    open,
    save_traces,
    copy_traces,
    save_plot,
    export_results,
    export_change,
    export_screen,
    snapshot,
    record,
    record_raw,
    record_traces,
    record_screen,
    report,
    check_recording,
    calibrate_camera,
    palette,
    menu,
    keys,
    controls,
    statistics,
    panel,
    full_screen,
    larger_text,
    smaller_text,
    quit,
    presets,
    acknowledge,
    messages,
    monitor,
    // traces
    traces,
    baseline,
    relative,
    intervals,
    delete_interval,
    response,
    event,
    event_1,
    event_2,
    event_3,
    event_4,
    event_5,
    event_6,
    event_7,
    event_8,
    event_9,
    follow,
    whole_run,
    whole_film,
    // regions
    select_tool,
    rectangle_tool,
    ellipse_tool,
    line_tool,
    polygon_tool,
    freehand_tool,
    next_region,
    previous_region,
    paste_region,
    save_regions,
    load_regions,
    // the selected region
    move_left,
    move_right,
    move_up,
    move_down,
    move_far_left,
    move_far_right,
    move_far_up,
    move_far_down,
    narrower,
    wider,
    lower,
    higher,
    delete_region,
    rename_region,
    recolour_region,
    lock_region,
    duplicate_region,
    copy_region,
    // a region that is being drawn
    finish_shape,
    drop_corner,
    cancel
};
inline constexpr std::size_t kActions = static_cast<std::size_t>(Action::cancel) + 1;

/// Context of an action's keys: the same key may have a different meaning in each; later contexts take
/// precedence.
enum class KeyPlace : std::uint8_t { anywhere, selected_region, chosen_interval, drawing };

/// Access of an action to files that the user has not named before.
enum class ActionFiles : std::uint8_t { none, reads, writes };

struct ActionInfo {
    Action action;
    std::string_view name;  ///< in [keys]: "step_back"
    std::string_view words; ///< "one frame back"
    std::string_view group; ///< heading of the list of keys
    std::string_view menu;  ///< its place in the menu: "File", "View/Zoom"; empty: none
    std::string_view keys;  ///< by default, with spaces between: "Left ,"
    KeyPlace place = KeyPlace::anywhere;
    ActionFiles files = ActionFiles::none;
};
/// In the order of the enumeration, group by group.
const std::vector<ActionInfo>& actions();
/// Menus of the menu bar, from left to right. Their entries are in the order of the table; a submenu is
/// placed where its first entry is.
const std::vector<std::string_view>& menus();
const ActionInfo& info(Action action);
/// Action by its name; null: none.
const ActionInfo* find_action(std::string_view name);
std::vector<std::string> action_names();

} // namespace specklescope
