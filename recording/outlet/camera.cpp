// Pictures into a virtual camera, which other programs open like any other: v4l2loopback.
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "files/gst_init.hpp"
#include "files/whole_file.hpp"
#include "recording/outlet/outlet.hpp"
#include "recording/outlet/planes.hpp"
#include "recording/video/encoders.hpp"

#include <gst/app/gstappsrc.h>
#include <linux/videodev2.h>
#include <spdlog/spdlog.h>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace specklescope {

namespace {

constexpr std::string_view kCameraScheme = "v4l2:";
constexpr std::uint64_t kCameraWaiting = 2; ///< pictures in front of the device

/// What is asked of the device before GStreamer is.
void check_device(const std::string& device) {
    const std::string name = one_line(device);
    const File file(::open(device.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    if (file.fd() < 0)
        throw RunError("The camera " + name + " cannot be opened: " + std::generic_category().message(errno) +
                       "; v4l2loopback makes one (modprobe v4l2loopback).");
    struct stat found {};
    v4l2_capability can{};
    if (::fstat(file.fd(), &found) != 0 || !S_ISCHR(found.st_mode) ||
        ::ioctl(file.fd(), VIDIOC_QUERYCAP, &can) != 0)
        throw RunError(name + " is no camera; name one of v4l2loopback, as v4l2:/dev/video7.");
    const std::uint32_t caps =
        (can.capabilities & V4L2_CAP_DEVICE_CAPS) != 0 ? can.device_caps : can.capabilities;
    if ((caps & V4L2_CAP_VIDEO_OUTPUT) == 0)
        throw RunError(name + " is a camera that gives pictures and takes none; name one of v4l2loopback.");
}

class CameraEnd final : public OutletEnd {
public:
    explicit CameraEnd(const std::string& target) : name_(target) {
        const std::string device = camera_device(target);
        init_gstreamer();
        if (!gst_element_exists("v4l2sink"))
            throw RunError(
                "Nothing that writes into a camera is installed; install gstreamer1.0-plugins-good.");
        check_device(device);
        GError* raw = nullptr;
        pipeline_.reset(gst_parse_launch(camera_pipeline("v4l2sink name=out sync=false").c_str(), &raw));
        if (const GstHandle<GError> error(raw); error)
            throw RunError("Pictures cannot go to " + one_line(name_) + ": " + error->message + ".");
        const GstHandle<GstElement> out(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "out"));
        g_object_set(out.get(), "device", device.c_str(), nullptr);
        source_.reset(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "in"));
        if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
            const std::string why = failure();
            gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
            throw RunError("Pictures cannot go to " + one_line(name_) + ": " + why);
        }
        run_log().info("Pictures go to {}.", one_line(name_));
    }
    CameraEnd(const CameraEnd&) = delete;
    CameraEnd& operator=(const CameraEnd&) = delete;
    ~CameraEnd() override { gst_element_set_state(pipeline_.get(), GST_STATE_NULL); }

    std::string name() const override { return name_; }
    bool watched() const override { return true; } // nobody can know
    bool show(const RecordedFrame& picture) override {
        if (const std::string why = failure(); !why.empty())
            throw RunError("Pictures no longer go to " + one_line(name_) + ": " + why);
        auto* source = GST_APP_SRC(source_.get());
        if (gst_app_src_get_current_level_buffers(source) >= kCameraWaiting)
            return false;
        const Shape shape = picture.pixels.shape();
        if (shape != shape_)
            gst_app_src_set_caps(source, planes_caps(shape).get());
        shape_ = shape;
        return gst_app_src_push_buffer(source, make_planes(picture.pixels.host())) == GST_FLOW_OK;
    }
    void show_again() override {} // the device keeps it

private:
    /// What the bus has; empty: nothing went wrong.
    std::string failure() const {
        const GstHandle<GstBus> bus(gst_element_get_bus(pipeline_.get()));
        const GstHandle<GstMessage> message(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
        if (!message)
            return "";
        GError* raw = nullptr;
        gst_message_parse_error(message.get(), &raw, nullptr);
        return GstHandle<GError>(raw)->message;
    }

    const std::string name_;
    GstHandle<GstElement> pipeline_, source_;
    Shape shape_;
};

} // namespace

std::string camera_pipeline(const std::string& sink) {
    return "appsrc name=in is-live=true do-timestamp=true format=time max-buffers=2 max-bytes=0 max-time=0 ! "
           "videoconvert ! video/x-raw,format=YUY2 ! " +
           sink;
}

std::string camera_device(const std::string& target) {
    if (!target.starts_with(kCameraScheme) || target.size() == kCameraScheme.size() ||
        target[kCameraScheme.size()] != '/')
        throw UsageError("output = '" + one_line(target) +
                         "' is not possible; allowed: v4l2:/dev/videoN, a camera of v4l2loopback.");
    return target.substr(kCameraScheme.size());
}

std::unique_ptr<OutletEnd> make_camera_end(const std::string& target) {
    return std::make_unique<CameraEnd>(target);
}

} // namespace specklescope
