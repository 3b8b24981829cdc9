// Supported pixel formats of cameras (PFNC).
#pragma once

#include "files/stored_pixels.hpp"
#include "sources/aravis/aravis_source.hpp"
#include "sources/bayer.hpp"

#include <cstdint>
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

} // namespace specklescope
