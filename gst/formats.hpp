// Input and output formats as caps.
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
    bool luma = false;          ///< only the first plane is used
};

/// Formats of a result, the preferred one first.
enum class Sent : std::uint8_t {
    numbers, ///< application/x-specklescope: the result of the chain, byte for byte
    tensors, ///< the same bytes as other/tensors
    rgba,    ///< colours of the view
    rgb,
    levels, ///< GRAY16_LE: value = offset + scale·level
    grey    ///< GRAY8: the view in shades of grey
};

inline bool is_picture(Sent sent) { return sent != Sent::numbers && sent != Sent::tensors; }

struct OutputFormat {
    Sent sent = Sent::numbers;
    GstVideoInfo info{}; ///< of the video formats
    std::size_t bytes = 0;
};

/// Template caps of the pads, with CUDAMemory if available.
Owned<GstCaps> sink_template();
Owned<GstCaps> source_template();

/// Nullopt for caps outside the template.
std::optional<InputFormat> input_format(const GstCaps* caps);
std::optional<OutputFormat> output_format(const GstCaps* caps);
/// Bytes of a frame with these caps, without gaps between rows; 0 for unsupported caps.
std::size_t frame_bytes(const GstCaps* caps);
std::size_t frame_bytes(const specklescope_image& image);

/// Possible caps on the other side of the element: all its formats, with the same size if `in_place`.
Owned<GstCaps> other_side(GstPadDirection from, const GstCaps* caps, bool in_place);
/// Preferred caps among `taken` for a result of the shape `made`; empty: none. Rate and pixel aspect ratio
/// are those of `input`.
Owned<GstCaps> caps_of_result(const specklescope_image& made, const GstCaps* input, const GstCaps* taken);
/// Caps of a result as application/x-specklescope, at the rate of `input`.
Owned<GstCaps> caps_of_numbers(const specklescope_image& made, const GstVideoInfo& input);
/// "67×45 pixels, grey, float": for messages.
std::string words_of(const specklescope_image& image);

} // namespace specklescope::element
