#include "bench/device.hpp"
#include "have_cuda.hpp"

#ifndef SPECKLESCOPE_HAVE_CUDA

namespace specklescope::bench {

std::unique_ptr<DeviceBench> make_device_bench(std::string* reason) {
    if (reason)
        *reason = "this build has no CUDA backend";
    return nullptr;
}

} // namespace specklescope::bench

#endif
