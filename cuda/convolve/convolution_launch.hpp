// The kernels around cuFFT: padding with conversion, the product of spectra, cropping with rounding. Inside
// cuda/ only.
#pragma once

#include "cuda/convolve/convolution_index.hpp"
#include "cuda/fft.hpp"

namespace specklescope::cuda {

/// Tile (tx, ty) of an image, and the real rows that cuFFT turns into its spectrum in place: one plane a
/// channel.
struct ConvolutionTile {
    ConvolutionGeometry geometry;
    int tx = 0, ty = 0;
    FftShape transform;
    float* rows = nullptr;
    /// Results are divided by divisor_x[column]·divisor_y[row] of the whole result; null: they are not.
    const float* divisor_x = nullptr;
    const float* divisor_y = nullptr;
};

/// Fills the tile's real rows from the image: border, conversion to f32, one plane a channel.
void load_tile(const ConvolutionTile& tile, ConstDeviceView image, cudaStream_t stream);
/// The tile's results into their place in the image: integers to nearest, ties to even, clamped.
void store_tile(const ConvolutionTile& tile, DeviceView image, cudaStream_t stream);

/// data *= spectra, for transform.batch planes; one spectrum for each of them (`kernels` = batch), or one
/// for all (1).
void multiply(const FftShape& transform, float2* data, const float2* spectra, int kernels,
              cudaStream_t stream);
/// data[column, row] *= factor_x[column]·factor_y[row] for every plane: the spectrum of a symmetric separable
/// kernel.
void multiply_separable(const FftShape& transform, float2* data, const float* factor_x, const float* factor_y,
                        cudaStream_t stream);

} // namespace specklescope::cuda
