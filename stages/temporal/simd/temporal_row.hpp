// The inner loops of temporal contrast: one row at a time, in the best instruction set that the processor
// has. Used by stages/temporal/temporal.cpp and stages/temporal/spatiotemporal.cpp.
#pragma once

#include "pipeline/stage.hpp"
#include "stages/contrast.hpp"
#include "stages/history.hpp"
#include "stages/temporal/temporal_sums.hpp"

#include <cstddef>
#include <cstdint>

namespace specklescope {

/// One row of the sums of a window; which of them is in use is told by the pixel type and packed_sums_fit.
struct TemporalRow {
    std::uint64_t* packed = nullptr; ///< packed_sample sums; with `wide` ΣI² alone
    std::uint32_t* wide = nullptr;   ///< ΣI; null: packed
    double* real_s = nullptr;        ///< f32: the members of RealSums
    double* real_q = nullptr;
    float* reference = nullptr;
    float* peak = nullptr;
    PixelType type = PixelType::u8;
    int width = 0;
    int y = 0;
    std::byte* ring = nullptr;  ///< this row of slot 0
    std::size_t slot_bytes = 0; ///< from there to the row in slot 1
    int frames = 0;             ///< slots
    HistoryStep step;
};

/// Takes a row of the newest frame in: into the ring, and into the sums in place of what leaves.
void take_temporal_row(const TemporalRow& row, const std::byte* newest);

/// contrast_value of each pixel of the row; adds undefined and infinite ones to `counts`.
void write_temporal_row(const TemporalRow& row, const ContrastScale& scale, float* output,
                        PixelCounts& counts);

} // namespace specklescope
