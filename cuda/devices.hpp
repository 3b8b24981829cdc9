// GPUs of this machine and the executor for one of them. Needs no CUDA header.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace specklescope {

struct GpuInfo {
    int index = 0;
    std::string name;             ///< "NVIDIA H200"
    std::size_t memory_bytes = 0; ///< total, not free
    int major = 0, minor = 0;     ///< compute capability
};

/// "0: NVIDIA H200, 140 GiB, compute capability 9.0"
std::string to_string(const GpuInfo& gpu);

/// GPUs usable by CUDA, in CUDA's order. If there are none, `reason` (may be null) explains why: no driver,
/// an old driver, no GPU. Never throws.
std::vector<GpuInfo> list_gpus(std::string* reason);

class Executor;
/// Runs chains on one GPU. Throws RunError with the reason if it cannot be used. `guest`: keeps the current
/// device of the calling threads. `results_leave`: see ExecutorChoice::device_results.
std::unique_ptr<Executor> make_cuda_executor(int device = 0, bool guest = false, bool results_leave = false);

} // namespace specklescope
