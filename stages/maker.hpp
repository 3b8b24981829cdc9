// How a row of the registry makes its stage on each backend.
#pragma once

#include "have_cuda.hpp"
#include "pipeline/stage.hpp"

namespace specklescope {

/// For StageType::make_host.
template <class S> std::unique_ptr<HostStage> host_maker(const Params& params) {
    return std::make_unique<S>(params);
}

/// For StageType::make_device: `Make`, which a build without CUDA declares and does not have, or null.
#ifdef SPECKLESCOPE_HAVE_CUDA
template <std::unique_ptr<DeviceStage> (*Make)(const Params&)> constexpr auto device_maker = Make;
#else
template <std::unique_ptr<DeviceStage> (*)(const Params&)> constexpr auto device_maker = nullptr;
#endif

} // namespace specklescope
