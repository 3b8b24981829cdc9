// What is measured: every stage of the registry in the settings that matter, every size, its pixel types; and
// fresh frames.
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
    std::string name() const { return work + " " + to_string(shape); } ///< what --filter looks into
};
/// Every stage: its default, and the variants of a table in cases.cpp.
std::vector<KernelCase> kernel_cases(std::string_view filter);

/// Stages that are measured with each instruction set of the host.
std::vector<KernelCase> simd_cases(std::string_view filter);

/// Work of earlier publications in their sizes and pixel types. The filter "published" selects all.
std::vector<KernelCase> published_cases(std::string_view filter);

/// Frames of fully developed speckle as a 12-bit camera gives it: negative exponential of mean 400, clipped
/// at 4095; u8: a sixteenth; f32: the same numbers. Different each time.
std::vector<Frame> speckle_frames(const Shape& shape, int count, const std::shared_ptr<SlotMemory>& memory);
/// Frames for outputs, filled with `poison`.
std::vector<Frame> poisoned_frames(const Shape& shape, int count, std::byte poison);

/// So many inputs and outputs in turn that no core's own cache holds them, within 256 MiB.
int rotation(const Shape& input, const Shape& output);

} // namespace specklescope::bench
