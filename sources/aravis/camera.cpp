#include "sources/aravis/camera.hpp"

#include "sources/aravis/features.hpp"
#include "sources/exposures.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace specklescope {

namespace {

std::string text(const char* part) { return part ? part : ""; }

std::string format_for(const NamedCamera& camera, AravisParams::Format asked) {
    const std::vector<std::string> offered = camera.entries("PixelFormat");
    const auto has = [&](const char* name) {
        return std::find(offered.begin(), offered.end(), name) != offered.end();
    };
    for (const CameraFormat& format : camera_formats())
        if ((asked == AravisParams::Format::automatic || asked == format.asked) && has(format.genicam))
            return format.genicam;
    const std::string name = camera_format_names().at(static_cast<std::size_t>(asked));
    throw UsageError("source aravis: format = " + name + " is not possible: PixelFormat of " + camera.name +
                     " takes " + listed(offered) +
                     (asked != AravisParams::Format::automatic ? ". Choose one of them."
                                                               : ", none of which is supported."));
}

void set_lost(ArvDevice* /*device*/, gpointer flag) {
    (*static_cast<std::shared_ptr<std::atomic<bool>>*>(flag))->store(true);
}

void forget(gpointer flag, GClosure* /*closure*/) {
    delete static_cast<std::shared_ptr<std::atomic<bool>>*>(flag); // NOLINT(cppcoreguidelines-owning-memory)
}

} // namespace

std::vector<std::pair<std::string, std::string>> discover_cameras() {
    std::vector<std::pair<std::string, std::string>> found;
    arv_update_device_list(); // waits about a second for GigE cameras
    found.reserve(arv_get_n_devices());
    for (unsigned i = 0; i < arv_get_n_devices(); ++i)
        found.emplace_back("aravis:" + text(arv_get_device_id(i)),
                           text(arv_get_device_vendor(i)) + " " + text(arv_get_device_model(i)) +
                               ", serial " + text(arv_get_device_serial_nbr(i)) + ", " +
                               text(arv_get_device_protocol(i)) + " " + text(arv_get_device_address(i)));
    return found;
}

AravisCamera::AravisCamera(const std::string& wanted) {
    GError* error = nullptr;
    camera_.reset(arv_camera_new(wanted.empty() ? nullptr : wanted.c_str(), &error));
    const bool absent = error && g_error_matches(error, ARV_DEVICE_ERROR, ARV_DEVICE_ERROR_NOT_FOUND);
    const std::string reason = error ? error->message : "it is not there";
    g_clear_error(&error);
    if (!camera_) {
        std::string found;
        for (const auto& [source, name] : discover_cameras())
            found += (found.empty() ? "" : ", ") + source;
        throw RunError((wanted.empty() ? "No camera can be opened; "
                                       : "The camera '" + wanted + "' cannot be opened; ") +
                       (absent || found.empty() ? "" : reason + "; ") +
                       (found.empty() ? "no GigE or USB3 Vision camera answers" : "found: " + found) + ".");
    }
    named_ = {camera_.get(), text(arv_camera_get_vendor_name(camera_.get(), nullptr)) + " " +
                                 text(arv_camera_get_model_name(camera_.get(), nullptr)) + " " +
                                 text(arv_camera_get_device_serial_number(camera_.get(), nullptr))};
    // The signal is emitted on a library thread, which may outlive this object.
    g_signal_connect_data(
        arv_camera_get_device(camera_.get()), "control-lost", G_CALLBACK(set_lost),
        new std::shared_ptr<std::atomic<bool>>(lost_), // NOLINT(cppcoreguidelines-owning-memory)
        forget, static_cast<GConnectFlags>(0));
}

AravisCamera::~AravisCamera() {
    if (stream_ && !lost())
        arv_camera_stop_acquisition(camera_.get(), nullptr);
    stream_.reset();
}

