// Linear convolution on the device by real Fourier transforms (Johansson Bergström 2012): rows of the image →
// spectra → columns forward, times the kernel's spectrum, backward → rows of results, for the whole image or
// in overlap-save tiles. Inside cuda/ only.
#pragma once

#include "cuda/convolve/convolution_launch.hpp"
#include "stages/convolve/convolution_geometry.hpp"
#include "stages/convolve/convolve.hpp"

#include <memory>
#include <string>
#include <vector>

namespace specklescope::cuda {

struct ConvolutionTask {
    Shape image;
    int kernel_width = 1, kernel_height = 1;
    Border border = Border::replicate;
    /// Spectra of the kernel: 1 for all channels, 3 for one per channel, 0 for a symmetric separable kernel.
    int kernels = 1;
    ConvolutionBudget bytes; ///< limit for data, spectra and tables
};

/// Plans and memory for one task. The kernel must be set before the first run.
class Convolution {
public:
    /// Throws like plan_convolution() if the task does not fit its bytes or this device, RunError without
    /// memory.
    explicit Convolution(const ConvolutionTask& task);

    const ConvolutionGeometry& geometry() const { return geometry_; }
    /// "whole, 4096×2304, 250 MB".
    std::string note() const { return to_string(geometry_, bytes_); }

    /// Memory for a kernel's pixels, row by row, to fill before transform_kernel(); otherwise unused before
    /// the first run.
    float* kernel_pixels() const { return data_.as<float>(); }
    /// Space after these pixels: one double for every 256 pixels of each row.
    double* kernel_sums() const;
    /// kernel_pixels() → spectrum `index`, without the scale 1/points(), which the caller applies.
    void transform_kernel(int index, cudaStream_t stream) const;
    float2* spectrum(int index) const;
    std::size_t spectrum_samples() const; ///< of one kernel
    double points() const { return static_cast<double>(geometry_.x.fft) * geometry_.y.fft; }

    /// Weights along each axis, symmetric around the middle: computes their spectra, including the scale.
    void set_separable(const std::vector<double>& taps);
    /// Divisors of the results, by column and row of the whole result.
    void set_divisors(const std::vector<double>& x, const std::vector<double>& y);

    /// `guard`: the kernels return immediately if skipped(guard); null: they always run.
    void run(ConstDeviceView input, DeviceView output, cudaStream_t stream,
             const FilterGuard* guard = nullptr) const;

private:
    /// Plan of a line and its tables.
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
    std::vector<int> row_counts_; ///< image rows needed by each row of tiles
    int held_ = 0;                ///< maximum of row_counts_
    std::size_t bytes_ = 0;
    /// Offsets of the index tables in indices_: image columns for each column of tiles (x.fft); image rows
    /// (held_) and places (y.fft) for each row of tiles; the kernel's columns and places.
    std::size_t rows_at_ = 0, places_at_ = 0, kernel_at_ = 0;
    Buffer indices_, data_, spectra_, factors_, divisors_;
};

/// The same within this device's free memory, at most `megabytes` (0: no limit); ignores `task.bytes`. If
/// memory is taken by others before the allocation, retries with half as much, and so on.
std::unique_ptr<Convolution> make_convolution(ConvolutionTask task, int megabytes);

/// Evaluates the formula in float64 for every pixel of the kernel and stores the scaled spectrum in
/// `convolution`. Weights are summed in a fixed order: the same bits every time. Returns the sum of the
/// scaled weights.
double make_formula_spectrum(const KernelFormula& formula, bool normalize, const Convolution& convolution,
                             cudaStream_t stream);

/// The same for normalised weights of a file, from make_kernel().
void make_weight_spectra(const ConvolveKernel& kernel, const Convolution& convolution, cudaStream_t stream);

} // namespace specklescope::cuda
