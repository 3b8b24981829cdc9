// Conversion between GStreamer's buffers and the library's images.
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

/// For one set of caps. Holds intermediate memory.
class Frames {
public:
    /// `gpu`: GPU of the chain; −1: none, or not needed.
    Frames(const InputFormat& input, const OutputFormat& output, const specklescope_image& made, int gpu);
    const specklescope_image& made() const { return made_; }

    /// Attaches the exact values to images from the next frame on.
    void carry_values(bool on) { carries_values_ = on; }

    /// Throws Refusal; `to` is then undefined.
    void process(EditedChain& chain, const EditedView& view, GstBuffer* from, const specklescope_facts& facts,
                 GstBuffer* to);

private:
    /// The caller's rows, or a copy if samples are not aligned or are byte-swapped.
    specklescope_image input_image(EditedChain& chain, const MappedVideo& video);
    specklescope_result write_numbers(EditedChain& chain, const specklescope_image& image,
                                      const specklescope_facts& facts, GstBuffer* to);
    /// Buffer for the exact values of an image.
    Owned<GstBuffer> values_buffer(EditedChain& chain);
    void show(const EditedView& view, const specklescope_image& result, GstBuffer* to, double (&meaning)[2]);
    specklescope_image levels_image(const MappedVideo& video);
    specklescope_image rgb_image(const MappedVideo& video);
    void from_rgb(const MappedVideo& video) const;

    InputFormat input_;
    OutputFormat output_;
    specklescope_image made_;           ///< result of the chain
    std::optional<CudaFrames> cuda_;    ///< reads frames in CUDAMemory in place
    Room copied_, result_;              ///< memory of the chain
    std::vector<std::uint8_t> between_; ///< for images that cannot be written in place
    bool carries_values_ = false;
    struct Stop {
        void operator()(GstBufferPool* pool) const {
            gst_buffer_pool_set_active(pool, FALSE); // the pool's buffers may live longer
            gst_object_unref(pool);
        }
    };
    Owned<GstCaps> values_caps_;
    std::unique_ptr<GstBufferPool, Stop> values_pool_; ///< null until values are carried
};

} // namespace specklescope::element
