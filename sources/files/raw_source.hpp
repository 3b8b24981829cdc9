// Consecutive headerless frames: raw:FILE?width=W&height=H&format=F. FILE.jsonl next to it, written by the
// recorder, contains their size, times and exposures.
#pragma once

#include "pipeline/source.hpp"
#include "sources/bayer.hpp"
#include "sources/registry.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace specklescope {

struct RawOptions {
    enum class Format : std::uint8_t {
        gray8,
        gray16le,
        gray16be,
        gray32f,
        rgb8,
        bgr8,
        uyvy,
        yuyv,
        mono10p,
        mono12p,
        mono14p,
        mono10packed,
        mono12packed,
        rgb16le,
        rgb32f
    };

    int width = 0; ///< pixels; required without a .jsonl file
    int height = 0;
    Format format = Format::gray8;
    int header = 0;   ///< bytes before the first frame
    double rate = 0;  ///< frames/s; 0: as fast as possible
    double speed = 1; ///< factor of the rate; 0: as fast as possible
    bool loop = false;
    double full_scale = 0; ///< largest pixel value; 0: the format's
    Bayer bayer = Bayer::none;
    std::string exposures; ///< ms, of consecutive frames; empty: from FILE.jsonl
};

/// Grey videos in YUV4MPEG2 (Cmono, Cmono9…16), which GStreamer's y4mdec refuses; nullptr: another file. rate
/// 0: the file's.
std::unique_ptr<Source> grey_y4m(const std::string& path, double rate, double speed, bool loop,
                                 const std::string& exposures);

/// Common sizes of speckle cameras, of video and of software: width and height, larger ones first.
std::span<const std::pair<int, int>> usual_raw_sizes();
/// Names of `format`.
const std::vector<std::string>& raw_formats();
/// 0: unknown format.
std::uint64_t raw_frame_bytes(int width, int height, const std::string& format);

SourceType raw_source_type();

} // namespace specklescope
