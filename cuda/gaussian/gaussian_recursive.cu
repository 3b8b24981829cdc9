// The recursive Gaussian, Young & van Vliet 1995, in five kernels: contributions of the column blocks, the
// states between them, the columns for the contributions of the row blocks, the states between those, and
// columns and rows together for the result. Columns are filtered twice: reading the image again is faster
// than storing and loading intermediate results.
#include "cuda/gaussian/gaussian_recursive.cuh"

namespace specklescope::cuda {

namespace {

constexpr int kColumnThreads = 128; ///< an estimate

/// A tile of kBlockSamples × kBlockSamples pixels, kTiles of them next to each other: every thread has one
/// column of samples, then one row of one channel in one tile. They are exchanged in shared memory.
template <int C> struct Tile {
    static constexpr int kTiles = C == 1 ? 4 : 1; ///< fewer gained nothing (docs/performance.md, Gaussian)
    static constexpr int kThreads = kTiles * kBlockSamples * C;
    static constexpr int kStride = kBlockSamples + 1; ///< no bank conflicts
    static constexpr int kBlocks =
        C == 1 ? 9 : 8; ///< per multiprocessor: more would take registers needed by run[]
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

/// A sample at a 32-bit offset in a row that is the same for all threads: addresses in a column then need no
/// registers.
template <class T> __device__ __forceinline__ T& sample_at(const std::byte* row, unsigned offset) {
    return *reinterpret_cast<T*>(const_cast<std::byte*>(row) + offset);
}

/// Samples of column x from row `top` on; the last one is repeated if there are fewer.
template <class T> __device__ __forceinline__ void load_column(const BlurImages& images, int x, int top,
                                                               int count, float (&run)[kBlockSamples]) {
    const std::byte* row = images.input + static_cast<std::int64_t>(top) * images.input_pitch;
    const auto offset = static_cast<unsigned>(x) * static_cast<unsigned>(sizeof(T));
    if (count == kBlockSamples) {
#pragma unroll
        for (int i = 0; i < kBlockSamples; ++i, row += images.input_pitch)
            run[i] = static_cast<float>(sample_at<const T>(row, offset));
    } else {
#pragma unroll
        // volatile prevents merging with the loop above, which is slower
        for (int i = 0; i < kBlockSamples; ++i)
            run[i] = static_cast<float>(sample_at<const volatile T>(
                row + static_cast<std::int64_t>(min(i, count - 1)) * images.input_pitch, offset));
    }
}

template <class T, bool Mirror> __global__ void __launch_bounds__(kColumnThreads)
    column_states_kernel(const __grid_constant__ BlurImages images,
                         const __grid_constant__ LineWeights weights, float* column_states, int lines) {
    let_next_begin();
    if (skipped(images.guard))
        return;
    const int x = static_cast<int>(blockIdx.x) * kColumnThreads + static_cast<int>(threadIdx.x);
    const int block = static_cast<int>(blockIdx.y);
    const int blocks = static_cast<int>(gridDim.y);
    if (x >= lines)
        return;
    float run[kBlockSamples];
    const int top = block * kBlockSamples;
    load_column<T>(images, x, top, min(kBlockSamples, images.height - top), run);
    BlockSums<Mirror> sums;
    if (block + 1 < blocks) {
#pragma unroll
        for (int i = 0; i < kBlockSamples; ++i)
            sums.add(weights.weights[0], i, run[i]);
    } else {
#pragma unroll
        for (int i = 0; i < kBlockSamples; ++i)
            sums.add(weights.weights[1], i, run[i]);
    }
    sums.store({column_states + x, lines, BlockSums<Mirror>::kComponents}, block);
}

/// Arguments shared by the two kernels over tiles.
struct TileArgs {
    BlurImages images;
    StepFactors step;
    float* column_states;
    float* row_states;
    float* ends; ///< first sample of every row, then the last samples
    int row_blocks;
    int components; ///< of a state
};

/// Stores the tile's filtered columns in its memory. The states of the columns are from the previous kernel
/// (AfterPrevious), or from an earlier one.
template <class T, bool AfterPrevious, int C> __device__ __forceinline__ void
filter_columns(const TileArgs& args, const Tile<C>& tile, int block, float* memory) {
    float run[kBlockSamples];
    const int lines = args.images.width * C;
    const int x = min(static_cast<int>(blockIdx.x) * Tile<C>::kThreads + tile.thread, lines - 1);
    const int top = block * kBlockSamples;
    const int count = min(kBlockSamples, args.images.height - top);
    load_column<T>(args.images, x, top, count, run);
    if (AfterPrevious)
        wait_for_previous();
    const LineStates states{args.column_states + x, lines, args.components};
    filter_block(run, count, args.step, states.load(kForwardState, block),
                 states.load(kBackwardState, block));
#pragma unroll
    for (int i = 0; i < kBlockSamples; ++i)
        tile.in_column(memory, i) = run[i];
    __syncthreads();
}

template <int C>
__device__ __forceinline__ LineStates states_of_row(const TileArgs& args, const Tile<C>& tile, int top) {
    return {args.row_states + tile.channel * args.images.height + top + tile.row, C * args.images.height,
            args.components};
}

template <class T, int C, bool Mirror>
__global__ void __launch_bounds__(Tile<C>::kThreads, blocks_held(Tile<C>::kThreads, Tile<C>::kBlocks))
    row_states_kernel(const __grid_constant__ TileArgs args, const __grid_constant__ LineWeights weights) {
    __shared__ typename Tile<C>::Memory memory;
    let_next_begin();
    if (skipped(args.images.guard))
        return;
    const Tile<C> tile;
    // From the bottom up: the last rows read are still cached.
    const int block = static_cast<int>(gridDim.y - 1 - blockIdx.y);
    filter_columns<T, true>(args, tile, block, memory);

    const int top = block * kBlockSamples;
    const int row_block = static_cast<int>(blockIdx.x) * Tile<C>::kTiles + tile.tile;
    if (row_block >= args.row_blocks || top + tile.row >= args.images.height)
        return;
    const int line = tile.channel * args.images.height + top + tile.row;
    if (row_block == 0)
        args.ends[line] = tile.in_row(memory, 0);
    BlockSums<Mirror> sums;
    if (row_block + 1 < args.row_blocks) {
#pragma unroll
        for (int i = 0; i < kBlockSamples; ++i)
            sums.add(weights.weights[0], i, tile.in_row(memory, i));
    } else {
        const int count = args.images.width - row_block * kBlockSamples;
        args.ends[C * args.images.height + line] = tile.in_row(memory, count - 1);
#pragma unroll
        for (int i = 0; i < kBlockSamples; ++i)
            sums.add(weights.weights[1], i, i < count ? tile.in_row(memory, i) : 0.0F);
    }
    sums.store(states_of_row(args, tile, top), row_block);
}

template <class T, int C>
__global__ void __launch_bounds__(Tile<C>::kThreads, blocks_held(Tile<C>::kThreads, Tile<C>::kBlocks))
    result_kernel(const __grid_constant__ TileArgs args) {
    __shared__ typename Tile<C>::Memory memory;
    const Tile<C> tile;
    const BlurImages& images = args.images;
    if (skipped(images.guard))
        return;
    const int block = static_cast<int>(blockIdx.y);
    filter_columns<T, false>(args, tile, block, memory);
    wait_for_previous();

    const int top = block * kBlockSamples;
    const int row_block = static_cast<int>(blockIdx.x) * Tile<C>::kTiles + tile.tile;
    if (row_block < args.row_blocks && top + tile.row < images.height) {
        const LineStates states = states_of_row(args, tile, top);
        const State forward = states.load(kForwardState, row_block);
        const State backward = states.load(kBackwardState, row_block);
        float run[kBlockSamples];
#pragma unroll
        for (int i = 0; i < kBlockSamples; ++i)
            run[i] = tile.in_row(memory, i);
        filter_block(run, min(kBlockSamples, images.width - row_block * kBlockSamples), args.step, forward,
                     backward);
#pragma unroll
        for (int i = 0; i < kBlockSamples; ++i)
            tile.in_row(memory, i) = run[i];
    }
    __syncthreads();

    const int x = static_cast<int>(blockIdx.x) * Tile<C>::kThreads + tile.thread;
    const int out_x = x - images.offset * C;
    if (out_x < 0 || out_x >= images.out_width * C)
        return;
    const int first = top - images.offset; // row of the output
    if (!images.inverse_y && first >= 0 && first + kBlockSamples <= images.out_height) {
        std::byte* row = images.output + static_cast<std::int64_t>(first) * images.output_pitch;
        const auto offset = static_cast<unsigned>(out_x) * static_cast<unsigned>(sizeof(T));
#pragma unroll
        for (int i = 0; i < kBlockSamples; ++i, row += images.output_pitch)
            __stcs(&sample_at<T>(row, offset), to_sample<T>(tile.in_column(memory, i)));
        return;
    }
    const float weight = images.inverse_x ? images.inverse_x[x / C] : 1.0F;
#pragma unroll 1
    for (int i = max(0, -first); i < min(kBlockSamples, images.out_height - first); ++i) {
        const float value = tile.in_column(memory, i);
        output_row<T>(images, first + i)[out_x] =
            to_sample<T>(images.inverse_y ? value * weight * images.inverse_y[top + i] : value);
    }
}

/// Parts of RecursiveArgs::memory, in floats.
struct Layout {
    std::size_t column_states, row_states, ends;
};

Layout layout_of(const Shape& input, Border border) {
    const auto components = static_cast<std::size_t>(state_components(border));
    const auto floats = [components](int lines, int size) {
        return components * static_cast<std::size_t>(lines) *
               static_cast<std::size_t>((size + kBlockSamples - 1) / kBlockSamples);
    };
    return {floats(input.width * input.channels, input.height),
            floats(input.height * input.channels, input.width),
            std::size_t{2} * static_cast<std::size_t>(input.height * input.channels)};
}

struct Axes {
    const LineFilter& columns;
    const LineFilter& rows;
    const Layout& layout;
};

template <class T, int C, bool Mirror>
void launch(const RecursiveArgs& args, const Axes& axes, const Sequence& sequence) {
    const BlurImages& images = args.images;
    const int lines = images.width * C;
    const int row_lines = images.height * C;
    float* const column_states = args.memory;
    float* const row_states = column_states + axes.layout.column_states;
    float* const ends = row_states + axes.layout.row_states;
    const auto blocks_down = static_cast<unsigned>(axes.columns.blocks);
    const auto across = [lines](int threads) {
        return static_cast<unsigned>((lines + threads - 1) / threads);
    };
    sequence.first("the column states of stage gaussian",
                   {dim3(across(kColumnThreads), blocks_down), kColumnThreads},
                   column_states_kernel<T, Mirror>, images, axes.columns, column_states, lines);
    launch_scan({column_states, lines, images.input,
                 images.input + static_cast<std::int64_t>(images.height - 1) * images.input_pitch,
                 images.guard},
                axes.columns, pixel_type_of<T>(), sequence);

    constexpr unsigned threads = Tile<C>::kThreads;
    const Sequence::Grid tiles{dim3(across(threads), blocks_down), threads};
    const TileArgs shared{images,
                          {axes.rows.gain, axes.rows.slope, axes.rows.curve},
                          column_states,
                          row_states,
                          ends,
                          axes.rows.blocks,
                          state_components(axes.rows.border)};
    sequence.next("the row states of stage gaussian", tiles, row_states_kernel<T, C, Mirror>, shared,
                  axes.rows);
    launch_scan({row_states, row_lines, ends, ends + row_lines, images.guard}, axes.rows, PixelType::f32,
                sequence);
    sequence.next("the result of stage gaussian", tiles, result_kernel<T, C>, shared);
}

} // namespace

RecursivePlan plan_recursive(const Shape& input, Border border) {
    const Layout layout = layout_of(input, border);
    cudaFuncAttributes found{};
    check(cudaFuncGetAttributes(&found, result_kernel<float, 1>), "cudaFuncGetAttributes");
    return {layout.column_states + layout.row_states + layout.ends, found.ptxVersion >= 90};
}

void launch_recursive(const RecursiveArgs& args, const Shape& input, const LineFilter& columns,
                      const LineFilter& rows, const Sequence& sequence) {
    const Layout layout = layout_of(input, columns.border);
    const Axes axes{columns, rows, layout};
    const bool mirror = columns.border == Border::reflect;
    dispatch(input.type, [&](auto zero) {
        using T = decltype(zero);
        if (input.channels == 1)
            mirror ? launch<T, 1, true>(args, axes, sequence) : launch<T, 1, false>(args, axes, sequence);
        else
            mirror ? launch<T, 3, true>(args, axes, sequence) : launch<T, 3, false>(args, axes, sequence);
    });
}

} // namespace specklescope::cuda
