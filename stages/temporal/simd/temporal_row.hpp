// Inner loops of temporal contrast: one row, in the best instruction set of the processor. Used by
// stages/temporal/temporal.cpp and stages/temporal/spatiotemporal.cpp.
#pragma once

#include "pipeline/stage.hpp"
#include "stages/contrast.hpp"
#include "stages/history.hpp"
#include "stages/temporal/spatiotemporal.hpp"
#include "stages/temporal/temporal_sums.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace specklescope {

/// Sums of a window for one row; the pixel type, narrow_sums_fit and packed_sums_fit determine which are
/// used.
struct TemporalRow {
    std::uint32_t* narrow = nullptr; ///< narrow_sample sums; null: packed
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
    bool streamed = false;      ///< streams() of the output
    HistoryStep step;
};

/// Adds a row of the newest frame to the ring and to the sums, replacing what leaves.
void take_temporal_row(const TemporalRow& row, const std::byte* newest);

/// contrast_value of each pixel of the row; adds undefined and infinite results to `counts`.
void write_temporal_row(const TemporalRow& row, const ContrastScale& scale, float* output,
                        PixelCounts& counts);

/// The images of `finish` in row y.
void write_temporal_row(const TemporalRow& row, const ContrastFinish& finish, SumRows& sums,
                        PixelCounts& counts);

/// ΣI and ΣI² of columns or of groups of them: whole numbers, exact.
struct BoxSums {
    double *s, *q;
};
/// A row of pixels enters the columns and another leaves; null: a row of zeros. Column 0 is pixel `begin`.
/// `ahead`: a row that enters soon.
void move_columns(const TemporalRow* enters, const TemporalRow* leaves, const TemporalRow& ahead, int begin,
                  int count, const BoxSums& columns);
/// to[x] = from[x] + from[x + step] + from[x + 2·step].
void add_three(const BoxSums& from, int step, int count, const BoxSums& to);
/// S and D (window_moments) of windows with n samples, each the sum of `groups` (WindowGroups); writes and
/// reads whole vectors.
void sum_windows(std::span<const BoxSums> groups, int width, double n, float* s, float* d);
void sum_windows(std::span<const BoxSums> groups, int width, double n, double* s, double* d);

} // namespace specklescope
