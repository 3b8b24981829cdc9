#include "cuda/convolve/convolution.hpp"

#include <algorithm>

namespace specklescope::cuda {

namespace {

constexpr int kThreads = 256; ///< an estimate

/// Sum over the block in a fixed order; valid in thread 0.
__device__ double block_sum(double value) {
    __shared__ double sums[kThreads];
    sums[threadIdx.x] = value;
    __syncthreads();
    for (unsigned step = kThreads / 2; step > 0; step /= 2) {
        if (threadIdx.x < step)
            sums[threadIdx.x] += sums[threadIdx.x + step];
        __syncthreads();
    }
    return sums[0];
}

/// A block processes kThreads pixels of every gridDim.y-th row; stores its sum of weights in sums[block].
__global__ void __launch_bounds__(kThreads)
    formula_kernel(const __grid_constant__ KernelFormula formula, float* pixels, double* sums) {
    const int column = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
    double total = 0;
    for (int row = static_cast<int>(blockIdx.y); column < formula.width && row < formula.height;
         row += static_cast<int>(gridDim.y)) {
        const double value = kernel_value(formula, column, row);
        pixels[static_cast<std::size_t>(row) * static_cast<unsigned>(formula.width) + column] =
            static_cast<float>(value);
        total += value;
    }
    const double sum = block_sum(total);
    if (threadIdx.x == 0)
        sums[static_cast<std::size_t>(blockIdx.y) * gridDim.x + blockIdx.x] = sum;
}

/// One block; stores the total in sums[0].
__global__ void __launch_bounds__(kThreads) total_kernel(double* sums, std::size_t count) {
    double value = 0;
    for (std::size_t i = threadIdx.x; i < count; i += kThreads)
        value += sums[i];
    const double sum = block_sum(value);
    if (threadIdx.x == 0)
        sums[0] = sum;
}

/// The addition to the centre pixel is a constant in the spectrum, so that kernel_centre() and the scale are
/// applied here, after the sum is known.
__global__ void __launch_bounds__(kThreads)
    formula_scale_kernel(float2* spectrum, std::size_t samples, const __grid_constant__ KernelFormula formula,
                         bool normalize, double points, const double* sum) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i >= samples)
        return;
    const double centre = kernel_centre(formula, *sum);
    const auto scale = static_cast<float>(kernel_scale(*sum + centre, normalize) / points);
    const float2 value = spectrum[i];
    spectrum[i] = make_float2((value.x + static_cast<float>(centre)) * scale, value.y * scale);
}

__global__ void __launch_bounds__(kThreads) scale_kernel(float2* spectra, std::size_t samples, float scale) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i < samples)
        spectra[i] = make_float2(spectra[i].x * scale, spectra[i].y * scale);
}

unsigned blocks_of(std::size_t samples) { return static_cast<unsigned>((samples + kThreads - 1) / kThreads); }

} // namespace

double make_formula_spectrum(const KernelFormula& formula, bool normalize, const Convolution& convolution,
                             cudaStream_t stream) {
    const dim3 blocks(static_cast<unsigned>((formula.width + kThreads - 1) / kThreads),
                      static_cast<unsigned>(std::min(formula.height, 16384))); // of at most 65535
    double* const sums = convolution.kernel_sums();
    formula_kernel<<<blocks, kThreads, 0, stream>>>(formula, convolution.kernel_pixels(), sums);
    total_kernel<<<1, kThreads, 0, stream>>>(sums, static_cast<std::size_t>(blocks.x) * blocks.y);
    check_launch("the kernel that computes a convolution's kernel");
    convolution.transform_kernel(0, stream);
    const std::size_t samples = convolution.spectrum_samples();
    formula_scale_kernel<<<blocks_of(samples), kThreads, 0, stream>>>(
        convolution.spectrum(0), samples, formula, normalize, convolution.points(), sums);
    check_launch("the kernel that scales a convolution's kernel");
    double sum = 0;
    check(cudaMemcpyAsync(&sum, sums, sizeof sum, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    sum += kernel_centre(formula, sum);
    return sum * kernel_scale(sum, normalize);
}

void make_weight_spectra(const ConvolveKernel& kernel, const Convolution& convolution, cudaStream_t stream) {
    const std::size_t weights =
        static_cast<std::size_t>(kernel.width) * static_cast<std::size_t>(kernel.height);
    for (int i = 0; i < kernel.channels; ++i) {
        check(cudaMemcpyAsync(convolution.kernel_pixels(), kernel.row(i, 0), weights * sizeof(float),
                              cudaMemcpyHostToDevice, stream),
              "cudaMemcpyAsync");
        convolution.transform_kernel(i, stream);
    }
    const std::size_t samples = convolution.spectrum_samples() * static_cast<std::size_t>(kernel.channels);
    scale_kernel<<<blocks_of(samples), kThreads, 0, stream>>>(convolution.spectrum(0), samples,
                                                              static_cast<float>(1 / convolution.points()));
    check_launch("the kernel that scales a convolution's kernel");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

} // namespace specklescope::cuda
