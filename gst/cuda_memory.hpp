// Frames in memory of a GPU: which GPU a chain runs on, its context for the pipeline, memory of other
// contexts.
#pragma once

#include "gst/edited.hpp"
#include "gst/owners.hpp"

#include <string>

namespace specklescope::element {

/// In the features of caps.
inline constexpr const char* kCudaMemory = "memory:CUDAMemory";
/// GST_MAP_READ_CUDA of gst/cuda/gstcudamemory.h: an address of the GPU is asked for. Beyond the numbers that
/// GstMapFlags has in C++.
inline constexpr guint kMapReadCuda = guint{GST_MAP_FLAG_LAST} << 1 | GST_MAP_READ;

/// In CUDA's order, of a chain with those options; −1: it would run on the host, or not at all.
int gpu_of(const std::string& options);

/// Whoever asks for a context of CUDA is told that in which a chain with those options computes, so that
/// frames are made where it reads them. False: the query asks for something else, or there is none.
bool answer_context(GstElement* element, GstQuery* query, const std::string& options);

/// Pictures of one set of caps, for a chain on a GPU.
class CudaFrames {
public:
    explicit CudaFrames(int gpu) : gpu_(gpu) {}

    /// Throws Refusal for a buffer that is none of CUDA's. What is being written to it is waited for.
    static void check(GstBuffer* buffer);
    /// The rows of `video`, which was mapped as kMapReadCuda says, in a shape as `of`: where they lie, or
    /// copied once within the GPU where they belong to another context than the chain's.
    specklescope_image image(EditedChain& chain, const MappedVideo& video, const specklescope_image& of);

private:
    int gpu_;
    MemoryHandle copied_;
    specklescope_image copy_{};
};

} // namespace specklescope::element
