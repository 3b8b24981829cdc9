// Interface between the device side of stage equalize and its kernels.
#pragma once

#include "stages/equalize/equalize.hpp"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace specklescope::cuda {

inline constexpr int kEqualizeThreads = 512; ///< an estimate
/// One round of the scan: 4 bins per thread. Counts and cumulative counts are padded to whole rounds.
inline constexpr std::uint32_t kScanBins = 4 * kEqualizeThreads;
/// Counters that allow several blocks per multiprocessor: 32 copies of 256 bins, one per lane.
inline constexpr std::uint32_t kFewCounters = 8192;

/// In device memory. `low` and `high` are ordered_bits() of f32.
struct EqualizeState {
    std::uint32_t low, high; ///< of the finite pixels; 0xFFFFFFFF and 0 between frames
    std::uint32_t done;      ///< blocks that have finished counting; 0 between frames
    std::uint32_t unchanged; ///< f32: the frame stays unchanged
    RealBins real;
};

struct EqualizeArgs {
    const std::byte* input;
    std::byte* output;
    std::size_t input_pitch, output_pitch;
    int width, height;
    LevelBins levels; ///< u8, u16
    std::uint32_t bins;
    std::uint32_t weight;
    EqualizeParams::Scaling scaling;
    std::uint32_t span;    ///< bins (u8: levels) counted by one pass in shared memory
    std::uint32_t copies;  ///< interleaved copies, a power of two up to 32
    std::uint32_t* counts; ///< zero between frames
    std::uint32_t* cumulative;
    EqualizeState* state;
    /// u8 × 3: byte_ratio() of 0…255, V' of black in place of byte_offset(); u8, u16: levels 0…full; f32:
    /// value of each bin
    void* table;
};

/// Kernels for one pixel type and channel count; blocks of kEqualizeThreads.
struct EqualizeKernels {
    void (*range)(EqualizeArgs); ///< f32: fills low and high; else null
    /// Counts; the last block makes the table. Dynamic shared memory: span·copies counters; gridDim.y:
    /// passes.
    void (*count)(EqualizeArgs);
    void (*map)(EqualizeArgs);
};
EqualizeKernels equalize_kernels(PixelType type, int channels);

} // namespace specklescope::cuda
