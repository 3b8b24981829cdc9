// Inner loops of the running mean: one row, in the best instruction set of the processor. Used only by
// stages/average/average.cpp.
#pragma once

#include "stages/average/average.hpp"

#include <cstddef>

namespace specklescope {

/// State of one row; kind and pixel type determine the members in use.
struct AverageRow {
    std::uint32_t* sums = nullptr; ///< window, integers
    double* high = nullptr;        ///< window, f32: the members of LongSum
    double* low = nullptr;
    double* mean = nullptr;    ///< exponential
    double* weights = nullptr; ///< exponential, f32: the members of FadingMean
    std::uint32_t* infinite = nullptr;
    OddSamples* odd = nullptr; ///< window, f32
    /// f32: 0 while all samples in the window of this row are finite; odd, weights and infinite are then not
    /// valid.
    std::uint8_t* irregular = nullptr;
    PixelType type = PixelType::u8;
    int samples = 0; ///< pixels × channels
    int y = 0;
    std::byte* ring = nullptr;  ///< window: this row in slot 0
    std::size_t slot_bytes = 0; ///< distance to the row in slot 1
    int frames = 0;
    HistoryStep step;
};

/// Adds the row of the newest frame if step.take, and writes the means.
void run_average_row(const AverageRow& row, const std::byte* newest, float* output);

} // namespace specklescope
