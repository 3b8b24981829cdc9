// Exposure, gain and frame rate of a V4L2 camera through its controls: set, and read back.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace specklescope {

/// ioctl(2) on the camera: 0, or the error number. Tests replace it with a simulated camera.
using V4l2Ioctl = std::function<int(unsigned long request, void* argument)>;

/// Throws UsageError for missing controls, RunError if the camera refuses a value.
class V4l2Controls {
public:
    V4l2Controls(std::string camera, V4l2Ioctl ioctl)
        : camera_(std::move(camera)), ioctl_(std::move(ioctl)) {}

    /// Exposure time in ms, which turns off automatic exposure (V4L2_CID_EXPOSURE_ABSOLUTE, in steps of 100
    /// µs); 0: automatic.
    void set_exposure(double ms);
    /// In the camera's own unit; turns off automatic gain; −1: automatic, if available.
    void set_gain(double gain);
    /// Frames/s. Many cameras accept it only before streaming.
    void set_rate(double rate);

    // Current values; nothing if the camera does not report them. An automatic exposure is reported only by
    // cameras that keep it up to date (V4L2_CTRL_FLAG_VOLATILE).
    std::optional<double> exposure_ms() const;
    std::optional<double> gain() const;
    std::optional<double> rate() const;
    bool automatic_exposure() const;

private:
    struct Control;
    std::optional<Control> find(unsigned id) const;
    bool offers(const Control& menu, int item) const;
    int value(unsigned id) const;
    void set(const Control& control, int value, const char* what);
    [[noreturn]] void lacks(const char* what) const;

    std::string camera_;
    V4l2Ioctl ioctl_;
};

} // namespace specklescope
