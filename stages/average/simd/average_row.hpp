// The inner loops of the running mean: one row at a time, in the best instruction set that the processor has.
// Used by stages/average/average.cpp alone.
#pragma once

#include "stages/average/average.hpp"

#include <cstddef>

namespace specklescope {

/// One row of what is kept; which member is in use is told by the kind and the pixel type.
struct AverageRow {
    std::uint32_t* sums = nullptr; ///< window, integers
    double* high = nullptr;        ///< window, f32: the members of LongSum
    double* low = nullptr;
    double* mean = nullptr;    ///< exponential
    double* weights = nullptr; ///< exponential, f32: the members of FadingMean
    std::uint32_t* infinite = nullptr;
    OddSamples* odd = nullptr; ///< window, f32
    /// f32: 0 while every sample of the row that counts is finite; odd, weights and infinite mean nothing
    /// then.
    std::uint8_t* irregular = nullptr;
    PixelType type = PixelType::u8;
    int samples = 0; ///< pixels × channels
    int y = 0;
    std::byte* ring = nullptr;  ///< window: this row of slot 0
    std::size_t slot_bytes = 0; ///< from there to the row in slot 1
    int frames = 0;
    HistoryStep step;
};

/// Takes the row of the newest frame in, if step.take, and writes the means.
void run_average_row(const AverageRow& row, const std::byte* newest, float* output);

} // namespace specklescope
