// GigE Vision and USB3 Vision cameras, through Aravis. Capture times are the camera's time stamps, in ns on
// its clock, which may be set by PTP. After a reconnection with a restarted clock they continue after the
// last one. Cameras without a clock get arrival times.
#pragma once

#include "pipeline/param.hpp"
#include "pipeline/source.hpp"
#include "sources/registry.hpp"

namespace specklescope {

struct AravisParams {
    enum class Format : std::uint8_t {
        automatic,
        mono8,
        mono10,
        mono12,
        mono14,
        mono16,
        mono10p,
        mono12p,
        mono14p,
        mono10packed,
        mono12packed,
        bayer8,
        bayer10,
        bayer12,
        bayer16,
        bayer10p,
        bayer12p,
        bayer10packed,
        bayer12packed,
        rgb8,
        bgr8,
        yuv422
    };
    enum class ByteOrder : std::uint8_t { automatic, little, big };
    enum class Activation : std::uint8_t { keep, rising, falling, any, high, low };
    enum class Start : std::uint8_t { open, record };
    enum class Switch : std::uint8_t { keep, off, on };

    double exposure_ms = 0; ///< 0: the camera's setting; after opening, the camera's value
    std::string exposures;  ///< ms, in turn, instead of exposure_ms
    /// Frames discarded after each change, without chunk data: one is being sent, one exposed, and some
    /// sensors take a setting one frame later.
    int settle = 3;
    double gain = -1; ///< dB; -1: the camera's setting; after opening, the camera's value
    double rate = 0;  ///< frames/s; 0: the camera's setting
    Format format = Format::automatic;
    /// For 16-bit pixels. automatic: DeviceStreamChannelEndianness if the camera has it, otherwise
    /// little-endian as defined for GenICam's pixel formats (PFNC). For cameras that send big-endian words
    /// nevertheless, set `big`.
    ByteOrder byte_order = ByteOrder::automatic;
    int width = 0; ///< 0: the camera's setting
    int height = 0;
    int packet_size = 0; ///< bytes on the wire (GigE); 0: negotiated

    std::string trigger = "keep"; ///< off, software, or an entry of TriggerSource
    Activation activation = Activation::keep;
    double trigger_rate = 0; ///< software triggers/s; 0: only on request
    int triggers = 0;        ///< number of triggers after which the source ends; 0: unlimited
    Start trigger_start = Start::open;
    int fire = 0;                                 ///< software triggers requested so far
    std::string output_line;                      ///< an entry of LineSelector; empty: none
    std::string output_source = "ExposureActive"; ///< an entry of LineSource
    Switch chunks = Switch::keep;
    Switch ptp = Switch::keep;
};

/// Kind "aravis"; the target is the camera's name, address or serial number in Aravis, empty: the first
/// camera.
SourceType aravis_source_type();

const ParamTable& aravis_table();

} // namespace specklescope