void AravisCamera::check_bounds(const char* what, double value, double low, double high) const {
    if (low < high && (value < low || value > high))
        throw UsageError(std::string("source aravis: ") + what + " = " + std::to_string(value) +
                         " is not possible; " + named_.name + " takes " + std::to_string(low) + "…" +
                         std::to_string(high) + ".");
}

void AravisCamera::check(const AravisParams& params) const {
    format_for(named_, params.format);
    double low = 0;
    double high = 0;
    if (params.exposure_ms > 0) {
        ask("exposure", [&](GError** error) {
            arv_camera_get_exposure_time_bounds(get(), &low, &high, error);
            return 0;
        });
        check_bounds("exposure", params.exposure_ms, low / 1000, high / 1000);
    }
    const std::vector<double> cycle = exposure_cycle("source aravis", params.exposures);
    if (!cycle.empty() && !arv_camera_is_exposure_time_available(get(), nullptr))
        throw UsageError("source aravis: " + name() + " has no exposure to set. Leave exposures out.");
    for (const double ms : cycle) {
        ask("exposures", [&](GError** error) {
            arv_camera_get_exposure_time_bounds(get(), &low, &high, error);
            return 0;
        });
        check_bounds("exposures", ms, low / 1000, high / 1000);
    }
    if (params.gain >= 0) {
        if (!arv_camera_is_gain_available(get(), nullptr))
            throw UsageError("source aravis: " + name() + " has no gain to set. Leave gain out.");
        ask("gain", [&](GError** error) {
            arv_camera_get_gain_bounds(get(), &low, &high, error);
            return 0;
        });
        check_bounds("gain", params.gain, low, high);
    }
    if (params.rate > 0) {
        if (!arv_camera_is_frame_rate_available(get(), nullptr))
            throw UsageError("source aravis: " + name() + " has no frame rate to set. Leave rate out.");
        arv_camera_get_frame_rate_bounds(get(), &low, &high, nullptr);
        check_bounds("rate", params.rate, low, high);
    }
    gint least = 0;
    gint most = 0;
    arv_camera_get_width_bounds(get(), &least, &most, nullptr);
    if (params.width > 0)
        check_bounds("width", params.width, least, most);
    arv_camera_get_height_bounds(get(), &least, &most, nullptr);
    if (params.height > 0)
        check_bounds("height", params.height, least, most);
    wiring(named_, params);
}

void AravisCamera::set_picture(const AravisParams& params) {
    ask("format", [&](GError** error) {
        arv_camera_set_pixel_format_from_string(get(), format_for(named_, params.format).c_str(), error);
        return 0;
    });
    if (params.width > 0 || params.height > 0) {
        gint x = 0;
        gint y = 0;
        gint width = 0;
        gint height = 0;
        ask("width and height", [&](GError** error) {
            arv_camera_get_region(get(), &x, &y, &width, &height, error);
            return 0;
        });
        ask("width and height", [&](GError** error) {
            arv_camera_set_region(get(), params.width > 0 ? 0 : x, params.height > 0 ? 0 : y,
                                  params.width > 0 ? params.width : width,
                                  params.height > 0 ? params.height : height, error);
            return 0;
        });
    }
}

void AravisCamera::set_packet_size(int bytes) {
    if (!arv_camera_is_gv_device(get()))
        return;
    if (bytes == 0) {
        arv_camera_gv_auto_packet_size(get(), nullptr); // a camera without negotiation keeps its size
        return;
    }
    ask("packet-size", [&](GError** error) {
        arv_camera_gv_set_packet_size(get(), bytes, error);
        return 0;
    });
}

/// Set the frame rate before other timing: setting it turns triggers off.
void AravisCamera::configure(const AravisParams& params) {
    check(params);
    const std::vector<FeatureSetting> wired = wiring(named_, params);
    set_picture(params);
    arv_camera_set_acquisition_mode(get(), ARV_ACQUISITION_MODE_CONTINUOUS, nullptr);
    if (params.rate > 0)
        ask("rate", [&](GError** error) {
            arv_camera_set_frame_rate(get(), params.rate, error);
            return 0;
        });
    set_exposure(params.exposure_ms);
    set_gain(params.gain);
    set_features(named_, wired);
    set_packet_size(params.packet_size);
}

