// One buffer in, one buffer out: between GStreamer's memory and the library's images.
#pragma once

#include "gst/cuda_memory.hpp"
#include "gst/edited.hpp"
#include "gst/formats.hpp"
#include "gst/owners.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace specklescope::element {

/// Of one set of caps. Keeps the memory that stands in between.
class Frames {
public:
    /// `gpu`: that the chain runs on; −1: none, or it does not matter.
    Frames(const InputFormat& input, const OutputFormat& output, const specklescope_image& made, int gpu);
    const specklescope_image& made() const { return made_; }

    /// Pictures have the exact numbers with them, from the next one on.
    void carry_values(bool on) { carries_values_ = on; }

    /// Throws Refusal; `to` is then worth nothing.
    void process(EditedChain& chain, const EditedView& view, GstBuffer* from, const specklescope_facts& facts,
                 GstBuffer* to);

private:
    /// The caller's own rows, or a copy where a sample would not lie as the library needs it.
    specklescope_image input_image(EditedChain& chain, const MappedVideo& video);
    specklescope_result write_numbers(EditedChain& chain, const specklescope_image& image,
                                      const specklescope_facts& facts, GstBuffer* to);
    /// Room for the exact numbers of a picture.
    Owned<GstBuffer> values_buffer(EditedChain& chain);
    void show(const EditedView& view, const specklescope_image& result, GstBuffer* to, double (&meaning)[2]);
    specklescope_image levels_image(const MappedVideo& video);
    specklescope_image rgb_image(const MappedVideo& video);
    void from_rgb(const MappedVideo& video) const;

    InputFormat input_;
    OutputFormat output_;
    specklescope_image made_;           ///< what the chain makes
    std::optional<CudaFrames> cuda_;    ///< frames in CUDAMemory are read there, not on the host
    Room copied_, result_;              ///< the chain's own memory
    std::vector<std::uint8_t> between_; ///< a picture that cannot be made where it goes
    bool carries_values_ = false;
    struct Stop {
        void operator()(GstBufferPool* pool) const {
            gst_buffer_pool_set_active(pool, FALSE); // its buffers may live longer
            gst_object_unref(pool);
        }
    };
    Owned<GstCaps> values_caps_;
    std::unique_ptr<GstBufferPool, Stop> values_pool_; ///< null until values are carried
};

} // namespace specklescope::element
