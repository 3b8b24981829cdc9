// What a file without a header may hold, by its length.
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
/// Sizes of sensors and screens that fill a file of so many bytes after `header` with whole frames, in every
/// format that a raw source reads: larger pictures first. Two
/// numbers in the name with an x between ("cells_640x480.raw") come before all others, where they fit.
std::vector<RawSize> raw_sizes(std::uint64_t bytes, std::uint64_t header, const std::string& name);

/// The raw source of a file: "raw:PATH?width=…".
std::string raw_source(const std::string& path, const RawSize& size, std::uint64_t header);

/// 0: no such size.
std::uint64_t raw_frame_bytes(const RawSize& size);

} // namespace specklescope
