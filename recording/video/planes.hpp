// Images as luma and two colour differences, the format of videos.
//
// GStreamer's own conversion truncates, while this one rounds. Before compression, truncation leaves 37 dB
// (limited range) or 44 dB (full range) of a coloured map, rounding leaves 53 dB. Halved chroma leaves 24
// dB.
#pragma once

#include "pipeline/image.hpp"

#include <array>
#include <cstdint>

using GstBuffer = struct _GstBuffer; // NOLINT: GStreamer's names
using GstCaps = struct _GstCaps;     // NOLINT

namespace specklescope {

/// Planes of luma, blue and red difference, each as large as the image.
struct VideoPlanes {
    std::array<std::byte*, 3> data{};
    std::array<std::size_t, 3> pitch{};
};

/// A H.264 stream states its colours. OpenCV ignores the matrix and assumes BT.601. YUV4MPEG2 cannot state
/// them and is read as BT.601, luma from 16 to 235.
enum class VideoColors : std::uint8_t { bt709_full, bt709_limited, bt601_full, bt601_limited };

/// Resolution of colour: half in both directions (4:2:0, which every client decodes), or full (4:4:4).
enum class Chroma : std::uint8_t { halved, full };

/// `rgb`: u8, three channels.
void to_video_planes(ConstHostView rgb, const VideoPlanes& planes,
                     VideoColors colors = VideoColors::bt709_full);

/// By default full range and BT.601, the only matrix that every client assumes or obeys. With 4:2:0 the size
/// is even: the last column and row are repeated if necessary. Throws RunError without memory.
GstBuffer* make_planes(ConstHostView rgb, Chroma chroma = Chroma::full,
                       VideoColors colors = VideoColors::bt601_full);
/// Caps of make_planes() at any frame rate, owned by the caller.
GstCaps* planes_caps(const Shape& shape, Chroma chroma = Chroma::full);

} // namespace specklescope
