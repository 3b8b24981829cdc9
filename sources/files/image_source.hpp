// Frames from image files: one image, a multi-page TIFF, a folder, a numbered sequence, or a tall image cut
// into frames.
#pragma once

#include "pipeline/source.hpp"
#include "sources/bayer.hpp"
#include "sources/registry.hpp"

namespace specklescope {

struct ImageOptions {
    double rate = 0;  ///< frames/s; 0: as fast as possible
    double speed = 1; ///< factor of the rate; 0: as fast as possible
    bool loop = false;
    int frame_height = 0; ///< rows per frame, for images with frames below each other; 0: the whole image
    int channel = 0, slice = 0; ///< of a file with several; 0: the first
    std::string path, axes;     ///< StackChoice
    double full_scale = 0;      ///< largest pixel value; 0: the type's
    Bayer bayer = Bayer::none;
    std::string transfer = "auto"; ///< parse_transfer(); auto: from the file, or assumed for its format
};

SourceType image_source_type();

} // namespace specklescope
