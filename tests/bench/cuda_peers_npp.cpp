// NVIDIA's image library compared with ours, if it is installed.
#include "tests/bench/cuda_peers.hpp"

#if defined(SPECKLESCOPE_HAVE_NPP) && __has_include(<nppi_filtering_functions.h>)
#include <nppcore.h>
#include <nppi_filtering_functions.h>
#define SPECKLESCOPE_NPP 1
#else
#define SPECKLESCOPE_NPP 0
#endif

#include <cstdio>
#include <utility>

namespace specklescope::bench {

#if SPECKLESCOPE_NPP

namespace {

using namespace cuda;

NppStreamContext context_of(const Stream& stream) {
    int device = 0;
    cudaDeviceProp gpu{};
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaGetDeviceProperties(&gpu, device), "cudaGetDeviceProperties");
    NppStreamContext context{};
    context.hStream = stream.get();
    context.nCudaDeviceId = device;
    context.nMultiProcessorCount = gpu.multiProcessorCount;
    context.nMaxThreadsPerMultiProcessor = gpu.maxThreadsPerMultiProcessor;
    context.nMaxThreadsPerBlock = gpu.maxThreadsPerBlock;
    context.nSharedMemPerBlock = gpu.sharedMemPerBlock;
    context.nCudaDevAttrComputeCapabilityMajor = gpu.major;
    context.nCudaDevAttrComputeCapabilityMinor = gpu.minor;
    check(cudaStreamGetFlags(stream.get(), &context.nStreamFlags), "cudaStreamGetFlags");
    return context;
}

template <class T> using Gauss = NppStatus (*)(const T*, Npp32s, NppiSize, NppiPoint, T*, Npp32s, NppiSize,
                                               NppiMaskSize, NppiBorderType, NppStreamContext);

template <class T> Peer gauss5(const Ours& ours, Gauss<T> function) {
    const NppLibraryVersion& version = *nppGetLibVersion();
    return {"NPP " + std::to_string(version.major) + "." + std::to_string(version.minor) +
                " nppiFilterGaussBorder 5×5",
            [function, &ours, context = context_of(ours.stream())](int i) {
                const auto at = static_cast<std::size_t>(i);
                const DeviceView from = ours.inputs()[at].device();
                const DeviceView to = ours.outputs()[at].device();
                const NppiSize size{from.shape.width, from.shape.height};
                const NppStatus status =
                    function(reinterpret_cast<const T*>(from.data), static_cast<Npp32s>(from.pitch), size,
                             {0, 0}, reinterpret_cast<T*>(to.data), static_cast<Npp32s>(to.pitch), size,
                             NPP_MASK_SIZE_5_X_5, NPP_BORDER_REPLICATE, context);
                if (status != NPP_SUCCESS)
                    throw RunError("NPP refuses with code " + std::to_string(status) + ".");
            }};
}

} // namespace

void add_npp(std::vector<Comparison>& all) {
    all.push_back({"gaussian:method=binomial5", {3840, 2160, 3, PixelType::u8}, [](const Ours& ours) {
                       return gauss5<Npp8u>(ours, nppiFilterGaussBorder_8u_C3R_Ctx);
                   }});
    for (const auto& [width, height] : {std::pair{640, 480}, {1280, 720}, {1920, 1080}, {3840, 2160}})
        all.push_back({"gaussian:method=binomial5", {width, height, 3, PixelType::f32}, [](const Ours& ours) {
                           return gauss5<Npp32f>(ours, nppiFilterGaussBorder_32f_C3R_Ctx);
                       }});
    all.push_back({"gaussian:method=binomial5", {3840, 2160, 1, PixelType::f32}, [](const Ours& ours) {
                       return gauss5<Npp32f>(ours, nppiFilterGaussBorder_32f_C1R_Ctx);
                   }});
}

#else

void add_npp(std::vector<Comparison>&) {
    std::fputs("This build has no NPP (libnpp of the CUDA toolkit): its rows are omitted.\n", stderr);
}

#endif

} // namespace specklescope::bench
