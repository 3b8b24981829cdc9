// Exposure, gain and frame rate of a V4L2 camera, by its controls: set, and read back as the camera took
// them.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace specklescope {

/// ioctl(2) on the camera: 0, or the error number. A test puts a camera of its own here.
using V4l2Ioctl = std::function<int(unsigned long request, void* argument)>;

/// What a camera lacks is refused by UsageError in one sentence; what it refuses itself by RunError.
class V4l2Controls {
public:
    V4l2Controls(std::string camera, V4l2Ioctl ioctl)
        : camera_(std::move(camera)), ioctl_(std::move(ioctl)) {}

    /// The exposure time in ms, which ends the camera's automatic (V4L2_CID_EXPOSURE_ABSOLUTE, in steps of
    /// 100 µs); 0: the automatic again.
    void set_exposure(double ms);
    /// In the camera's own unit, which ends its automatic gain; −1: the automatic again, where there is one.
    void set_gain(double gain);
    /// Frames/s. Many cameras take one only before they stream.
    void set_rate(double rate);

    // As they are now; nothing where the camera does not say. An automatic exposure is told only by a camera
    // that keeps its value up to date (V4L2_CTRL_FLAG_VOLATILE).
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
