#include "cuda/defined_filter.hpp"

#include "cuda/chunks.cuh"
#include "cuda/history.cuh"

#include <algorithm>

namespace specklescope::cuda {

namespace {

constexpr int kFilterThreads = 256; ///< an estimate

/// One warp.
__global__ void look_kernel(View<const float, Space::device> input, bool with_offset, FilterGuard* guard) {
    const float offset = with_offset ? offset_of_warp(input) : 0;
    if (threadIdx.x != 0)
        return;
    *guard = {};
    guard->offset = offset;
    guard->found.undefined = offset != 0 ? 1 : 0; // the plain filter is then not precise enough
}

/// Calls f(x, y) for each place of an image, over the grid of blocks_of(width, rows).
template <class F> __device__ void each_place(int width, int rows, F&& f) {
    const int x = static_cast<int>(blockIdx.x * kFilterThreads + threadIdx.x);
    if (x < width)
        for (int y = static_cast<int>(blockIdx.y); y < rows; y += static_cast<int>(gridDim.y))
            f(x, y);
}

dim3 blocks_of(int width, int rows) {
    constexpr int kMostRows = 64; // few blocks, since most launches do nothing; an estimate
    return {static_cast<unsigned>((width + kFilterThreads - 1) / kFilterThreads),
            static_cast<unsigned>(std::min(rows, kMostRows))};
}

__global__ void __launch_bounds__(kFilterThreads)
    split_kernel(View<const float, Space::device> input, View<float, Space::device> values,
                 View<float, Space::device> mask, const __grid_constant__ FilterNorm norm,
                 const FilterGuard* guard) {
    if (skipped(guard))
        return;
    const float offset = guard->offset;
    each_place(input.width * input.channels, input.height, [&](int x, int y) {
        const float sample = row_of(input, y)[x];
        const bool is = is_sample(sample);
        row_of(values, y)[x] = is ? sample - offset : 0;
        row_of(mask, y)[x] = norm.mask(is, x, y);
    });
}

__global__ void __launch_bounds__(kFilterThreads)
    combine_kernel(View<float, Space::device> output, View<const float, Space::device> weights,
                   const __grid_constant__ FilterNorm norm, const FilterGuard* guard, PixelCounts* counts) {
    if (skipped(guard))
        return;
    ThreadCounts mine;
    each_place(output.width, output.height, [&](int x, int y) {
        ThreadCounts pixel;
        for (int c = 0; c < output.channels; ++c) {
            const int at = x * output.channels + c;
            float& result = row_of(output, y)[at];
            result = normalised(norm, c, result, true, row_of(weights, y)[at], guard->offset);
            pixel.add(result);
        }
        mine.add_pixel(pixel);
    });
    count_in_block(*counts, mine);
}

} // namespace

void DefinedFilter::prepare(const Shape& input, const Shape& output, const FilterNorm& norm) {
    input_ = input;
    output_ = output;
    norm_ = norm;
    if (input.type != PixelType::f32)
        return;
    const std::shared_ptr<SlotMemory> memory = device_memory();
    input_pitch_ = slot_pitch(input, Space::device);
    output_pitch_ = slot_pitch(output, Space::device);
    const std::size_t bytes = input_pitch_ * static_cast<std::size_t>(input.height);
    guard_ = Buffer(sizeof(FilterGuard), memory);
    values_ = Buffer(bytes, memory);
    mask_ = Buffer(bytes, memory);
    weights_ = Buffer(output_pitch_ * static_cast<std::size_t>(output.height), memory);
}

FilterGuard* DefinedFilter::look(ConstDeviceView input, cudaStream_t stream) const {
    look_kernel<<<1, 32, 0, stream>>>(input.as<float>(), !norm_.zeros_outside, guard_.as<FilterGuard>());
    check_launch("the kernel that looks at samples of a filter");
    return guard_.as<FilterGuard>();
}

void DefinedFilter::split(ConstDeviceView input, cudaStream_t stream) const {
    split_kernel<<<blocks_of(input_.width * input_.channels, input_.height), kFilterThreads, 0, stream>>>(
        input.as<float>(), values().as<float>(), mask().as<float>(), norm_, guard_.as<FilterGuard>());
    check_launch("the kernel that leaves undefined samples out");
}

void DefinedFilter::combine(DeviceView output, PixelCounts* counts, cudaStream_t stream) const {
    combine_kernel<<<blocks_of(output_.width, output_.height), kFilterThreads, 0, stream>>>(
        output.as<float>(), ConstDeviceView(weights()).as<float>(), norm_, guard_.as<FilterGuard>(), counts);
    check_launch("the kernel that normalises a filter");
}

} // namespace specklescope::cuda
