// Monitor mode: a window that is read from afar and touched with a finger. Large values of up to four
// regions, a bar of large buttons, controls that are locked until a button is held for a second.
#pragma once

#include "session/session.hpp"
#include "ui/canvas/view.hpp"

#include <imgui.h>

#include <optional>
#include <string>

namespace specklescope {

struct MonitorLayout {
    Rect bar, canvas, color_bar, readouts; ///< color_bar and readouts are empty where there is no room
    bool portrait = false;                 ///< readouts below the picture instead of next to it
};
/// Layout for a window of this size. `bar`, `color_bar`: height and width that they need. The canvas always
/// gets at least half of the window.
MonitorLayout monitor_layout(double width, double height, double bar, double color_bar);

/// Displayed values of a region.
struct Readout {
    std::string name{}, value{}, unit{}, change{};
    ImU32 color = 0;
    std::vector<TraceColumn> curve{};
};

/// Button that was pressed in this frame.
enum class MonitorAsk : std::uint8_t { nothing, leave, range, record, snapshot, event, messages };

class Monitor {
public:
    /// Call in each frame, also when the mode is off: it begins locked.
    void update(Session& session, bool has_result, std::uint64_t generation);
    bool locked() const { return on_ && !unlocked_; }
    /// True if the action is allowed while locked: viewing and acknowledging.
    static bool allows(Action action);
    void refuse(); ///< the lock is shown
    /// Range of colours is fixed by the mode: two seconds after the first frame of a live source.
    void range_released() { settled_ = false; }

    MonitorAsk draw_bar(const Rect& area, const Session& session);
    void draw_readouts(const MonitorLayout& layout, Session& session);
    static float bar_height(); ///< a finger's width and a margin

private:
    void lock_button(float width, float height);
    void settle_range(Session& session, bool has_result, std::uint64_t generation);

    bool on_ = false, unlocked_ = false, held_ = false;
    SteadyClock::time_point hold_began_{}, touched_{}, refused_{};
    std::uint64_t generation_ = 0;
    std::optional<SteadyClock::time_point> first_frame_;
    std::vector<Readout> shown_;
    std::int64_t from_ns_ = 0, to_ns_ = 1; ///< of the curves
    SteadyClock::time_point read_{};
    bool stale_ = false;
    bool settled_ = false; ///< the range was fixed, or the user has chosen since
};

} // namespace specklescope
