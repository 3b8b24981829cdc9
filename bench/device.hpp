// Measures stages and copies on one GPU. Needs no CUDA header.
#pragma once

#include "bench/host.hpp"

#include <memory>

namespace specklescope::bench {

class DeviceBench {
public:
    virtual ~DeviceBench() = default;
    /// Copies half of `bytes` within the device.
    virtual Spread copy_inside(std::size_t bytes) = 0;
    /// Page-locked host → device, and back; 64 MiB per copy. GB/s.
    virtual double upload_rate() = 0;
    virtual double download_rate() = 0;
    /// Measured by events with many calls between two. The results of three consecutive frames are compared
    /// with the host's.
    virtual KernelRun run(const KernelCase& work) = 0;
    /// One frame from page-locked memory, the stage, the result back: sequentially on one stream.
    virtual Spread with_copies(const KernelCase& work) = 0;
    /// Driver, CUDA and memory, for the report.
    virtual std::vector<std::pair<std::string, std::string>> facts() const = 0;
};

/// Null, with the reason, without a GPU or in a build without CUDA.
std::unique_ptr<DeviceBench> make_device_bench(std::string* reason);

} // namespace specklescope::bench
