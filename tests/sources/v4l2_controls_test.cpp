// Exposure, gain and rate of V4L2 cameras with simulated ioctls, which follow the kernel's rules
// (Documentation/userspace-api/media/v4l). Not tested with a real camera.
#include "base/error.hpp"
#include "sources/gst/v4l2_controls.hpp"

#include <gtest/gtest.h>
#include <linux/videodev2.h>

#include <cerrno>
#include <map>
#include <set>
#include <vector>

namespace specklescope::v4l2_controls_test {

/// A camera's controls. Writes outside a range, or of the exposure time in automatic mode, fail like in a
/// driver.
struct Camera {
    struct Control {
        int low = 0, high = 0, step = 1, value = 0;
        unsigned flags = 0;
        std::set<int> items{}; ///< of a menu
    };
    std::map<unsigned, Control> controls;
    bool has_rate = true, streaming = false;
    v4l2_fract time{1, 30};
    std::vector<unsigned> written;

    int ioctl(unsigned long request, void* argument) {
        switch (request) {
        case VIDIOC_QUERYCTRL: {
            auto& query = *static_cast<v4l2_queryctrl*>(argument);
            const auto at = controls.find(query.id);
            if (at == controls.end())
                return EINVAL;
            query.minimum = at->second.low;
            query.maximum = at->second.high;
            query.step = at->second.step;
            query.flags = at->second.flags;
            return 0;
        }
        case VIDIOC_QUERYMENU: {
            const auto& query = *static_cast<v4l2_querymenu*>(argument);
            const auto at = controls.find(query.id);
            return at != controls.end() && at->second.items.contains(static_cast<int>(query.index)) ? 0
                                                                                                    : EINVAL;
        }
        case VIDIOC_G_CTRL: {
            auto& control = *static_cast<v4l2_control*>(argument);
            const auto at = controls.find(control.id);
            if (at == controls.end())
                return EINVAL;
            control.value = at->second.value;
            return 0;
        }
        case VIDIOC_S_CTRL: {
            const auto& control = *static_cast<v4l2_control*>(argument);
            const auto at = controls.find(control.id);
            if (at == controls.end())
                return EINVAL;
            Control& own = at->second;
            if (control.value < own.low || control.value > own.high ||
                (control.value - own.low) % own.step != 0 ||
                (!own.items.empty() && !own.items.contains(control.value)))
                return ERANGE;
            const auto mode = controls.find(V4L2_CID_EXPOSURE_AUTO);
            if (control.id == V4L2_CID_EXPOSURE_ABSOLUTE && mode != controls.end() &&
                mode->second.value != V4L2_EXPOSURE_MANUAL &&
                mode->second.value != V4L2_EXPOSURE_SHUTTER_PRIORITY)
                return EACCES;
            own.value = control.value;
            written.push_back(control.id);
            return 0;
        }
        case VIDIOC_G_PARM: {
            auto& parameters = *static_cast<v4l2_streamparm*>(argument);
            if (parameters.type != V4L2_BUF_TYPE_VIDEO_CAPTURE)
                return EINVAL;
            parameters.parm.capture.capability = has_rate ? V4L2_CAP_TIMEPERFRAME : 0;
            parameters.parm.capture.timeperframe = time;
            return 0;
        }
        case VIDIOC_S_PARM: {
            if (streaming)
                return EBUSY;
            const auto& asked = static_cast<v4l2_streamparm*>(argument)->parm.capture.timeperframe;
            const double rate = static_cast<double>(asked.denominator) / asked.numerator;
            time = rate > 45 ? v4l2_fract{1, 60} : v4l2_fract{1, 30}; // the nearest supported value
            return 0;
        }
        default:
            return ENOTTY;
        }
    }
    V4l2Controls open() {
        return {"/dev/video7",
                [this](unsigned long request, void* argument) { return ioctl(request, argument); }};
    }
};

/// Like a UVC camera: time in steps of 100 µs, two modes, no automatic gain.
Camera webcam() {
    Camera camera;
    camera.controls[V4L2_CID_EXPOSURE_AUTO] = {
        0, 3, 1, V4L2_EXPOSURE_APERTURE_PRIORITY, 0, {V4L2_EXPOSURE_MANUAL, V4L2_EXPOSURE_APERTURE_PRIORITY}};
    camera.controls[V4L2_CID_EXPOSURE_ABSOLUTE] = {3, 2047, 1, 250};
    camera.controls[V4L2_CID_GAIN] = {0, 255, 5, 64 / 5 * 5};
    return camera;
}

template <class E, class F> std::string refusal(F&& f) {
    try {
        f();
        return "";
    } catch (const E& error) {
        return error.what();
    }
}

TEST(V4l2Controls, ExposureTurnsOffAutomaticAndIsReadBackInMilliseconds) {
    Camera camera = webcam();
    V4l2Controls controls = camera.open();
    EXPECT_TRUE(controls.automatic_exposure());
    EXPECT_FALSE(controls.exposure_ms()); // the control has 25 ms, which automatic mode does not use
    controls.set_exposure(12.34);
    EXPECT_EQ(camera.controls[V4L2_CID_EXPOSURE_AUTO].value, V4L2_EXPOSURE_MANUAL);
    EXPECT_EQ(camera.controls[V4L2_CID_EXPOSURE_ABSOLUTE].value, 123); // 100 µs
    EXPECT_EQ(controls.exposure_ms(), 12.3);
    controls.set_exposure(0);
    EXPECT_EQ(camera.controls[V4L2_CID_EXPOSURE_AUTO].value, V4L2_EXPOSURE_APERTURE_PRIORITY);
    EXPECT_FALSE(controls.exposure_ms());
    camera.controls[V4L2_CID_EXPOSURE_ABSOLUTE].flags = V4L2_CTRL_FLAG_VOLATILE; // updated by the camera
    camera.controls[V4L2_CID_EXPOSURE_ABSOLUTE].value = 77;
    EXPECT_EQ(controls.exposure_ms(), 7.7);
}

TEST(V4l2Controls, UsesASupportedManualMode) {
    Camera camera = webcam();
    camera.controls[V4L2_CID_EXPOSURE_AUTO] = {
        0, 3, 1, V4L2_EXPOSURE_AUTO, 0, {V4L2_EXPOSURE_AUTO, V4L2_EXPOSURE_SHUTTER_PRIORITY}};
    V4l2Controls controls = camera.open();
    controls.set_exposure(5);
    EXPECT_EQ(camera.controls[V4L2_CID_EXPOSURE_AUTO].value, V4L2_EXPOSURE_SHUTTER_PRIORITY);
    EXPECT_EQ(controls.exposure_ms(), 5);
    controls.set_exposure(0);
    EXPECT_EQ(camera.controls[V4L2_CID_EXPOSURE_AUTO].value, V4L2_EXPOSURE_AUTO);
    camera.controls.erase(V4L2_CID_EXPOSURE_AUTO); // a camera with only the time
    controls.set_exposure(8);
    EXPECT_EQ(controls.exposure_ms(), 8);
    EXPECT_NO_THROW(controls.set_exposure(0));
    EXPECT_EQ(controls.exposure_ms(), 8);
}

TEST(V4l2Controls, GainIsRoundedToASupportedStep) {
    Camera camera = webcam();
    V4l2Controls controls = camera.open();
    controls.set_gain(101);
    EXPECT_EQ(controls.gain(), 100);
    camera.controls[V4L2_CID_AUTOGAIN] = {0, 1, 1, 1};
    EXPECT_FALSE(controls.gain()); // set automatically
    controls.set_gain(20);
    EXPECT_EQ(camera.controls[V4L2_CID_AUTOGAIN].value, 0);
    EXPECT_EQ(controls.gain(), 20);
    controls.set_gain(-1);
    EXPECT_EQ(camera.controls[V4L2_CID_AUTOGAIN].value, 1);
}

TEST(V4l2Controls, RateIsTheCamerasActualValue) {
    Camera camera = webcam();
    V4l2Controls controls = camera.open();
    controls.set_rate(59.94);
    EXPECT_EQ(controls.rate(), 60);
    camera.streaming = true;
    const std::string busy = refusal<UsageError>([&] { controls.set_rate(30); });
    EXPECT_NE(busy.find("with rate = 30"), std::string::npos) << busy;
    EXPECT_EQ(controls.rate(), 60);
}

TEST(V4l2Controls, MissingControlsAreRefused) {
    Camera camera;
    camera.has_rate = false;
    V4l2Controls controls = camera.open();
    for (const auto& [what, said] : std::vector<std::pair<std::string, std::string>>{
             {"exposure", refusal<UsageError>([&] { controls.set_exposure(5); })},
             {"gain", refusal<UsageError>([&] { controls.set_gain(5); })},
             {"rate", refusal<UsageError>([&] { controls.set_rate(5); })}})
        EXPECT_EQ(said, "source v4l2: the camera '/dev/video7' has no " + what + " to set. Leave " + what +
                            " out.");
    EXPECT_FALSE(controls.exposure_ms());
    EXPECT_FALSE(controls.gain());
    camera = webcam();
    camera.controls[V4L2_CID_GAIN].flags = V4L2_CTRL_FLAG_DISABLED;
    EXPECT_NE(refusal<UsageError>([&] { controls.set_gain(5); }), "");
    EXPECT_EQ(refusal<UsageError>([&] { controls.set_exposure(250); }),
              "source v4l2: exposure = 250 is not possible; this camera takes 0.3…204.7 ms.");
    EXPECT_TRUE(camera.written.empty()); // nothing was written
    // manual mode is not available
    camera.controls[V4L2_CID_EXPOSURE_AUTO].items = {V4L2_EXPOSURE_APERTURE_PRIORITY};
    EXPECT_NE(refusal<RunError>([&] { controls.set_exposure(5); }).find("refuses its exposure"),
              std::string::npos);
}

} // namespace specklescope::v4l2_controls_test
