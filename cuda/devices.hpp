// The GPUs of this machine and the executor that runs on one. Needs no CUDA header.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace specklescope {

struct GpuInfo {
    int index = 0;
    std::string name;             ///< "NVIDIA H200"
    std::size_t memory_bytes = 0; ///< all of it, not what is free
    int major = 0, minor = 0;     ///< compute capability
};

/// "0: NVIDIA H200, 140 GiB, compute capability 9.0"
std::string to_string(const GpuInfo& gpu);

/// The GPUs that CUDA can use, in CUDA's order. Where there is none, `reason` (may be null) says why: no
/// driver, a driver that is too old, no GPU. Never throws.
std::vector<GpuInfo> list_gpus(std::string* reason);

class Executor;
/// Runs chains on one GPU. Throws RunError with the reason why it cannot be used. `guest`: the calling
/// threads are somebody else's, and their current device stays as it is. `results_leave`: as
/// ExecutorChoice::device_results.
std::unique_ptr<Executor> make_cuda_executor(int device = 0, bool guest = false, bool results_leave = false);

} // namespace specklescope
