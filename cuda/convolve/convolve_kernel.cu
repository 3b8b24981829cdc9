#include "cuda/convolve/convolve_kernel.hpp"

#include <algorithm>

namespace specklescope::cuda {

namespace {

constexpr int kThreads = 256; ///< a guess

/// Sum over the block, in the same order every time; for thread 0.
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

/// Where a kernel's pixels go.
struct KernelPlace {
    ConvolutionAxis x, y;
    float* rows;
    int real_pitch;

    __device__ float* row(int line) const {
        return rows + static_cast<std::size_t>(line) * static_cast<unsigned>(real_pitch);
    }
};

/// A block takes kThreads positions of every gridDim.y-th row; its sum of weights goes to sums[block].
__global__ void __launch_bounds__(kThreads)
    formula_kernel(const __grid_constant__ KernelFormula formula, const __grid_constant__ KernelPlace place,
                   double* sums) {
    const int position = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
    double total = 0;
    for (int line = static_cast<int>(blockIdx.y); position < place.x.fft && line < place.y.fft;
         line += static_cast<int>(gridDim.y)) {
        const int column = place.x.kernel_pixel(position);
        const int row = place.y.kernel_pixel(line);
        const double value = column >= 0 && row >= 0 ? kernel_value(formula, column, row) : 0;
        place.row(line)[position] = static_cast<float>(value);
        total += value;
    }
    const double sum = block_sum(total);
    if (threadIdx.x == 0)
        sums[static_cast<std::size_t>(blockIdx.y) * gridDim.x + blockIdx.x] = sum;
}

/// One block; the sum of all ends in sums[0].
__global__ void __launch_bounds__(kThreads) total_kernel(double* sums, std::size_t count) {
    double value = 0;
    for (std::size_t i = threadIdx.x; i < count; i += kThreads)
        value += sums[i];
    const double sum = block_sum(value);
    if (threadIdx.x == 0)
        sums[0] = sum;
}

/// What the centre pixel gains is a constant in the spectrum, so that kernel_centre() and the scale are
/// applied here, once the sum is known.
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

/// Weights of one kernel, row after row, to their positions.
__global__ void __launch_bounds__(kThreads)
    place_kernel(const float* weights, const __grid_constant__ KernelPlace place) {
    const int position = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
    for (int line = static_cast<int>(blockIdx.y); position < place.x.fft && line < place.y.fft;
         line += static_cast<int>(gridDim.y)) {
        const int column = place.x.kernel_pixel(position);
        const int row = place.y.kernel_pixel(line);
        float value = 0;
        if (column >= 0 && row >= 0)
            value = weights[static_cast<std::size_t>(row) * static_cast<unsigned>(place.x.kernel) + column];
        place.row(line)[position] = value;
    }
}

__global__ void __launch_bounds__(kThreads) scale_kernel(float2* spectra, std::size_t samples, float scale) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (i < samples)
        spectra[i] = make_float2(spectra[i].x * scale, spectra[i].y * scale);
}

dim3 blocks_of(const FftShape& transform) {
    return {static_cast<unsigned>((transform.width + kThreads - 1) / kThreads),
            static_cast<unsigned>(std::min(transform.height, 16384))}; // of at most 65535
}
unsigned blocks_of(std::size_t samples) { return static_cast<unsigned>((samples + kThreads - 1) / kThreads); }

double points(const FftShape& transform) { return static_cast<double>(transform.width) * transform.height; }

} // namespace

void make_formula_spectrum(const KernelFormula& formula, bool normalize, const Convolution& convolution,
                           cudaStream_t stream) {
    const FftShape& transform = convolution.kernel_transform();
    const KernelPlace place{convolution.geometry().x, convolution.geometry().y, convolution.kernel_rows(),
                            transform.real_pitch()};
    const dim3 blocks = blocks_of(transform);
    auto* const sums = static_cast<double*>(convolution.scratch()); // a double for 256 of its floats
    formula_kernel<<<blocks, kThreads, 0, stream>>>(formula, place, sums);
    total_kernel<<<1, kThreads, 0, stream>>>(sums, static_cast<std::size_t>(blocks.x) * blocks.y);
    check_launch("the kernel that computes a convolution's kernel");
    convolution.transform_kernels(stream);
    formula_scale_kernel<<<blocks_of(transform.plane()), kThreads, 0, stream>>>(
        convolution.spectra(), transform.plane(), formula, normalize, points(transform), sums);
    check_launch("the kernel that scales a convolution's kernel");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

void make_weight_spectra(const ConvolveKernel& kernel, const Convolution& convolution, cudaStream_t stream) {
    const FftShape& transform = convolution.kernel_transform();
    const std::size_t weights =
        static_cast<std::size_t>(kernel.width) * static_cast<std::size_t>(kernel.height);
    for (int i = 0; i < kernel.channels; ++i) {
        // No kernel has more pixels than a plane of the transform.
        auto* const uploaded = static_cast<float*>(convolution.scratch());
        check(cudaMemcpyAsync(uploaded, kernel.row(i, 0), weights * sizeof(float), cudaMemcpyHostToDevice,
                              stream),
              "cudaMemcpyAsync");
        float* const rows = convolution.kernel_rows() + 2 * transform.plane() * static_cast<std::size_t>(i);
        const KernelPlace place{convolution.geometry().x, convolution.geometry().y, rows,
                                transform.real_pitch()};
        place_kernel<<<blocks_of(transform), kThreads, 0, stream>>>(uploaded, place);
        check_launch("the kernel that places a convolution's kernel");
    }
    convolution.transform_kernels(stream);
    const std::size_t samples = transform.plane() * static_cast<std::size_t>(kernel.channels);
    scale_kernel<<<blocks_of(samples), kThreads, 0, stream>>>(convolution.spectra(), samples,
                                                              static_cast<float>(1 / points(transform)));
    check_launch("the kernel that scales a convolution's kernel");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

} // namespace specklescope::cuda
