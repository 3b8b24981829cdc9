// The three kernels of a convolution: rows into spectra, columns forward · product · backward, spectra into
// rows. Zeros and repetitions are never transformed: rows of padding are made in shared memory, and only rows
// of results are transformed back. Inside cuda/ only.
#pragma once

#include "cuda/convolve/fft_line.hpp"
#include "cuda/defined_filter.hpp"
#include "cuda/device.hpp"
#include "pipeline/image.hpp"

namespace specklescope::cuda {

/// Plan of a line with its tables on the device.
struct LineTables {
    LinePlan plan;
    const float2* roots = nullptr;         ///< table of root_step·plan.n roots
    int root_step = 1;                     ///< 2 for rows, which need twice as many roots
    const std::uint16_t* places = nullptr; ///< place of frequency k in shared memory, plan.n entries
    const FilterGuard* guard = nullptr;    ///< null: the kernels always run
};

/// Bytes of shared memory for lines on a device.
struct LineRoom {
    std::size_t of_block = 0, of_multiprocessor = 0;
};
/// For the current device; allows the kernels below to use all of it.
LineRoom prepare_lines();

/// Spectra of rows of `width` real samples, column by column: sample (plane, column, row) is at
/// (plane·columns() + column)·pitch + row, so that a column is contiguous.
struct Spectra {
    float2* data = nullptr;
    int width = 0; ///< real samples of a row; even
    int planes = 1;
    int pitch = 0; ///< complex samples from column to column

    SPECKLESCOPE_BOTH int columns() const { return width / 2 + 1; }
    SPECKLESCOPE_BOTH std::size_t plane() const {
        return static_cast<std::size_t>(columns()) * static_cast<std::size_t>(pitch);
    }
};

/// Image rows needed by one tile, each once.
struct RowsIn {
    const int* columns = nullptr; ///< for each of `width` positions the pixel's column; −1: zero
    const int* rows = nullptr;    ///< image rows; null: 0, 1, 2 …
    int count = 0;
};

/// Transforms each channel's rows into a plane of spectra.
void transform_rows(const LineRoom& room, const LineTables& line, const RowsIn& in, ConstDeviceView image,
                    const Spectra& spectra, cudaStream_t stream);

/// Factors of the columns' spectra; if `samples` is null, `across`·`down` is used.
struct Factors {
    const float2* samples = nullptr; ///< `planes` × columns()·n, in line_order()
    int planes = 1;                  ///< 1: one for all planes
    const float* across = nullptr;   ///< columns() entries
    const float* down = nullptr;     ///< n entries, in line_order()
};

struct Columns {
    const int* place = nullptr; ///< for each of n positions the row in Spectra; −1: zero
    int first = 0, results = 0; ///< positions to return, in rows 0 … results − 1
};

/// Transforms columns forward, multiplies by the factors, transforms backward, in place.
void convolve_columns(const LineRoom& room, const LineTables& line, const Columns& columns,
                      const Factors& factors, const Spectra& spectra, cudaStream_t stream);
/// Transforms columns forward, in place; frequencies stay in line_order().
void transform_columns(const LineRoom& room, const LineTables& line, const int* place, const Spectra& spectra,
                       cudaStream_t stream);

/// Destination of a tile's results.
struct RowsOut {
    int first = 0;             ///< position of a row's first result
    int width = 0, height = 0; ///< results
    int column = 0, row = 0;   ///< of the first result, in the image
    /// Divides results by divisor_x[column]·divisor_y[row] of the image, unless null.
    const float* divisor_x = nullptr;
    const float* divisor_y = nullptr;
};

/// Rows 0 … height − 1 of the spectra into the image: integers rounded to nearest, ties to even, clamped.
void restore_rows(const LineRoom& room, const LineTables& line, const RowsOut& out, const Spectra& spectra,
                  DeviceView image, cudaStream_t stream);

} // namespace specklescope::cuda
