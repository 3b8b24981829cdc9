// The recursive Gaussian, Young & van Vliet 1995, in five kernels: contributions of the column blocks, the
// states between them, the columns for the contributions of the row blocks, the states between those, and
// columns and rows together for the result. Columns are filtered twice: reading the image again is faster
// than storing and loading intermediate results. f32 with missing samples: the kernels filter the mask of
// FilterNorm as well. Only the first kernel, which finds missing samples, has a second launch for the mask.
#include "cuda/gaussian/gaussian_recursive.cuh"

#include <algorithm>

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

/// Replaces samples in the first kernel, which finds missing ones and the offset. Call it on all threads.
template <class T> __device__ __forceinline__ void find_missing(const BlurImages& images,
                                                                const RecursiveMissing& missing, int channels,
                                                                float (&run)[kBlockSamples]) {
    if constexpr (std::is_same_v<T, float>) {
        float offset = 0;
        if (!missing.norm.zeros_outside)
            offset = offset_of_warp({reinterpret_cast<const float*>(images.input), images.width,
                                     images.height, channels, static_cast<std::size_t>(images.input_pitch)});
        if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0)
            missing.guard->offset = offset;
        float zero = 0; // NaN after a sample that is not finite
#pragma unroll
        for (int i = 0; i < kBlockSamples; ++i)
            zero = fmaf(run[i], 0.0F, zero);
        if (zero != 0)
            missing.guard->frame = missing.frame;
        else if (offset == 0)
            return;
#pragma unroll
        for (int i = 0; i < kBlockSamples; ++i)
            run[i] = is_sample(run[i]) ? run[i] - offset : 0;
    }
}

