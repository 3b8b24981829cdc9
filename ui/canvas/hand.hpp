// Input from `specklescope bench` instead of a user, and the times at which its effects are on the screen.
// With SPECKLESCOPE_UI_HAND=PATH in the environment, events are read from the pipe PATH, one a line:
//   key CODE | character CODE | move X Y | button 0|1 | row X Y WIDTH COUNT
// PATH.frames gets the name of OpenGL's renderer, and a line for each frame that has been presented: seconds
// of the steady clock, number of events read before, number and version of the displayed result, number of
// uploads of results, exposure in stops, low and high end of the range. After an event `row`, the line ends
// with the red values (0 to 255) of COUNT pixels of the frame, evenly spaced over WIDTH pixels of a row of
// the window.
#pragma once

#include "pipeline/frame.hpp"
#include "ui/canvas/surface.hpp"

#include <fstream>
#include <mutex>
#include <thread>

namespace specklescope {

class Hand {
public:
    /// Null without the variable.
    static std::unique_ptr<Hand> of_environment();
    /// Adds the events that have arrived to the input.
    void feed(WindowInput& input);
    std::optional<ImVec2> mouse() const { return mouse_; }
    void drawn(); ///< call with the complete frame, before it is presented
    void presented(const FrameInfo& shown, int uploads, double stops, double low, double high);

private:
    explicit Hand(const std::string& path);
    void take(WindowInput& input, const std::string& line);
    struct Row {
        int x = 0, y = 0, width = 0, count = 0;
    } row_;
    std::string values_; ///< of the row
    std::ofstream frames_;
    std::optional<ImVec2> mouse_;
    int events_ = 0;
    std::mutex mutex_;
    std::vector<std::string> lines_; ///< guarded by mutex_
    std::jthread reader_;            ///< ends when the pipe has no writer
};

} // namespace specklescope
