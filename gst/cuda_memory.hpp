// Frames in GPU memory: GPU of a chain, its context for the pipeline, memory of other contexts.
#pragma once

#include "gst/edited.hpp"
#include "gst/owners.hpp"

#include <string>

namespace specklescope::element {

/// Caps feature.
inline constexpr const char* kCudaMemory = "memory:CUDAMemory";
/// GST_MAP_READ_CUDA of gst/cuda/gstcudamemory.h requests a GPU address. The value is outside GstMapFlags in
/// C++.
inline constexpr guint kMapReadCuda = guint{GST_MAP_FLAG_LAST} << 1 | GST_MAP_READ;

/// GPU in CUDA's order of a chain with these options; −1: it runs on the host, or not at all.
int gpu_of(const std::string& options);

/// Answers a query for a CUDA context with the context of a chain with these options, so that frames are
/// allocated there. False: another query, or there is no context.
bool answer_context(GstElement* element, GstQuery* query, const std::string& options);

/// Images of one set of caps, for a chain on a GPU.
class CudaFrames {
public:
    explicit CudaFrames(int gpu) : gpu_(gpu) {}

    /// Waits until the buffer is written. Throws Refusal if it is not in CUDA memory.
    static void check(GstBuffer* buffer);
    /// Image of `video` (mapped with kMapReadCuda) with the shape of `of`. It refers to the buffer's rows,
    /// or to a copy on the GPU if they belong to another context than the chain's.
    specklescope_image image(EditedChain& chain, const MappedVideo& video, const specklescope_image& of);

private:
    int gpu_;
    MemoryHandle copied_;
    specklescope_image copy_{};
};

} // namespace specklescope::element
