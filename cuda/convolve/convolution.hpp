// Linear convolution of images on the device by real Fourier transforms (Johansson Bergström 2012): rows of
// the image → spectra → columns forward, times the kernel's spectrum, backward → rows of results, in one
// piece or in overlap-save tiles. Inside cuda/ only.
#pragma once

#include "cuda/convolve/convolution_launch.hpp"
#include "stages/convolve/convolution_geometry.hpp"

#include <memory>
#include <string>
#include <vector>

namespace specklescope::cuda {

struct ConvolutionTask {
    Shape image;
    int kernel_width = 1, kernel_height = 1;
    Border border = Border::replicate;
    /// Spectra of the kernel: 1 for every channel, 3 for one each, 0 for a symmetric separable kernel.
    int kernels = 1;
    ConvolutionBudget bytes; ///< all that data, spectra and tables may take
};

/// Plans and memory for one task. The kernel must be given before the first run.
class Convolution {
public:
    /// Throws as plan_convolution() if the task cannot be done in its bytes or by this device, RunError
    /// without memory.
    explicit Convolution(const ConvolutionTask& task);

    const ConvolutionGeometry& geometry() const { return geometry_; }
    /// "whole, 4096×2304, 250 MB".
    std::string note() const { return to_string(geometry_, bytes_); }

    /// Where the caller puts a kernel's pixels, row after row, before transform_kernel(): memory that nothing
    /// else uses before the first run.
    float* kernel_pixels() const { return data_.as<float>(); }
    /// Behind them: room for a double for every 256 of each row's pixels.
    double* kernel_sums() const;
    /// kernel_pixels() → spectrum `index`, not scaled by 1/points(), which the caller does.
    void transform_kernel(int index, cudaStream_t stream) const;
    float2* spectrum(int index) const;
    std::size_t spectrum_samples() const; ///< of one kernel
    double points() const { return static_cast<double>(geometry_.x.fft) * geometry_.y.fft; }

    /// Weights along each axis, symmetric around the middle: their spectra, with the scale.
    void set_separable(const std::vector<double>& taps);
    /// What results are divided by, column by column and row by row of the whole result.
    void set_divisors(const std::vector<double>& x, const std::vector<double>& y);

    /// `guard`: the kernels return at once where skipped(guard); null: they always run.
    void run(ConstDeviceView input, DeviceView output, cudaStream_t stream,
             const FilterGuard* guard = nullptr) const;

private:
    /// A line's plan and its tables.
    struct Line {
        LinePlan plan;
        Buffer roots, places;
        int root_step = 1;
        Line(int points, int step);
        LineTables tables(const FilterGuard* guard = nullptr) const;
    };
    void make_tables();
    Spectra spectra() const;

    ConvolutionTask task_;
    LineRoom room_;
    ConvolutionGeometry geometry_;
    Line row_, column_;
    std::vector<int> row_counts_; ///< rows of the image that each row of tiles needs
    int held_ = 0;                ///< the most of them
    std::size_t bytes_ = 0;
    /// Tables of indices, and where each begins in indices_: columns of the image for each column of tiles
    /// (x.fft), rows of the image (held_) and places (y.fft) for each row of tiles; the kernel's columns and
    /// places.
    std::size_t rows_at_ = 0, places_at_ = 0, kernel_at_ = 0;
    Buffer indices_, data_, spectra_, factors_, divisors_;
};

/// The same in what this device has free, `megabytes` at most (0: no bound); `task.bytes` is not looked at.
/// Where memory goes to others between the question and the allocation, with half as much, and so on.
std::unique_ptr<Convolution> make_convolution(ConvolutionTask task, int megabytes);

} // namespace specklescope::cuda
