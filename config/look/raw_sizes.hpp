// What a file without a header may hold, by its length.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

struct RawSize {
    int width = 0, height = 0;
    std::string format; ///< of the source `raw`: "gray16le"
    std::uint64_t frames = 0;
};
/// Sizes of sensors and screens that fill a file of so many bytes behind `header` with whole frames, in every
/// format that a raw source reads: larger pictures first. Two
/// numbers in the name with an x between ("cells_640x480.raw") come before all others, where they fit.
std::vector<RawSize> raw_sizes(std::uint64_t bytes, std::uint64_t header, const std::string& name);

/// The raw source of a file: "raw:PATH?width=…".
std::string raw_source(const std::string& path, const RawSize& size, std::uint64_t header);

/// Bytes of a pixel; 0: no such format.
int raw_pixel_bytes(const std::string& format);
/// Those that a raw source reads.
const std::vector<std::string>& raw_formats();

} // namespace specklescope
