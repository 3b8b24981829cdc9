// The three kernels of a convolution: rows into spectra, columns forward · product · backward, spectra into
// rows. What is zero or a repetition is never transformed: rows of padding are made in shared memory, and
// only rows of results come back. Inside cuda/ only.
#pragma once

#include "cuda/convolve/fft_line.hpp"
#include "cuda/device.hpp"
#include "cuda/filter_guard.hpp"
#include "pipeline/image.hpp"

namespace specklescope::cuda {

/// A line's plan with its tables on the device.
struct LineTables {
    LinePlan plan;
    const float2* roots = nullptr;         ///< root_step·plan.n of them
    int root_step = 1;                     ///< 2 for rows, which need roots of twice as many
    const std::uint16_t* places = nullptr; ///< where frequency k lies in shared memory, plan.n of them
    const FilterGuard* guard = nullptr;    ///< null: the kernels always run
};

/// Bytes of shared memory that lines have on a device.
struct LineRoom {
    std::size_t of_block = 0, of_multiprocessor = 0;
};
/// Of the current device, whose blocks of the kernels below may take all of it from now on.
LineRoom prepare_lines();

/// Spectra of rows of `width` real samples, column after column: sample (plane, column, row) lies at
/// (plane·columns() + column)·pitch + row, so that a column is read in one piece.
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

/// Rows of an image that one tile needs, each once.
struct RowsIn {
    const int* columns = nullptr; ///< for each of `width` positions the pixel's column; −1: a zero
    const int* rows = nullptr;    ///< rows of the image; null: 0, 1, 2 …
    int count = 0;
};

/// Each channel's rows into a plane of spectra.
void transform_rows(const LineRoom& room, const LineTables& line, const RowsIn& in, ConstDeviceView image,
                    const Spectra& spectra, cudaStream_t stream);

/// What the columns' spectra are multiplied by; null pointers: `across`·`down` instead of samples.
struct Factors {
    const float2* samples = nullptr; ///< `planes` of columns()·n of them, in line_order()
    int planes = 1;                  ///< 1: one for all planes
    const float* across = nullptr;   ///< columns() of them
    const float* down = nullptr;     ///< n of them, in line_order()
};

struct Columns {
    const int* place = nullptr; ///< for each of n positions the row in Spectra; −1: a zero
    int first = 0, results = 0; ///< positions that come back, to rows 0 … results − 1
};

/// Columns forward, times the factors, backward, in place.
void convolve_columns(const LineRoom& room, const LineTables& line, const Columns& columns,
                      const Factors& factors, const Spectra& spectra, cudaStream_t stream);
/// Columns forward, in place; frequencies stay in line_order().
void transform_columns(const LineRoom& room, const LineTables& line, const int* place, const Spectra& spectra,
                       cudaStream_t stream);

/// Where a tile's results go.
struct RowsOut {
    int first = 0;             ///< position of a row's first result
    int width = 0, height = 0; ///< results
    int column = 0, row = 0;   ///< of the first one, in the image
    /// Results are divided by divisor_x[column]·divisor_y[row] of the image; null: they are not.
    const float* divisor_x = nullptr;
    const float* divisor_y = nullptr;
};

/// Rows 0 … height − 1 of the spectra into the image: integers to nearest, ties to even, clamped.
void restore_rows(const LineRoom& room, const LineTables& line, const RowsOut& out, const Spectra& spectra,
                  DeviceView image, cudaStream_t stream);

} // namespace specklescope::cuda
