// Stages and memory of the host and of one GPU, and the instruction set of the host's loops.
#pragma once

#include "bench/cases.hpp"
#include "bench/report.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace specklescope::bench {

/// One stage on one kind of frame.
struct KernelRun {
    Spread time;
    Spread copy; ///< of copying as many bytes as input and output have together
    Shape output;
    std::string note; ///< choice of the stage
    /// maximum difference from the reference: see difference(); infinite if poison is left
    double difference = 0;
    bool agrees = false;
};

/// Copies half of `bytes` with all threads, so that `bytes` are read and written in total.
Spread copy_on_host(std::size_t bytes);

/// Throws UsageError if the stage cannot run on this shape. Checks that the result does not depend on the
/// output's previous content.
KernelRun run_on_host(const KernelCase& work);

/// The same with each of simd_to_compare(), by name.
using SimdRuns = std::vector<std::pair<std::string, KernelRun>>;
SimdRuns run_with_each_simd(const KernelCase& work);

/// Processes `inputs` one after the other with a host stage; returns the last output.
Frame host_result(const ChainStage& link, const std::vector<Frame>& inputs);

/// Maximum difference over all pixels: |a − b| over the larger of |b| and a thousandth of the largest finite
/// |b|; for u8 and u16 over full scale. Infinite if only one is NaN or infinite.
double difference(ConstHostView a, ConstHostView b);

/// SPECKLESCOPE_SIMD=AVX2 (or SSE4, AVX3, …) in the environment limits the instruction set of the host's
/// loops, so that several can be measured on one machine. Throws UsageError with the list of names.
void use_simd_of_environment();

/// Instruction sets to compare, best first, by Highway's names: AVX3 (AVX-512) and AVX2, if the processor and
/// SPECKLESCOPE_SIMD allow; otherwise empty.
std::vector<std::string> simd_to_compare();

/// Limits the host's loops to `name`, one of simd_to_compare(), for its lifetime.
class SimdLimit {
public:
    explicit SimdLimit(const std::string& name);
    ~SimdLimit();
    SimdLimit(const SimdLimit&) = delete;
    SimdLimit& operator=(const SimdLimit&) = delete;
};

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