void AravisCamera::set_exposure(double exposure_ms) {
    if (exposure_ms <= 0)
        return;
    AravisParams wanted;
    wanted.exposure_ms = exposure_ms;
    check(wanted);
    ask("exposure", [&](GError** error) {
        arv_camera_set_exposure_time(get(), exposure_ms * 1000, error);
        return 0;
    });
}

void AravisCamera::set_gain(double gain) {
    if (gain < 0)
        return;
    AravisParams wanted;
    wanted.gain = gain;
    check(wanted);
    ask("gain", [&](GError** error) {
        arv_camera_set_gain(get(), gain, error);
        return 0;
    });
}

double AravisCamera::take_exposure(double exposure_ms) {
    ask("exposures", [&](GError** error) {
        arv_camera_set_exposure_time(get(), exposure_ms * 1000, error);
        return 0;
    });
    return this->exposure_ms();
}

double AravisCamera::exposure_ms() const {
    return arv_camera_is_exposure_time_available(get(), nullptr)
               ? arv_camera_get_exposure_time(get(), nullptr) / 1000
               : 0;
}

double AravisCamera::gain() const {
    return arv_camera_is_gain_available(get(), nullptr) ? arv_camera_get_gain(get(), nullptr) : -1;
}

double AravisCamera::rate() const {
    return arv_camera_is_frame_rate_available(get(), nullptr) ? arv_camera_get_frame_rate(get(), nullptr) : 0;
}

bool AravisCamera::big_endian(AravisParams::ByteOrder asked) const {
    if (asked != AravisParams::ByteOrder::automatic)
        return asked == AravisParams::ByteOrder::big;
    return named_.value("DeviceStreamChannelEndianness") == "Big";
}

StatedFullScale AravisCamera::stated_full_scale() const {
    if (!named_.has("PixelDynamicRangeMax"))
        return {};
    const gint64 most =
        arv_device_get_integer_feature_value(arv_camera_get_device(get()), "PixelDynamicRangeMax", nullptr);
    if (most <= 255 || most >= 65535)
        return {};
    return {.value = static_cast<double>(most), .by = "its PixelDynamicRangeMax"};
}

double AravisCamera::tick_rate() const {
    constexpr double kNs = 1e9;
    constexpr std::uint64_t kTickRateHigh = 0x093c; // bootstrap registers of GigE Vision
    constexpr std::uint64_t kTickRateLow = 0x0940;
    if (!arv_camera_is_gv_device(get()))
        return kNs; // USB3 Vision: time stamps are in ns
    guint32 high = 0;
    guint32 low = 0;
    ArvDevice* device = arv_camera_get_device(get());
    arv_device_read_register(device, kTickRateHigh, &high, nullptr);
    arv_device_read_register(device, kTickRateLow, &low, nullptr);
    return static_cast<double>((static_cast<std::uint64_t>(high) << 32) | low);
}

void AravisCamera::start() {
    constexpr std::size_t kBudget = std::size_t{256} << 20;
    GError* error = nullptr;
    stream_.reset(arv_camera_create_stream(get(), nullptr, nullptr, &error));
    const std::size_t payload = error ? 0 : arv_camera_get_payload(get(), &error);
    if (payload > 0)
        for (std::size_t i = std::clamp<std::size_t>(kBudget / payload, 8, 50); i > 0; --i)
            arv_stream_push_buffer(stream_.get(), arv_buffer_new_allocate(payload));
    if (!error)
        arv_camera_start_acquisition(get(), &error);
    const std::string reason = error ? error->message : "";
    g_clear_error(&error);
    if (!reason.empty())
        throw RunError("The camera " + name() + " delivers no frames: " + reason +
                       ". Check its cable and power, and that no other program uses it.");
}

int AravisCamera::received() const {
    gint free = 0, received = 0;
    if (stream_)
        arv_stream_get_n_buffers(stream_.get(), &free, &received);
    return received;
}