template <class T, bool Mirror, Plane kPlane> __device__ __forceinline__ void
column_states_of_block(const BlurImages& images, const RecursiveMissing& missing, const LineWeights& weights,
                       float* column_states, int lines, int block, int blocks) {
    const int x = static_cast<int>(blockIdx.x) * kColumnThreads + static_cast<int>(threadIdx.x);
    const int top = block * kBlockSamples;
    float run[kBlockSamples];
    load_column<T>(images, min(x, lines - 1), top, min(kBlockSamples, images.height - top), run);
    if constexpr (kPlane == Plane::mask)
        Missing(missing).replace<T, kPlane>(missing.norm, run);
    else
        find_missing<T>(images, missing, lines / images.width, run);
    if (x >= lines)
        return;
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

template <class T, bool Mirror> __global__ void __launch_bounds__(kColumnThreads)
    column_states_kernel(const __grid_constant__ BlurImages images,
                         const __grid_constant__ RecursiveMissing missing,
                         const __grid_constant__ LineWeights weights, float* column_states, int lines) {
    let_next_begin();
    wait_for_previous();
    column_states_of_block<T, Mirror, Plane::values>(images, missing, weights, column_states, lines,
                                                     static_cast<int>(blockIdx.y),
                                                     static_cast<int>(gridDim.y));
}

/// The same for the mask, if samples are missing.
template <bool Mirror> __global__ void __launch_bounds__(kColumnThreads)
    mask_states_kernel(const __grid_constant__ BlurImages images,
                       const __grid_constant__ RecursiveMissing missing,
                       const __grid_constant__ LineWeights weights, float* column_states, int lines) {
    let_next_begin();
    wait_for_previous();
    if (!Missing(missing).any)
        return;
    const int blocks = (images.height + kBlockSamples - 1) / kBlockSamples;
    for (int block = static_cast<int>(blockIdx.y); block < blocks; block += static_cast<int>(gridDim.y))
        column_states_of_block<float, Mirror, Plane::mask>(images, missing, weights, column_states, lines,
                                                           block, blocks);
}

/// Arguments shared by the two kernels over tiles.
struct TileArgs {
    BlurImages images;
    RecursiveMissing missing;
    StepFactors step;
    float* column_states;
    float* row_states;
    float* ends;       ///< first sample of every row, then the last samples
    std::size_t plane; ///< floats from each of these for the values to those for the mask
    int row_blocks;
    int components; ///< of a state
};

template <Plane kPlane> __device__ __forceinline__ float* of_plane(const TileArgs& args, float* values) {
    return kPlane == Plane::mask ? values + args.plane : values;
}

/// Stores the tile's filtered columns in its memory. The states of the columns are from the previous kernel
/// (AfterPrevious), or from an earlier one.
template <class T, Plane kPlane, bool AfterPrevious, int C>
__device__ __forceinline__ Missing filter_columns(const TileArgs& args, const Tile<C>& tile, int block,
                                                  float* memory) {
    float run[kBlockSamples];
    const int lines = args.images.width * C;
    const int x = min(static_cast<int>(blockIdx.x) * Tile<C>::kThreads + tile.thread, lines - 1);
    const int top = block * kBlockSamples;
    const int count = min(kBlockSamples, args.images.height - top);
    load_column<T>(args.images, x, top, count, run);
    if (AfterPrevious)
        wait_for_previous();
    const Missing missing(args.missing);
    const LineStates states{of_plane<kPlane>(args, args.column_states) + x, lines, args.components};
    const State forward = states.load(kForwardState, block);
    const State backward = states.load(kBackwardState, block);
    missing.replace<T, kPlane>(args.missing.norm, run);
    filter_block(run, count, args.step, forward, backward);
#pragma unroll
    for (int i = 0; i < kBlockSamples; ++i)
        tile.in_column(memory, i) = run[i];
    __syncthreads();
    return missing;
}

template <Plane kPlane, int C>
__device__ __forceinline__ LineStates states_of_row(const TileArgs& args, const Tile<C>& tile, int top) {
    return {of_plane<kPlane>(args, args.row_states) + tile.channel * args.images.height + top + tile.row,
            C * args.images.height, args.components};
}

template <class T, int C, bool Mirror, Plane kPlane>
__device__ __forceinline__ Missing row_states(const TileArgs& args, const LineWeights& weights,
                                              float* memory) {
    const Tile<C> tile;
    // From the bottom up: the last rows read are still cached.
    const int block = static_cast<int>(gridDim.y - 1 - blockIdx.y);
    const Missing missing = filter_columns<T, kPlane, true>(args, tile, block, memory);

    const int top = block * kBlockSamples;
    const int row_block = static_cast<int>(blockIdx.x) * Tile<C>::kTiles + tile.tile;
    if (row_block >= args.row_blocks || top + tile.row >= args.images.height)
        return missing;
    const int line = tile.channel * args.images.height + top + tile.row;
    float* const ends = of_plane<kPlane>(args, args.ends);
    if (row_block == 0)
        ends[line] = tile.in_row(memory, 0);
    BlockSums<Mirror> sums;
    if (row_block + 1 < args.row_blocks) {
#pragma unroll
        for (int i = 0; i < kBlockSamples; ++i)
            sums.add(weights.weights[0], i, tile.in_row(memory, i));
    } else {
        const int count = args.images.width - row_block * kBlockSamples;
        ends[C * args.images.height + line] = tile.in_row(memory, count - 1);
#pragma unroll
        for (int i = 0; i < kBlockSamples; ++i)
            sums.add(weights.weights[1], i, i < count ? tile.in_row(memory, i) : 0.0F);
    }
    sums.store(states_of_row<kPlane>(args, tile, top), row_block);
    return missing;
}

template <class T, int C, bool Mirror>
__global__ void __launch_bounds__(Tile<C>::kThreads, blocks_held(Tile<C>::kThreads, Tile<C>::kBlocks))
    row_states_kernel(const __grid_constant__ TileArgs args, const __grid_constant__ LineWeights weights) {
    __shared__ typename Tile<C>::Memory memory;
    let_next_begin();
    const Missing missing = row_states<T, C, Mirror, Plane::values>(args, weights, memory);
    if constexpr (std::is_same_v<T, float>)
        if (missing.any) {
            __syncthreads();
            row_states<T, C, Mirror, Plane::mask>(args, weights, memory);
        }
}

/// Divides the stored results by the weights in the tile's memory, and counts undefined ones. `out_x`,
/// `first`: place of the thread's column in the output.
template <int C> __device__ void divide_by_weights(const TileArgs& args, const Tile<C>& tile, float* memory,
                                                   float offset, int x, int out_x, int first) {
    const BlurImages& images = args.images;
    const bool within = out_x >= 0 && out_x < images.out_width * C;
#pragma unroll 1
    for (int i = 0; i < kBlockSamples; ++i) {
        float& result = tile.in_column(memory, i);
        if (!within || first + i < 0 || first + i >= images.out_height) {
            result = 0;
            continue;
        }
        const float weight =
            images.inverse_x ? result * images.inverse_x[x / C] * images.inverse_y[first + i] : result;
        float& stored = output_row<float>(images, first + i)[out_x];
        result = stored = normalised(args.missing.norm, 0, __ldcg(&stored), true, weight, offset);
    }
    __syncthreads();
    constexpr int kPixels = Tile<C>::kThreads / C;
    int undefined = 0;
    int infinite = 0;
#pragma unroll 1
    for (int i = tile.thread / kPixels; i < kBlockSamples; i += C) {
        bool is_undefined = false;
        bool is_infinite = false;
        for (int c = 0; c < C; ++c) {
            const float result = memory[(tile.thread % kPixels * C + c) * Tile<C>::kStride + i];
            is_undefined = is_undefined || isnan(result);
            is_infinite = is_infinite || isinf(result);
        }
        undefined += is_undefined ? 1 : 0;
        infinite += is_infinite ? 1 : 0;
    }
    add_of_warp(args.missing.counts->undefined, undefined);
    add_of_warp(args.missing.counts->infinite, infinite);
}

/// Results, or with the mask, which is second, their division.
template <class T, int C, Plane kPlane>
__device__ __forceinline__ Missing results(const TileArgs& args, float* memory) {
    const Tile<C> tile;
    const BlurImages& images = args.images;
    const int block = static_cast<int>(blockIdx.y);
    const Missing missing = filter_columns<T, kPlane, false>(args, tile, block, memory);
    wait_for_previous();

    const int top = block * kBlockSamples;
    const int row_block = static_cast<int>(blockIdx.x) * Tile<C>::kTiles + tile.tile;
    if (row_block < args.row_blocks && top + tile.row < images.height) {
        const LineStates states = states_of_row<kPlane>(args, tile, top);
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
    const int first = top - images.offset; // row of the output
    if (kPlane == Plane::mask)
        divide_by_weights(args, tile, memory, missing.offset, x, out_x, first);
    if (kPlane == Plane::mask || out_x < 0 || out_x >= images.out_width * C)
        return missing;
    const float added =
        std::is_same_v<T, float> && !missing.any ? missing.offset : 0; // otherwise divided first
    if (!images.inverse_y && first >= 0 && first + kBlockSamples <= images.out_height) {
        std::byte* row = images.output + static_cast<std::int64_t>(first) * images.output_pitch;
        const auto offset = static_cast<unsigned>(out_x) * static_cast<unsigned>(sizeof(T));
#pragma unroll
        for (int i = 0; i < kBlockSamples; ++i, row += images.output_pitch)
            __stcs(&sample_at<T>(row, offset), to_sample<T>(tile.in_column(memory, i) + added));
        return missing;
    }
    const float weight = images.inverse_x ? images.inverse_x[x / C] : 1.0F;
#pragma unroll 1
    for (int i = max(0, -first); i < min(kBlockSamples, images.out_height - first); ++i) {
        const float value = tile.in_column(memory, i);
        output_row<T>(images, first + i)[out_x] =
            to_sample<T>((images.inverse_y ? value * weight * images.inverse_y[top + i] : value) + added);
    }
    return missing;
}

template <class T, int C>
__global__ void __launch_bounds__(Tile<C>::kThreads, blocks_held(Tile<C>::kThreads, Tile<C>::kBlocks))
    result_kernel(const __grid_constant__ TileArgs args) {
    __shared__ typename Tile<C>::Memory memory;
    const Missing missing = results<T, C, Plane::values>(args, memory);
    if constexpr (std::is_same_v<T, float>)
        if (missing.any) {
            __syncthreads();
            results<T, C, Plane::mask>(args, memory);
        }
}

/// Parts of RecursiveArgs::memory, in floats.
struct Layout {
    std::size_t column_states, row_states, ends;
    std::size_t plane() const { return column_states + row_states + ends; }
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
    const std::size_t plane = axes.layout.plane();
    const auto first = [&](auto kernel, unsigned rows, float* states) {
        sequence.next("the column states of stage gaussian",
                      {dim3(across(kColumnThreads), rows), kColumnThreads}, kernel, images, args.missing,
                      axes.columns, states, lines);
    };
    constexpr unsigned kMostRows = 16; // few blocks, since most launches do nothing; an estimate
    first(column_states_kernel<T, Mirror>, blocks_down, column_states);
    if constexpr (std::is_same_v<T, float>)
        first(mask_states_kernel<Mirror>, std::min(blocks_down, kMostRows), column_states + plane);
    launch_scan({column_states, plane, lines, images.input,
                 images.input + static_cast<std::int64_t>(images.height - 1) * images.input_pitch, false,
                 args.missing},
                axes.columns, pixel_type_of<T>(), sequence);

    constexpr unsigned threads = Tile<C>::kThreads;
    const Sequence::Grid tiles{dim3(across(threads), blocks_down), threads};
    const TileArgs shared{images,        args.missing,     {axes.rows.gain, axes.rows.slope, axes.rows.curve},
                          column_states, row_states,       ends,
                          plane,         axes.rows.blocks, state_components(axes.rows.border)};
    sequence.next("the row states of stage gaussian", tiles, row_states_kernel<T, C, Mirror>, shared,
                  axes.rows);
    launch_scan({row_states, plane, row_lines, ends, ends + row_lines, true, args.missing}, axes.rows,
                PixelType::f32, sequence);
    sequence.next("the result of stage gaussian", tiles, result_kernel<T, C>, shared);
}

} // namespace

RecursivePlan plan_recursive(const Shape& input, Border border) {
    const Layout layout = layout_of(input, border);
    return {layout.plane() * (input.type == PixelType::f32 ? 2 : 1), can_overlap(result_kernel<float, 1>)};
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
