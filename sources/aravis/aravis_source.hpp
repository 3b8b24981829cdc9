// GigE Vision and USB3 Vision cameras, through aravissrc.
#pragma once

#include "pipeline/source.hpp"
#include "sources/registry.hpp"

namespace specklescope {

struct AravisParams {
    enum class Format : std::uint8_t { automatic, mono8, mono10, mono12, mono14, mono16 };
    enum class ByteOrder : std::uint8_t { automatic, little, big };

    double exposure_ms = 0; ///< 0: as the camera is set; after opening, what the camera reports
    double gain = -1;       ///< dB; -1: as the camera is set; after opening, what the camera reports
    double rate = 0;        ///< frames/s; 0: as the camera is set
    Format format = Format::automatic;
    /// Of 16-bit pixels. automatic: DeviceStreamChannelEndianness where the camera has it, otherwise
    /// little-endian, as GenICam's pixel formats are (PFNC). Some cameras send big-endian words all the same:
    /// set `big`.
    ByteOrder byte_order = ByteOrder::automatic;
    int width = 0; ///< 0: as the camera is set
    int height = 0;
    int packet_size = 0; ///< bytes on the wire (GigE); 0: negotiated
};

/// Kind "aravis"; the target is the camera's name, address or serial number as Aravis knows it, empty: the
/// first one.
SourceType aravis_source_type();

} // namespace specklescope
