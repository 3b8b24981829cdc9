// GStreamer's library for CUDA and the driver of CUDA, by name: most machines have neither, and Debian 12 has
// the first without its headers.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <string>

namespace specklescope::element {

using CudaContext = void*;              ///< CUcontext of cuda.h
using CudaAddress = unsigned long long; ///< CUdeviceptr

/// Functions of cuda.h give 0 (CUDA_SUCCESS) or a number that says what is wrong.
struct CudaLibrary {
    std::string missing; ///< why there is none, in words for gst-inspect; empty: all of these are there
    explicit operator bool() const { return missing.empty(); }

    // gst/cuda/gstcudacontext.h, gstcudautils.h and gstcudamemory.h as of GStreamer 1.22.
    gpointer (*context_new_wrapped)(CudaContext context, int device) = nullptr;
    gboolean (*handle_context_query)(GstElement* element, GstQuery* query, gpointer context) = nullptr;
    gboolean (*is_cuda_memory)(GstMemory* memory) = nullptr;
    void (*memory_sync)(GstMemory* memory) =
        nullptr; ///< since 1.24, null before; there copies are waited for

    // cuda.h.
    int (*retain_primary)(CudaContext* context, int device) = nullptr;
    int (*push)(CudaContext context) = nullptr;
    int (*pop)(CudaContext* context) = nullptr;
    int (*attribute)(void* data, int which, CudaAddress address) = nullptr;
    int (*copy_peer)(CudaAddress to, CudaContext its, CudaAddress from, CudaContext whose,
                     std::size_t bytes) = nullptr;
};

/// Looked for once in a process.
const CudaLibrary& cuda_library();

} // namespace specklescope::element
