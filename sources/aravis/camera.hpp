// An open camera and its stream of buffers.
#pragma once

#include "files/image_file.hpp"
#include "files/stored_pixels.hpp"
#include "sources/aravis/aravis_source.hpp"
#include "sources/aravis/features.hpp"
#include "sources/aravis/frame_numbers.hpp"
#include "sources/bayer.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace specklescope {

struct CameraFormat {
    AravisParams::Format asked; ///< option that selects it
    const char* genicam;
    std::uint32_t code; ///< ArvPixelFormat
    StoredPixels pixels;
    Bayer bayer = Bayer::none; ///< colours of a mosaic

    /// Shape of a frame for a camera image of this size.
    Shape shape(int width, int height) const;
};

/// In the order of preference of `auto`: grey with many bits first.
std::span<const CameraFormat> camera_formats();
/// Null for an unsupported format.
const CameraFormat* find_format(std::uint32_t code);
/// Names of AravisParams::Format.
std::vector<std::string> camera_format_names();

/// All cameras that respond now, as SOURCE arguments with a description.
std::vector<std::pair<std::string, std::string>> discover_cameras();

class AravisCamera {
public:
    /// `wanted`: name, address or serial number, empty: the first. Throws RunError.
    explicit AravisCamera(const std::string& wanted);
    /// Stops the camera; waits if it does not respond.
    ~AravisCamera();
    AravisCamera(const AravisCamera&) = delete;
    AravisCamera& operator=(const AravisCamera&) = delete;

    const std::string& name() const { return named_.name; }
    const NamedCamera& named() const { return named_; }
    ArvCamera* get() const { return camera_.get(); }
    /// True if it has stopped responding.
    bool lost() const { return lost_->load(); }

    /// Checks all options before any is set: throws UsageError and changes nothing on the camera.
    void check(const AravisParams& params) const;
    void configure(const AravisParams& params);
    void set_exposure(double exposure_ms);
    void set_gain(double gain);
    /// Sets a checked exposure without checks; returns the camera's value. Throws UsageError.
    double take_exposure(double exposure_ms);
    double exposure_ms() const; ///< current value; 0: unknown
    double gain() const;        ///< −1: unknown
    double rate() const;        ///< 0: unknown
    bool big_endian(AravisParams::ByteOrder asked) const;
    /// PixelDynamicRangeMax, if the camera has it and its format has more range.
    StatedFullScale stated_full_scale() const;
    /// Ticks per second of its time stamp clock; 0: none.
    double tick_rate() const;

    void start();
    /// Frames that pop() gives without waiting.
    int received() const;
    /// Null if none arrived.
    ArvHandle<ArvBuffer> pop(std::chrono::microseconds patience);
    /// Returns the buffer to be filled again.
    void give_back(ArvHandle<ArvBuffer> buffer);
    /// Frames without a free buffer that were not reported yet, at most `most`.
    std::uint64_t take_underruns(std::uint64_t most);
    void fire();

private:
    void check_bounds(const char* what, double value, double low, double high) const;
    void set_picture(const AravisParams& params);
    void set_packet_size(int bytes);

    ArvHandle<ArvCamera> camera_;
    NamedCamera named_;
    std::shared_ptr<std::atomic<bool>> lost_ = std::make_shared<std::atomic<bool>>(false);
    ArvHandle<ArvStream> stream_;
    Parts underruns_;
};

} // namespace specklescope
