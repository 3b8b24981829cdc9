// Pixel formats of cameras (PFNC) that are read.
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
    AravisParams::Format asked; ///< option that takes it
    const char* genicam;
    std::uint32_t code; ///< ArvPixelFormat
    StoredPixels pixels;
    Bayer bayer = Bayer::none; ///< colours of a mosaic

    /// Of a frame that is made of a picture of this size.
    Shape shape(int width, int height) const;
};

/// In the order in which `auto` prefers them: grey of many bits first.
std::span<const CameraFormat> camera_formats();
/// Null for one that is not read.
const CameraFormat* find_format(std::uint32_t code);
/// Names of AravisParams::Format.
std::vector<std::string> camera_format_names();

} // namespace specklescope
