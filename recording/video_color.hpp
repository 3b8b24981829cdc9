// The colours of a video as luma and two differences, as many of them as pixels.
//
// GStreamer's own conversion to it truncates where this rounds: it leaves 37 dB (limited range) or 44 dB
// (full) of a coloured map before anything is compressed, rounding leaves 53 dB. Halved chroma leaves 24 dB.
#pragma once

#include "pipeline/image.hpp"

#include <array>
#include <cstdint>

namespace specklescope {

/// Planes of luma, blue and red difference, each as large as the picture.
struct VideoPlanes {
    std::array<std::byte*, 3> data{};
    std::array<std::size_t, 3> pitch{};
};

/// A H.264 stream states its colours. OpenCV ignores the matrix and takes BT.601. YUV4MPEG2 cannot state them
/// and is read as BT.601, luma from 16 to 235.
enum class VideoColors : std::uint8_t { bt709_full, bt709_limited, bt601_full, bt601_limited };

/// `rgb`: u8, three channels.
void to_video_planes(ConstHostView rgb, const VideoPlanes& planes,
                     VideoColors colors = VideoColors::bt709_full);

} // namespace specklescope
