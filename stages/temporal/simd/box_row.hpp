// Sums over square windows, one row at a time, in the best instruction set of the processor. Used only by
// stages/temporal/spatiotemporal.cpp.
#pragma once

#include "stages/temporal/simd/temporal_row.hpp"
#include "stages/temporal/spatiotemporal.hpp"

#include <cstdint>

namespace specklescope {

/// Adds the temporal sums of a row to the column sums, or subtracts them; integers.
void move_columns(const TemporalRow& row, bool enters, std::uint64_t* s, std::uint64_t* q);

/// Sums of `window` neighbours: to[x] = from[x] + … + from[x + window − 1] for `width` results.
void sum_along_row(const std::uint64_t* from, int window, int width, std::uint64_t* to);

/// Results of exact sums over n samples.
void write_window_row(const std::uint64_t* s, const std::uint64_t* q, int width, std::uint32_t n,
                      const ContrastScale& scale, float* output);

/// Merges a row of pixels with `held` samples each into the columns' groups, which contain `count` rows. A
/// null row is a row of zeros.
void merge_row(const TemporalRow* row, int width, int held, int count, double* sums, double* deviations);

/// Merges `window` neighbouring groups of n samples and writes the results; f32.
void write_merged_row(const double* sums, const double* deviations, int window, int width, double n,
                      const ContrastScale& scale, float* output);

} // namespace specklescope
