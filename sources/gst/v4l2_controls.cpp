#include "sources/gst/v4l2_controls.hpp"

#include "base/error.hpp"
#include "pipeline/param.hpp"

#include <linux/videodev2.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <system_error>

namespace specklescope {

namespace {

constexpr double kSteps = 10; ///< per ms, of V4L2_CID_EXPOSURE_ABSOLUTE

std::string number(double value) { return to_string(ParamValue(value)); }

[[noreturn]] void out_of_range(const std::string& what, double value, double low, double high,
                               const char* unit) {
    throw UsageError("source v4l2: " + what + " = " + number(value) + " is not possible; this camera takes " +
                     number(low) + "…" + number(high) + unit + ".");
}

} // namespace

struct V4l2Controls::Control {
    unsigned id = 0;
    int low = 0, high = 0, step = 1;
    bool is_volatile = false;

    /// The nearest value supported by the camera.
    int nearest(double value) const {
        return low + static_cast<int>(std::lround((value - low) / step)) * step;
    }
};

std::optional<V4l2Controls::Control> V4l2Controls::find(unsigned id) const {
    v4l2_queryctrl query{};
    query.id = id;
    if (ioctl_(VIDIOC_QUERYCTRL, &query) != 0 || (query.flags & V4L2_CTRL_FLAG_DISABLED) != 0)
        return std::nullopt;
    return Control{id, query.minimum, query.maximum, std::max(1, static_cast<int>(query.step)),
                   (query.flags & V4L2_CTRL_FLAG_VOLATILE) != 0};
}

bool V4l2Controls::offers(const Control& menu, int item) const {
    v4l2_querymenu query{};
    query.id = menu.id;
    query.index = static_cast<unsigned>(item);
    return item >= menu.low && item <= menu.high && ioctl_(VIDIOC_QUERYMENU, &query) == 0;
}

int V4l2Controls::value(unsigned id) const {
    v4l2_control control{};
    control.id = id;
    const int error = ioctl_(VIDIOC_G_CTRL, &control);
    if (error != 0)
        throw RunError("The camera '" + camera_ +
                       "' does not report its settings: " + std::generic_category().message(error) + ".");
    return control.value;
}

void V4l2Controls::set(const Control& control, int value, const char* what) {
    v4l2_control asked{};
    asked.id = control.id;
    asked.value = value;
    if (const int error = ioctl_(VIDIOC_S_CTRL, &asked); error != 0)
        throw RunError("The camera '" + camera_ + "' refuses its " + what + ": " +
                       std::generic_category().message(error) + ".");
}

void V4l2Controls::lacks(const char* what) const {
    throw UsageError("source v4l2: the camera '" + camera_ + "' has no " + what + " to set. Leave " + what +
                     " out.");
}

void V4l2Controls::set_exposure(double ms) {
    const std::optional<Control> time = find(V4L2_CID_EXPOSURE_ABSOLUTE);
    const std::optional<Control> mode = find(V4L2_CID_EXPOSURE_AUTO);
    if (ms <= 0) {
        if (!mode)
            return; // it has no automatic mode to return to
        for (const int automatic : {V4L2_EXPOSURE_APERTURE_PRIORITY, V4L2_EXPOSURE_AUTO})
            if (offers(*mode, automatic))
                return set(*mode, automatic, "automatic exposure");
        return;
    }
    if (!time)
        lacks("exposure");
    if (ms * kSteps < time->low - 0.5 || ms * kSteps > time->high + 0.5)
        out_of_range("exposure", ms, time->low / kSteps, time->high / kSteps, " ms");
    if (mode)
        for (const int manual : {V4L2_EXPOSURE_MANUAL, V4L2_EXPOSURE_SHUTTER_PRIORITY})
            if (offers(*mode, manual)) {
                set(*mode, manual, "manual exposure");
                break;
            }
    set(*time, time->nearest(ms * kSteps), "exposure");
}

void V4l2Controls::set_gain(double gain) {
    const std::optional<Control> control = find(V4L2_CID_GAIN);
    const std::optional<Control> automatic = find(V4L2_CID_AUTOGAIN);
    if (gain < 0) {
        if (automatic)
            set(*automatic, 1, "automatic gain");
        return;
    }
    if (!control)
        lacks("gain");
    if (gain < control->low || gain > control->high)
        out_of_range("gain", gain, control->low, control->high, "");
    if (automatic)
        set(*automatic, 0, "automatic gain");
    set(*control, control->nearest(gain), "gain");
}

void V4l2Controls::set_rate(double rate) {
    v4l2_streamparm parameters{};
    parameters.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    if (ioctl_(VIDIOC_G_PARM, &parameters) != 0 ||
        (parameters.parm.capture.capability & V4L2_CAP_TIMEPERFRAME) == 0)
        lacks("rate");
    constexpr unsigned kUnit = 1000;
    parameters.parm.capture.timeperframe = {kUnit, static_cast<unsigned>(std::lround(rate * kUnit))};
    const int error = ioctl_(VIDIOC_S_PARM, &parameters);
    if (error == EBUSY)
        throw UsageError(
            "source v4l2: the camera '" + camera_ +
            "' can change its rate only while stopped. Open it again with rate = " + number(rate) + ".");
    if (error != 0)
        throw RunError("The camera '" + camera_ +
                       "' refuses its rate: " + std::generic_category().message(error) + ".");
}

bool V4l2Controls::automatic_exposure() const {
    if (!find(V4L2_CID_EXPOSURE_AUTO))
        return false;
    const int mode = value(V4L2_CID_EXPOSURE_AUTO);
    return mode == V4L2_EXPOSURE_AUTO || mode == V4L2_EXPOSURE_APERTURE_PRIORITY;
}

std::optional<double> V4l2Controls::exposure_ms() const {
    const std::optional<Control> time = find(V4L2_CID_EXPOSURE_ABSOLUTE);
    if (!time || (automatic_exposure() && !time->is_volatile))
        return std::nullopt;
    return value(V4L2_CID_EXPOSURE_ABSOLUTE) / kSteps;
}

std::optional<double> V4l2Controls::gain() const {
    const std::optional<Control> control = find(V4L2_CID_GAIN);
    if (!control)
        return std::nullopt;
    if (find(V4L2_CID_AUTOGAIN) && value(V4L2_CID_AUTOGAIN) != 0 && !control->is_volatile)
        return std::nullopt;
    return value(V4L2_CID_GAIN);
}

std::optional<double> V4l2Controls::rate() const {
    v4l2_streamparm parameters{};
    parameters.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    if (ioctl_(VIDIOC_G_PARM, &parameters) != 0)
        return std::nullopt;
    const v4l2_fract& time = parameters.parm.capture.timeperframe;
    if (time.numerator == 0 || time.denominator == 0)
        return std::nullopt;
    return static_cast<double>(time.denominator) / time.numerator;
}

} // namespace specklescope
