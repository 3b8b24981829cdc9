// One open camera and its stream of buffers.
#pragma once

#include "files/image_file.hpp"
#include "sources/aravis/aravis_source.hpp"
#include "sources/aravis/camera_format.hpp"
#include "sources/aravis/features.hpp"
#include "sources/aravis/frame_numbers.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace specklescope {

/// Every camera that answers now, as SOURCE arguments with a description.
std::vector<std::pair<std::string, std::string>> discover_cameras();

class Camera {
public:
    /// `wanted`: name, address or serial number, empty: the first. Throws RunError.
    explicit Camera(const std::string& wanted);
    /// Stops what can be stopped; a camera that does not answer holds it up.
    ~Camera();
    Camera(const Camera&) = delete;
    Camera& operator=(const Camera&) = delete;

    const std::string& name() const { return named_.name; }
    const NamedCamera& named() const { return named_; }
    ArvCamera* get() const { return camera_.get(); }
    /// It has stopped answering.
    bool lost() const { return lost_->load(); }

    /// All that the options ask for, before any of it: throws UsageError and leaves the camera alone.
    void check(const AravisParams& params) const;
    void configure(const AravisParams& params);
    void set_exposure(double exposure_ms);
    void set_gain(double gain);
    double exposure_ms() const; ///< as it is set; 0: it does not say
    double gain() const;        ///< −1: it does not say
    double rate() const;        ///< 0: it does not say
    bool big_endian(AravisParams::ByteOrder asked) const;
    /// PixelDynamicRangeMax, where the camera has it and 16 bits could hold more.
    StatedFullScale stated_full_scale() const;
    /// Ticks a second of the clock of its time stamps; 0: it has none.
    double tick_rate() const;

    void start();
    /// Null where none came.
    ArvHandle<ArvBuffer> pop(std::chrono::microseconds patience);
    /// To be filled again.
    void give_back(ArvHandle<ArvBuffer> buffer);
    /// Of the frames for which no buffer was free, those that have not been told yet; `most` or less.
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
