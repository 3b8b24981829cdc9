// Headerless frames one after another: raw:FILE?width=1920&height=1200&format=gray8.
#pragma once

#include "pipeline/source.hpp"
#include "sources/registry.hpp"

namespace specklescope {

struct RawOptions {
    enum class Format : std::uint8_t { gray8, gray16le, gray16be, gray32f, rgb8 };

    int width = 0; ///< pixels; required
    int height = 0;
    Format format = Format::gray8;
    int header = 0;  ///< bytes before the first frame
    double rate = 0; ///< frames/s; 0: as fast as they are taken
    bool loop = false;
    double full_scale = 0; ///< largest value a pixel can have; 0: the type's
};

SourceType raw_source_type();

} // namespace specklescope
