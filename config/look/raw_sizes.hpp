// Possible contents of a file without a header, from its length.
#pragma once

#include "sources/files/raw_source.hpp" // raw_formats()

#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

struct RawSize {
    int width = 0, height = 0;
    std::string format; ///< of the source `raw`: "gray16le"
    std::uint64_t frames = 0;
};
/// Sizes of sensors and screens that divide a file of this length after `header` into whole frames, in every
/// format of a raw source: larger images first. Two numbers in the name with an x between
/// ("cells_640x480.raw") come first if they fit.
std::vector<RawSize> raw_sizes(std::uint64_t bytes, std::uint64_t header, const std::string& name);

/// The raw source of a file: "raw:PATH?width=…".
std::string raw_source(const std::string& path, const RawSize& size, std::uint64_t header);

/// 0: no such size.
std::uint64_t raw_frame_bytes(const RawSize& size);

} // namespace specklescope