ArvHandle<ArvBuffer> AravisCamera::pop(std::chrono::microseconds patience) {
    return ArvHandle<ArvBuffer>(
        arv_stream_timeout_pop_buffer(stream_.get(), static_cast<guint64>(patience.count())));
}

void AravisCamera::give_back(ArvHandle<ArvBuffer> buffer) {
    arv_stream_push_buffer(stream_.get(), buffer.release());
}

std::uint64_t AravisCamera::take_underruns(std::uint64_t most) {
    guint64 completed = 0;
    guint64 failures = 0;
    guint64 underruns = 0;
    arv_stream_get_statistics(stream_.get(), &completed, &failures, &underruns);
    return underruns_.take(underruns, most);
}

void AravisCamera::fire() {
    GError* error = nullptr;
    arv_camera_software_trigger(get(), &error);
    const std::string reason = error ? error->message : "";
    g_clear_error(&error);
    if (!reason.empty())
        throw RunError("The camera " + name() + " did not accept a software trigger: " + reason + ".");
}

namespace {

using F = AravisParams::Format;

constexpr auto kCameraFormats = std::to_array<CameraFormat>({
    // clang-format off
    {F::mono16, "Mono16", 0x01100007U, stored::kGray16},
    {F::mono14, "Mono14", 0x01100025U, stored::kGray14},
    {F::mono14p, "Mono14p", 0x010e0104U, stored::kMono14p},
    {F::mono12, "Mono12", 0x01100005U, stored::kGray12},
    {F::mono12p, "Mono12p", 0x010c0047U, stored::kMono12p},
    {F::mono12packed, "Mono12Packed", 0x010c0006U, stored::kMono12Packed},
    {F::mono10, "Mono10", 0x01100003U, stored::kGray10},
    {F::mono10p, "Mono10p", 0x010a0046U, stored::kMono10p},
    {F::mono10packed, "Mono10Packed", 0x010c0004U, stored::kMono10Packed},
    {F::mono8, "Mono8", 0x01080001U, stored::kGray8},
    {F::bayer16, "BayerGR16", 0x0110002eU, stored::kGray16, Bayer::grbg},
    {F::bayer16, "BayerRG16", 0x0110002fU, stored::kGray16, Bayer::rggb},
    {F::bayer16, "BayerGB16", 0x01100030U, stored::kGray16, Bayer::gbrg},
    {F::bayer16, "BayerBG16", 0x01100031U, stored::kGray16, Bayer::bggr},
    {F::bayer12, "BayerGR12", 0x01100010U, stored::kGray12, Bayer::grbg},
    {F::bayer12, "BayerRG12", 0x01100011U, stored::kGray12, Bayer::rggb},
    {F::bayer12, "BayerGB12", 0x01100012U, stored::kGray12, Bayer::gbrg},
    {F::bayer12, "BayerBG12", 0x01100013U, stored::kGray12, Bayer::bggr},
    {F::bayer12p, "BayerGR12p", 0x010c0057U, stored::kMono12p, Bayer::grbg},
    {F::bayer12p, "BayerRG12p", 0x010c0059U, stored::kMono12p, Bayer::rggb},
    {F::bayer12p, "BayerGB12p", 0x010c0055U, stored::kMono12p, Bayer::gbrg},
    {F::bayer12p, "BayerBG12p", 0x010c0053U, stored::kMono12p, Bayer::bggr},
    {F::bayer12packed, "BayerGR12Packed", 0x010c002aU, stored::kMono12Packed, Bayer::grbg},
    {F::bayer12packed, "BayerRG12Packed", 0x010c002bU, stored::kMono12Packed, Bayer::rggb},
    {F::bayer12packed, "BayerGB12Packed", 0x010c002cU, stored::kMono12Packed, Bayer::gbrg},
    {F::bayer12packed, "BayerBG12Packed", 0x010c002dU, stored::kMono12Packed, Bayer::bggr},
    {F::bayer10, "BayerGR10", 0x0110000cU, stored::kGray10, Bayer::grbg},
    {F::bayer10, "BayerRG10", 0x0110000dU, stored::kGray10, Bayer::rggb},
    {F::bayer10, "BayerGB10", 0x0110000eU, stored::kGray10, Bayer::gbrg},
    {F::bayer10, "BayerBG10", 0x0110000fU, stored::kGray10, Bayer::bggr},
    {F::bayer10p, "BayerGR10p", 0x010a0056U, stored::kMono10p, Bayer::grbg},
    {F::bayer10p, "BayerRG10p", 0x010a0058U, stored::kMono10p, Bayer::rggb},
    {F::bayer10p, "BayerGB10p", 0x010a0054U, stored::kMono10p, Bayer::gbrg},
    {F::bayer10p, "BayerBG10p", 0x010a0052U, stored::kMono10p, Bayer::bggr},
    {F::bayer10packed, "BayerGR10Packed", 0x010c0026U, stored::kMono10Packed, Bayer::grbg},
    {F::bayer10packed, "BayerRG10Packed", 0x010c0027U, stored::kMono10Packed, Bayer::rggb},
    {F::bayer10packed, "BayerGB10Packed", 0x010c0028U, stored::kMono10Packed, Bayer::gbrg},
    {F::bayer10packed, "BayerBG10Packed", 0x010c0029U, stored::kMono10Packed, Bayer::bggr},
    {F::bayer8, "BayerGR8", 0x01080008U, stored::kGray8, Bayer::grbg},
    {F::bayer8, "BayerRG8", 0x01080009U, stored::kGray8, Bayer::rggb},
    {F::bayer8, "BayerGB8", 0x0108000aU, stored::kGray8, Bayer::gbrg},
    {F::bayer8, "BayerBG8", 0x0108000bU, stored::kGray8, Bayer::bggr},
    {F::rgb8, "RGB8", 0x02180014U, stored::kRgb8},
    {F::rgb8, "RGB8Packed", 0x02180014U, stored::kRgb8},
    {F::bgr8, "BGR8", 0x02180015U, stored::kBgr8},
    {F::bgr8, "BGR8Packed", 0x02180015U, stored::kBgr8},
    {F::yuv422, "YUV422_8_UYVY", 0x0210001fU, stored::kUyvy},
    {F::yuv422, "YUV422Packed", 0x0210001fU, stored::kUyvy},
    {F::yuv422, "YUV422_8", 0x02100032U, stored::kYuyv},
    {F::yuv422, "YUV422YUYVPacked", 0x02100032U, stored::kYuyv},
    {F::yuv422, "YUYVPacked", 0x02100032U, stored::kYuyv},
    {F::yuv422, "YCbCr422_8", 0x0210003bU, stored::kYuyv},
    {F::yuv422, "YCbCr422_8_CbYCrY", 0x02100043U, stored::kUyvy},
    // clang-format on
});

} // namespace

Shape CameraFormat::shape(int width, int height) const {
    const Shape shape = pixels.shape(width, height);
    return bayer == Bayer::none ? shape : bayer_shape(shape, genicam);
}

std::span<const CameraFormat> camera_formats() { return kCameraFormats; }

const CameraFormat* find_format(std::uint32_t code) {
    const auto* found = std::find_if(kCameraFormats.begin(), kCameraFormats.end(),
                                     [&](const CameraFormat& format) { return format.code == code; });
    return found == kCameraFormats.end() ? nullptr : found;
}

std::vector<std::string> camera_format_names() {
    return {"auto",          "mono8",   "mono10",  "mono12",       "mono14",       "mono16",
            "mono10p",       "mono12p", "mono14p", "mono10packed", "mono12packed", "bayer8",
            "bayer10",       "bayer12", "bayer16", "bayer10p",     "bayer12p",     "bayer10packed",
            "bayer12packed", "rgb8",    "bgr8",    "yuv422"};
}

} // namespace specklescope
