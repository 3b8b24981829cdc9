// The recursive Gaussian, Young & van Vliet 1995, in five kernels: what the blocks of the columns add, the
// states between them, the columns with what the blocks of the rows add, the states between those, the rows.
#include "cuda/device.hpp"
#include "cuda/gaussian_recursive.cuh"
#include "cuda/gaussian_scan.hpp"

namespace specklescope::cuda {

namespace {

constexpr int kColumnThreads = 128;

/// A tile of kBlockSamples rows and as many pixels, kTiles of them side by side: every thread has one column
/// of samples, and one row of one channel in one tile. They change over in shared memory.
template <int C> struct Tile {
    static constexpr int kTiles = C == 1 ? 4 : 1;
    static constexpr int kThreads = kTiles * kBlockSamples * C;
    static constexpr int kStride = kBlockSamples + 1; ///< no bank conflicts
    using Memory = float[kThreads * kStride];

    int thread = static_cast<int>(threadIdx.x);
    int row = thread % kBlockSamples;
    int channel = thread / kBlockSamples % C;
    int tile = thread / kBlockSamples / C;

    __device__ float& in_column(float* memory, int i) const { return memory[thread * kStride + i]; }
    __device__ float& in_row(float* memory, int i) const {
        return memory[((tile * kBlockSamples + i) * C + channel) * kStride + row];
    }
};

template <class T, bool Mirror> __global__ void __launch_bounds__(kColumnThreads)
    column_states_kernel(const __grid_constant__ RecursiveArgs args, const __grid_constant__ LineFilter filter,
                         int lines) {
    const int x = static_cast<int>(blockIdx.x) * kColumnThreads + static_cast<int>(threadIdx.x);
    const int block = static_cast<int>(blockIdx.y);
    if (x >= lines)
        return;
    const LineStates states{args.states + x, lines, filter.blocks};
    const int top = block * kBlockSamples;
    float run[kBlockSamples];
    if (block + 1 < filter.blocks) {
#pragma unroll
        for (int i = 0; i < kBlockSamples; ++i)
            run[i] = static_cast<float>(input_row<T>(args.images, top + i)[x]);
        store_block_states<Mirror>(run, filter.weights[0], states, block);
    } else {
#pragma unroll
        for (int i = 0; i < kBlockSamples; ++i)
            run[i] = top + i < filter.size ? static_cast<float>(input_row<T>(args.images, top + i)[x]) : 0.0F;
        store_block_states<Mirror>(run, filter.weights[1], states, block);
    }
}

template <class T, int C, bool Mirror> __global__ void __launch_bounds__(Tile<C>::kThreads)
    columns_kernel(const __grid_constant__ RecursiveArgs args, const __grid_constant__ LineFilter rows,
                   float* row_states) {
    __shared__ typename Tile<C>::Memory memory;
    const Tile<C> tile;
    const BlurImages& images = args.images;
    const int lines = images.width * C;
    const int x = static_cast<int>(blockIdx.x) * Tile<C>::kThreads + tile.thread;
    // From the bottom up: the rows that were read last are still in the cache.
    const int block = static_cast<int>(gridDim.y - 1 - blockIdx.y);
    const int top = block * kBlockSamples;
    const int count = min(kBlockSamples, images.height - top);
    float run[kBlockSamples];
#pragma unroll
    for (int i = 0; i < kBlockSamples; ++i)
        run[i] = x < lines && i < count ? static_cast<float>(input_row<T>(images, top + i)[x]) : 0.0F;
    if (x < lines) {
        const LineStates states{args.states + x, lines, static_cast<int>(gridDim.y)};
        filter_block(run, count, StepFactors{rows.gain, rows.slope, rows.curve},
                     states.load(kForwardState, block), states.load(kBackwardState, block));
#pragma unroll
        for (int i = 0; i < kBlockSamples; ++i)
            if (i < count)
                args.between[static_cast<std::int64_t>(top + i) * args.between_pitch + x] = run[i];
    }
#pragma unroll
    for (int i = 0; i < kBlockSamples; ++i)
        tile.in_column(memory, i) = run[i];
    __syncthreads();

    const int row_block = static_cast<int>(blockIdx.x) * Tile<C>::kTiles + tile.tile;
    if (row_block >= rows.blocks || tile.row >= count)
        return;
#pragma unroll
    for (int i = 0; i < kBlockSamples; ++i)
        run[i] = tile.in_row(memory, i);
    const LineStates states{row_states + tile.channel * images.height + top + tile.row,
                            static_cast<std::int64_t>(C) * images.height, rows.blocks};
    if (row_block + 1 < rows.blocks)
        store_block_states<Mirror>(run, rows.weights[0], states, row_block);
    else
        store_block_states<Mirror>(run, rows.weights[1], states, row_block);
}

template <class T, int C> __global__ void __launch_bounds__(Tile<C>::kThreads)
    rows_kernel(const __grid_constant__ RecursiveArgs args, StepFactors step, float* row_states) {
    __shared__ typename Tile<C>::Memory memory;
    const Tile<C> tile;
    const BlurImages& images = args.images;
    const int lines = images.width * C;
    const int blocks = (images.width + kBlockSamples - 1) / kBlockSamples;
    const int x = static_cast<int>(blockIdx.x) * Tile<C>::kThreads + tile.thread;
    const int top = static_cast<int>(blockIdx.y) * kBlockSamples;
    const int height = min(kBlockSamples, images.height - top);
    float run[kBlockSamples];
#pragma unroll
    for (int i = 0; i < kBlockSamples; ++i)
        run[i] = x < lines && i < height
                     ? args.between[static_cast<std::int64_t>(top + i) * args.between_pitch + x]
                     : 0.0F;
#pragma unroll
    for (int i = 0; i < kBlockSamples; ++i)
        tile.in_column(memory, i) = run[i];
    __syncthreads();

    const int block = static_cast<int>(blockIdx.x) * Tile<C>::kTiles + tile.tile;
    if (block < blocks && tile.row < height) {
#pragma unroll
        for (int i = 0; i < kBlockSamples; ++i)
            run[i] = tile.in_row(memory, i);
        const LineStates states{row_states + tile.channel * images.height + top + tile.row,
                                static_cast<std::int64_t>(C) * images.height, blocks};
        filter_block(run, min(kBlockSamples, images.width - block * kBlockSamples), step,
                     states.load(kForwardState, block), states.load(kBackwardState, block));
#pragma unroll
        for (int i = 0; i < kBlockSamples; ++i)
            tile.in_row(memory, i) = run[i];
    }
    __syncthreads();

    const int out_x = x - images.offset * C;
    if (out_x < 0 || out_x >= images.out_width * C)
        return;
    const float weight = images.inverse_x ? images.inverse_x[x / C] : 1.0F;
#pragma unroll
    for (int i = 0; i < kBlockSamples; ++i) {
        const int y = top + i - images.offset;
        if (y < 0 || y >= images.out_height)
            continue;
        const float value = tile.in_column(memory, i);
        output_row<T>(images, y)[out_x] =
            to_sample<T>(images.inverse_y ? value * weight * images.inverse_y[top + i] : value);
    }
}

constexpr int components(Border border) { return border == Border::reflect ? 9 : 6; }

std::size_t axis_states(int lines, int size, Border border) {
    const int blocks = (size + kBlockSamples - 1) / kBlockSamples;
    return static_cast<std::size_t>(lines) * static_cast<std::size_t>(blocks * components(border));
}

struct Axes {
    const LineFilter& columns;
    const LineFilter& rows;
};

template <class T, int C, bool Mirror>
void launch(const RecursiveArgs& args, const Axes& axes, cudaStream_t stream) {
    const BlurImages& images = args.images;
    const int lines = images.width * C;
    float* const row_states = args.states + axis_states(lines, images.height, axes.columns.border);
    const auto blocks_down = static_cast<unsigned>(axes.columns.blocks);
    const dim3 columns(static_cast<unsigned>((lines + kColumnThreads - 1) / kColumnThreads), blocks_down);
    column_states_kernel<T, Mirror>
        <<<columns, kColumnThreads, 0, stream>>>(args, axes.columns, lines);
    check_launch("the column states of stage gaussian");
    launch_scan({args.states, lines, images.input,
                 images.input + static_cast<std::int64_t>(images.height - 1) * images.input_pitch, lines, 1},
                axes.columns, pixel_type_of<T>(), stream);

    constexpr int threads = Tile<C>::kThreads;
    const dim3 tiles(static_cast<unsigned>((lines + threads - 1) / threads), blocks_down);
    columns_kernel<T, C, Mirror><<<tiles, threads, 0, stream>>>(args, axes.rows, row_states);
    check_launch("the columns of stage gaussian");
    launch_scan({row_states, images.height * C, args.between, args.between + (images.width - 1) * C,
                 images.height, args.between_pitch},
                axes.rows, PixelType::f32, stream);
    rows_kernel<T, C><<<tiles, threads, 0, stream>>>(
        args, StepFactors{axes.rows.gain, axes.rows.slope, axes.rows.curve}, row_states);
    check_launch("the rows of stage gaussian");
}

} // namespace

std::size_t recursive_states(const Shape& input, Border border) {
    return axis_states(input.width * input.channels, input.height, border) +
           axis_states(input.height * input.channels, input.width, border);
}

void launch_recursive(const RecursiveArgs& args, const Shape& input, const LineFilter& columns,
                      const LineFilter& rows, cudaStream_t stream) {
    const Axes axes{columns, rows};
    const bool mirror = columns.border == Border::reflect;
    dispatch(input.type, [&](auto zero) {
        using T = decltype(zero);
        if (input.channels == 1)
            mirror ? launch<T, 1, true>(args, axes, stream) : launch<T, 1, false>(args, axes, stream);
        else
            mirror ? launch<T, 3, true>(args, axes, stream) : launch<T, 3, false>(args, axes, stream);
    });
}

} // namespace specklescope::cuda
