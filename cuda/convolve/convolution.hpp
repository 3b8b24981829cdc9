// Linear convolution of images on the device by real Fourier transforms (Johansson Bergström 2012): load
// with border → R2C → times the kernel's spectrum → C2R → store, in one piece or in overlap-save tiles.
// Inside cuda/ only.
#pragma once

#include "cuda/convolve/convolution_launch.hpp"

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
    std::size_t bytes = 0; ///< all that data, spectra and workspace may take
};

/// Plans and memory for one task. The kernel must be given before the first run.
class Convolution {
public:
    /// Throws UsageError if the task cannot be done in its bytes, RunError without cuFFT or memory.
    explicit Convolution(const ConvolutionTask& task);

    const ConvolutionGeometry& geometry() const { return geometry_; }
    /// One transform of all channels.
    const FftShape& transform() const { return transform_; }
    /// Transforms of all kernels; batch 0 for a separable one.
    const FftShape& kernel_transform() const { return kernel_transform_; }
    /// "whole, 4096×2304, 250 MB".
    std::string note() const { return to_string(geometry_, bytes_); }

    /// Real rows of the kernels' spectra, to be filled by the caller with every position of the transform:
    /// kernel pixel k at ConvolutionAxis::kernel_position(k), zeros elsewhere.
    float* kernel_rows() const { return spectra_.as<float>(); }
    /// Complex samples, after transform_kernels().
    float2* spectra() const { return spectra_.as<float2>(); }
    /// Turns kernel_rows() into spectra(), in place; not scaled by 1/(width·height), which the caller does.
    void transform_kernels(cudaStream_t stream) const;
    /// Memory that nothing uses before the first run, transform().bytes() of it.
    void* scratch() const { return data_.as<void>(); }

    /// Weights along each axis, symmetric around the middle: their spectra, with the scale.
    void set_separable(const std::vector<double>& taps);
    /// What results are divided by, column by column and row by row of the whole result.
    void set_divisors(const std::vector<double>& x, const std::vector<double>& y);

    void run(ConstDeviceView input, DeviceView output, cudaStream_t stream) const;

private:
    void make_plans(const ConvolutionTask& task);
    ConvolutionTile tile() const;

    ConvolutionGeometry geometry_;
    FftShape transform_;
    FftShape kernel_transform_;
    FftPlan forward_, backward_;
    FftPlan kernel_plan_; ///< where the kernels are fewer than the channels
    std::size_t bytes_ = 0;
    Buffer data_, spectra_, work_, factors_, divisors_;
};

} // namespace specklescope::cuda
