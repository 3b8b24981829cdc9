// Cases to measure: every stage of the registry with its relevant settings, sizes and pixel types; and new
// frames.
#pragma once

#include "pipeline/chain.hpp"
#include "pipeline/frame.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace specklescope::bench {

struct KernelCase {
    std::string work; ///< "gaussian:method=recursive,sigma=10"
    Shape shape;      ///< of the input
    std::string name() const { return work + " " + to_string(shape); } ///< searched by --filter
};
/// Every stage: its default, and the variants in cases.cpp.
std::vector<KernelCase> kernel_cases(std::string_view filter);

/// Stages measured with each instruction set of the host.
std::vector<KernelCase> simd_cases(std::string_view filter);

/// Work of earlier publications with their sizes and pixel types. The filter "published" selects all.
std::vector<KernelCase> published_cases(std::string_view filter);

/// Frames of fully developed speckle from a 12-bit camera: negative exponential with mean 400, clipped at
/// 4095; u8: divided by 16; f32: the same numbers. All frames differ.
std::vector<Frame> speckle_frames(const Shape& shape, int count, const std::shared_ptr<SlotMemory>& memory);
/// Frames for this stage: K² of several exposures in turn if it takes them, otherwise speckle.
std::vector<Frame> speckle_frames(const KernelCase& work, int count,
                                  const std::shared_ptr<SlotMemory>& memory);
/// Number of frames that the stage needs for its usual work.
int least_frames(const KernelCase& work);
/// Frames for outputs, filled with `poison`.
std::vector<Frame> poisoned_frames(const Shape& shape, int count, std::byte poison);

/// Number of inputs and outputs to rotate so that they exceed the caches of a core, within 256 MiB.
int rotation(const Shape& input, const Shape& output);

} // namespace specklescope::bench
