// GStreamer's CUDA library and the CUDA driver, loaded by name: most machines have neither, and Debian 12
// has the first without headers.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <string>

namespace specklescope::element {

using CudaContext = void*;              ///< CUcontext of cuda.h
using CudaAddress = unsigned long long; ///< CUdeviceptr

/// Functions of cuda.h return 0 (CUDA_SUCCESS) or an error code.
struct CudaLibrary {
    std::string missing; ///< reason for gst-inspect why CUDA is not available; empty: all functions are set
    explicit operator bool() const { return missing.empty(); }

    // Declarations of gst/cuda/gstcudacontext.h, gstcudautils.h and gstcudamemory.h in GStreamer 1.22.
    gpointer (*context_new_wrapped)(CudaContext context, int device) = nullptr;
    gboolean (*handle_context_query)(GstElement* element, GstQuery* query, gpointer context) = nullptr;
    gboolean (*is_cuda_memory)(GstMemory* memory) = nullptr;
    void (*memory_sync)(GstMemory* memory) = nullptr; ///< since 1.24, null before (copies then block)

    // Declarations of cuda.h.
    int (*retain_primary)(CudaContext* context, int device) = nullptr;
    int (*push)(CudaContext context) = nullptr;
    int (*pop)(CudaContext* context) = nullptr;
    int (*attribute)(void* data, int which, CudaAddress address) = nullptr;
    int (*copy_peer)(CudaAddress to, CudaContext its, CudaAddress from, CudaContext whose,
                     std::size_t bytes) = nullptr;
};

/// Loads the libraries once per process.
const CudaLibrary& cuda_library();

} // namespace specklescope::element
