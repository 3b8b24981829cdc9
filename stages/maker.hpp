// Factories of stages on each backend, for the registry.
#pragma once

#include "have_cuda.hpp"
#include "pipeline/stage.hpp"

namespace specklescope {

/// For StageType::make_host.
template <class S> std::unique_ptr<HostStage> host_maker(const Params& params) {
    return std::make_unique<S>(params);
}

/// For StageType::make_device: `Make`, or null in a build without CUDA, which declares `Make` but does not
/// define it.
#ifdef SPECKLESCOPE_HAVE_CUDA
template <std::unique_ptr<DeviceStage> (*Make)(const Params&)> constexpr auto device_maker = Make;
#else
template <std::unique_ptr<DeviceStage> (*)(const Params&)> constexpr auto device_maker = nullptr;
#endif

} // namespace specklescope
