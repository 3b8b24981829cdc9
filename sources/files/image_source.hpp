// Frames from image files: one image, a multi-page TIFF, a folder, a numbered sequence, a tall image cut into
// frames.
#pragma once

#include "pipeline/source.hpp"
#include "sources/bayer.hpp"
#include "sources/registry.hpp"

namespace specklescope {

struct ImageOptions {
    double rate = 0;  ///< frames/s; 0: as fast as they are taken
    double speed = 1; ///< times the rate; 0: as fast as they are taken
    bool loop = false;
    int frame_height = 0; ///< rows in a frame, for images with frames one below the other; 0: the whole image
    int channel = 0, slice = 0; ///< of a file with several; 0: the first
    double full_scale = 0;      ///< largest value a pixel can have; 0: the type's
    Bayer bayer = Bayer::none;
    std::string transfer = "auto"; ///< parse_transfer(); auto: as the file says, or as is usual of its kind
};

SourceType image_source_type();

} // namespace specklescope
