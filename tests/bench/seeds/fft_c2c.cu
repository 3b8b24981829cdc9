#include "tests/bench/seeds/fft_c2c.hpp"

#include "cuda/chunks.cuh"
#include "tests/bench/cufft.hpp"

namespace specklescope::seeds {

namespace {

using namespace cuda;

const dim3 kBlock(16, 16);

dim3 blocks(int width, int height) {
    return {(static_cast<unsigned>(width) + 15) / 16, (static_cast<unsigned>(height) + 15) / 16};
}

__device__ int column() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ int row() { return static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y); }

template <class T> __global__ void pad_image(float2* plane, int width, int height,
                                             View<const T, Space::device> image, int channel) {
    const int x = column();
    const int y = row();
    if (x >= width || y >= height)
        return;
    const bool inside = x < image.width && y < image.height;
    plane[static_cast<std::size_t>(y) * width + x] =
        make_float2(inside ? static_cast<float>(row_of(image, y)[x * image.channels + channel]) : 0.0F, 0.0F);
}

__global__ void pad_kernel(float2* plane, int width, int height, const float* weights, int kernel_width,
                           int kernel_height) {
    const int x = column();
    const int y = row();
    if (x >= width || y >= height)
        return;
    const bool inside = x < kernel_width && y < kernel_height;
    plane[static_cast<std::size_t>(y) * width + x] =
        make_float2(inside ? weights[y * kernel_width + x] : 0.0F, 0.0F);
}

__global__ void multiply_planes(float2* plane, const float2* by, int width, int height) {
    const int x = column();
    const int y = row();
    if (x >= width || y >= height)
        return;
    const std::size_t i = static_cast<std::size_t>(y) * width + x;
    const float2 a = plane[i];
    const float2 b = by[i];
    plane[i] = make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__global__ void crop_plane(View<float, Space::device> output, int channel, const float2* plane, int width,
                           int left, int top, float scale) {
    const int x = column();
    const int y = row();
    if (x >= output.width || y >= output.height)
        return;
    row_of(output, y)[x * output.channels + channel] =
        plane[static_cast<std::size_t>(y + top) * width + x + left].x * scale;
}

/// A plan with its own workspace.
class Plan {
public:
    Plan(int width, int height) {
        int n[2] = {height, width};
        std::size_t bytes = 0;
        check(cufft().create(&handle_), "cufftCreate");
        check(cufft().make_plan_many(handle_, 2, n, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, 1, &bytes),
              "cufftMakePlanMany");
    }
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;
    ~Plan() { static_cast<void>(cufft().destroy(handle_)); }
    void run(float2* plane, int direction) const {
        check(cufft().exec_c2c(handle_, plane, plane, direction), "cufftExecC2C");
    }

private:
    cufftHandle handle_ = 0;
};

} // namespace

void seed_convolve_c2c(ConstDeviceView image, DeviceView output, const std::vector<float>& kernel,
                       int kernel_width, int kernel_height) {
    const int width = image.shape.width + kernel_width - 1;
    const int height = image.shape.height + kernel_height - 1;
    const std::size_t points = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    const Plan plan(width, height);
    const auto memory = device_memory();
    const Buffer plane(points * sizeof(float2), memory);
    const Buffer spectrum(points * sizeof(float2), memory);
    const Buffer weights(kernel.size() * sizeof(float), memory);
    check(
        cudaMemcpy(weights.as<void>(), kernel.data(), kernel.size() * sizeof(float), cudaMemcpyHostToDevice),
        "cudaMemcpy");
    for (int channel = 0; channel < image.shape.channels; ++channel) {
        pad_kernel<<<blocks(width, height), kBlock>>>(spectrum.as<float2>(), width, height,
                                                      weights.as<float>(), kernel_width, kernel_height);
        dispatch(image.shape.type, [&](auto zero) {
            using T = decltype(zero);
            pad_image<T><<<blocks(width, height), kBlock>>>(plane.as<float2>(), width, height, image.as<T>(),
                                                            channel);
        });
        plan.run(spectrum.as<float2>(), CUFFT_FORWARD);
        plan.run(plane.as<float2>(), CUFFT_FORWARD);
        multiply_planes<<<blocks(width, height), kBlock>>>(plane.as<float2>(), spectrum.as<float2>(), width,
                                                           height);
        plan.run(plane.as<float2>(), CUFFT_INVERSE);
        crop_plane<<<blocks(output.shape.width, output.shape.height), kBlock>>>(
            output.as<float>(), channel, plane.as<float2>(), width, kernel_width / 2, kernel_height / 2,
            1.0F / static_cast<float>(points));
        check_launch("the seed's convolution");
    }
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

} // namespace specklescope::seeds
