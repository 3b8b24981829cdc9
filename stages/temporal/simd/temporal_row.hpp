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

/// Adds the temporal sums of a row to the column sums, or subtracts them; integers.
void move_columns(const TemporalRow& row, bool enters, std::uint64_t* s, std::uint64_t* q);

/// Sums of `window` neighbours: to[x] = from[x] + … + from[x + window − 1] for `width` results.
void sum_along_row(const std::uint64_t* from, int window, int width, std::uint64_t* to);

/// Results of exact sums over n samples.
void write_window_row(const std::uint64_t* s, const std::uint64_t* q, int width, std::uint32_t n,
                      const ContrastScale& scale, float* output);
/// Row y of the images of `finish`.
void write_window_row(const std::uint64_t* s, const std::uint64_t* q, int width, std::uint32_t n,
                      const ContrastFinish& finish, SumRows& sums, int y);

/// Merges a row of pixels with `held` samples each into the columns' groups, which contain `count` rows. A
/// null row is a row of zeros.
void merge_row(const TemporalRow* row, int width, int held, int count, double* sums, double* deviations);

/// Merges `window` neighbouring groups of n samples, for each of `width` results; f32. to[0] and to[1] get S
/// and D.
void merge_windows(const double* sums, const double* deviations, int window, int width, double n,
                   double* const (&to)[2]);
/// The results.
void write_merged_row(const double* const (&sums)[2], int width, const ContrastScale& scale, float* output);

} // namespace specklescope
