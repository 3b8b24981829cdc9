// What goes in and what comes out, as caps.
#pragma once

#include "gst/library.hpp"
#include "gst/owners.hpp"

#include <optional>

namespace specklescope::element {

struct InputFormat {
    GstVideoInfo info{};
    specklescope_image image{}; ///< without data and pitch
    bool swap = false;          ///< 16-bit words in the other byte order than this machine's
    bool cuda = false;          ///< the caps say CUDAMemory
    bool luma = false;          ///< of the planes only the first is looked at
};

/// What a result is sent as, the preferred one first.
enum class Sent : std::uint8_t {
    numbers, ///< application/x-specklescope: what the chain makes, byte for byte
    tensors, ///< the same bytes as other/tensors
    rgba,    ///< colours of the view
    rgb,
    levels, ///< GRAY16_LE: value = offset + scale·level
    grey    ///< GRAY8: the view in shades of grey
};

inline bool is_picture(Sent sent) { return sent != Sent::numbers && sent != Sent::tensors; }

struct OutputFormat {
    Sent sent = Sent::numbers;
    GstVideoInfo info{}; ///< of a picture
    std::size_t bytes = 0;
};

/// Of the pads' templates; CUDAMemory where there is any.
Owned<GstCaps> sink_template();
Owned<GstCaps> source_template();

/// Empty for caps that are not among the template's.
std::optional<InputFormat> input_format(const GstCaps* caps);
std::optional<OutputFormat> output_format(const GstCaps* caps);
/// Bytes of a frame of such caps without gaps between its rows; 0 where they are neither.
std::size_t frame_bytes(const GstCaps* caps);
std::size_t frame_bytes(const specklescope_image& image);

/// What may stand on the other side of the element: all its formats, and sizes as they are where `in_place`.
Owned<GstCaps> other_side(GstPadDirection from, const GstCaps* caps, bool in_place);
/// Of what the other side takes, the preferred caps in which a result of the shape `made` fits; empty where
/// none does. Rate and aspect of pixels are those of `input`.
Owned<GstCaps> caps_of_result(const specklescope_image& made, const GstCaps* input, const GstCaps* taken);
/// Of a result as application/x-specklescope, at the rate of `input`.
Owned<GstCaps> caps_of_numbers(const specklescope_image& made, const GstVideoInfo& input);
/// "67×45 pixels, grey, float": for sentences.
std::string words_of(const specklescope_image& image);

} // namespace specklescope::element
