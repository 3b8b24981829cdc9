// Inner loops of temporal contrast: one row, in the best instruction set of the processor. Used by
// stages/temporal/temporal.cpp and stages/temporal/spatiotemporal.cpp.
#pragma once

#include "pipeline/stage.hpp"
#include "stages/contrast.hpp"
#include "stages/history.hpp"
#include "stages/temporal/temporal_sums.hpp"

#include <cstddef>
#include <cstdint>

namespace specklescope {

/// Sums of a window for one row; the pixel type and packed_sums_fit determine which are used.
struct TemporalRow {
    std::uint64_t* packed = nullptr; ///< packed_sample sums; with `wide` only ΣI²
    std::uint32_t* wide = nullptr;   ///< ΣI; null: packed
    double* real_s = nullptr;        ///< f32: the members of RealSums
    double* real_q = nullptr;
    float* reference = nullptr;
    float* peak = nullptr;
    PixelType type = PixelType::u8;
    int width = 0;
    int y = 0;
    std::byte* ring = nullptr;  ///< this row in slot 0
    std::size_t slot_bytes = 0; ///< distance to the row in slot 1
    int frames = 0;             ///< slots
    HistoryStep step;
};

/// Adds a row of the newest frame to the ring and to the sums, replacing what leaves.
void take_temporal_row(const TemporalRow& row, const std::byte* newest);

/// contrast_value of each pixel of the row; adds undefined and infinite results to `counts`.
void write_temporal_row(const TemporalRow& row, const ContrastScale& scale, float* output,
                        PixelCounts& counts);

} // namespace specklescope
