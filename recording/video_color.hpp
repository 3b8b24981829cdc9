// The colours of a video as H.264 keeps them: BT.709, full range, as many chroma samples as pixels.
//
// GStreamer's own conversion to it truncates where this rounds: it leaves 37 dB (limited range) or 44 dB
// (full) of a coloured map before anything is compressed, rounding leaves 53 dB. Halved chroma leaves 24 dB.
#pragma once

#include "pipeline/image.hpp"

#include <array>

namespace specklescope {

/// Planes of luma, blue and red difference, each as large as the picture.
struct VideoPlanes {
    std::array<std::byte*, 3> data{};
    std::array<std::size_t, 3> pitch{};
};

/// `rgb`: u8, three channels.
void to_video_planes(ConstHostView rgb, const VideoPlanes& planes);

} // namespace specklescope
