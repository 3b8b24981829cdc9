// Each of these moves its data once: what they cost beside cuFFT is the time of a copy.
#include "cuda/convolve/convolution_launch.hpp"

#include "cuda/rows.cuh"

#include <cstdint>
#include <limits>

namespace specklescope::cuda {

namespace {

constexpr unsigned divided(std::size_t n, unsigned by) { return static_cast<unsigned>((n + by - 1) / by); }

// --- into the transform ---

// Shapes of these kernels are guesses.
constexpr int kLoadRows = 4;                      ///< of one thread
constexpr int kBlockWidth = 64, kBlockHeight = 4; ///< threads of loads and stores

/// A thread fills two neighbouring positions of kLoadRows rows in each plane: 8 bytes are what a row's start
/// is aligned to.
template <class T, int C> __global__ void __launch_bounds__(kBlockWidth* kBlockHeight)
    load_kernel(const __grid_constant__ ConvolutionTile tile, View<const T, Space::device> image) {
    const ConvolutionGeometry& geometry = tile.geometry;
    const int d = 2 * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (d >= geometry.x.fft)
        return;
    const int left = geometry.x.source(tile.tx, axis_position(geometry.x, d), geometry.border);
    const int right = geometry.x.source(tile.tx, axis_position(geometry.x, d + 1), geometry.border);
    const int first = static_cast<int>(blockIdx.y * blockDim.y) * kLoadRows + static_cast<int>(threadIdx.y);
    const std::size_t plane = 2 * tile.transform.plane();
    float2 values[kLoadRows][C]; // all on their way before the first is stored
#pragma unroll
    for (int i = 0; i < kLoadRows; ++i) {
        const int row = min(first + i * kBlockHeight, tile.transform.height - 1);
        const int line = geometry.y.source(tile.ty, axis_position(geometry.y, row), geometry.border);
        const T* pixels = row_of(image, max(line, 0));
#pragma unroll
        for (int c = 0; c < C; ++c) {
            values[i][c].x = line < 0 || left < 0 ? 0.0F : static_cast<float>(pixels[left * C + c]);
            values[i][c].y = line < 0 || right < 0 ? 0.0F : static_cast<float>(pixels[right * C + c]);
        }
    }
#pragma unroll
    for (int i = 0; i < kLoadRows; ++i) {
        const int row = first + i * kBlockHeight;
        if (row >= tile.transform.height)
            return;
        float* to = tile.rows +
                    static_cast<std::size_t>(row) * static_cast<unsigned>(tile.transform.real_pitch()) + d;
#pragma unroll
        for (int c = 0; c < C; ++c)
            *reinterpret_cast<float2*>(to + c * plane) = values[i][c];
    }
}

// --- out of it ---

constexpr int kStorePixels = 4; ///< of one thread, side by side
constexpr int kStoreRows = 2;

template <class T> inline constexpr auto kMost = static_cast<float>(std::numeric_limits<T>::max());

template <class T> __device__ T rounded(float value) {
    if constexpr (std::is_same_v<T, float>)
        return value;
    else
        return static_cast<T>(fminf(fmaxf(rintf(value), 0.0F), kMost<T>)); // NaN: 0
}

/// As many bytes at once as a whole number of times makes N.
template <int N> struct StoreWord {
    using Type = std::conditional_t<N % 16 == 0, uint4, std::conditional_t<N % 8 == 0, uint2, unsigned>>;
};

/// Results of one tile; `aligned`: four pixels at a multiple of four start on a whole word.
struct StoreArgs {
    std::byte* first; ///< the tile's first result in the image
    std::size_t pitch;
    int width, height; ///< results of the tile
    int column, row;   ///< of the first one, in the image
    bool aligned;
};

template <class T, int C> __global__ void __launch_bounds__(kBlockWidth* kBlockHeight)
    store_kernel(const __grid_constant__ ConvolutionTile tile, const __grid_constant__ StoreArgs args) {
    const int x = kStorePixels * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (x >= args.width)
        return;
    const int first = static_cast<int>(blockIdx.y * blockDim.y) * kStoreRows + static_cast<int>(threadIdx.y);
    const std::size_t plane = 2 * tile.transform.plane();
    float values[kStoreRows][C][kStorePixels];
#pragma unroll
    for (int i = 0; i < kStoreRows; ++i) {
        const int y = min(first + i * kBlockHeight, args.height - 1);
        // Four positions from a multiple of four never pass the row's two spare ones.
        const float* from =
            tile.rows + static_cast<std::size_t>(y) * static_cast<unsigned>(tile.transform.real_pitch()) + x;
#pragma unroll
        for (int c = 0; c < C; ++c) {
            const auto* pairs = reinterpret_cast<const float2*>(from + c * plane);
            const float2 a = pairs[0];
            const float2 b = pairs[1];
            values[i][c][0] = a.x, values[i][c][1] = a.y, values[i][c][2] = b.x, values[i][c][3] = b.y;
        }
    }
    using Word = typename StoreWord<kStorePixels * C * sizeof(T)>::Type;
    constexpr int kWords = kStorePixels * C * sizeof(T) / sizeof(Word);
    union {
        T pixels[kStorePixels * C];
        Word words[kWords];
    } out;
#pragma unroll
    for (int i = 0; i < kStoreRows; ++i) {
        const int y = first + i * kBlockHeight;
        if (y >= args.height)
            return;
#pragma unroll
        for (int j = 0; j < kStorePixels; ++j) {
            float scale = 1;
            if (tile.divisor_x && x + j < args.width)
                scale = 1 / (tile.divisor_x[args.column + x + j] * tile.divisor_y[args.row + y]);
#pragma unroll
            for (int c = 0; c < C; ++c)
                out.pixels[j * C + c] = rounded<T>(values[i][c][j] * scale);
        }
        T* to = reinterpret_cast<T*>(args.first + static_cast<std::size_t>(y) * args.pitch) + x * C;
        if (args.aligned && x + kStorePixels <= args.width) {
#pragma unroll
            for (int w = 0; w < kWords; ++w)
                reinterpret_cast<Word*>(to)[w] = out.words[w];
        } else {
#pragma unroll
            for (int k = 0; k < kStorePixels * C; ++k)
                if (x + k / C < args.width)
                    to[k] = out.pixels[k];
        }
    }
}

// --- products ---

constexpr unsigned kMultiplyThreads = 256;

__device__ float2 product(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__device__ float4 product(float4 a, float4 b) {
    const float2 first = product(make_float2(a.x, a.y), make_float2(b.x, b.y));
    const float2 second = product(make_float2(a.z, a.w), make_float2(b.z, b.w));
    return make_float4(first.x, first.y, second.x, second.y);
}

/// Two complex samples of every plane a thread; `pairs` of them in a plane.
template <int Batch, bool OneKernel> __global__ void __launch_bounds__(kMultiplyThreads)
    multiply_kernel(float4* data, const float4* spectra, std::size_t pairs) {
    const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= pairs)
        return;
    float4 values[Batch];
    float4 factors[OneKernel ? 1 : Batch];
#pragma unroll
    for (int b = 0; b < Batch; ++b)
        values[b] = data[b * pairs + i];
#pragma unroll
    for (int k = 0; k < (OneKernel ? 1 : Batch); ++k)
        factors[k] = spectra[k * pairs + i];
#pragma unroll
    for (int b = 0; b < Batch; ++b)
        data[b * pairs + i] = product(values[b], factors[OneKernel ? 0 : b]);
}

constexpr int kSeparableRows = 4; ///< of one thread

template <int Batch> __global__ void __launch_bounds__(kMultiplyThreads)
    separable_kernel(float2* data, int columns, int rows, const float* factor_x, const float* factor_y) {
    const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (column >= columns)
        return;
    const float across = factor_x[column];
    const std::size_t plane = static_cast<std::size_t>(columns) * static_cast<unsigned>(rows);
    const int first = static_cast<int>(blockIdx.y) * kSeparableRows;
    float2* const samples = data + static_cast<std::size_t>(first) * static_cast<unsigned>(columns) + column;
    float2 values[kSeparableRows][Batch]; // all on their way before the first is stored
#pragma unroll
    for (int i = 0; i < kSeparableRows; ++i)
#pragma unroll
        for (int b = 0; b < Batch; ++b)
            if (first + i < rows)
                values[i][b] =
                    samples[b * plane + static_cast<std::size_t>(i) * static_cast<unsigned>(columns)];
#pragma unroll
    for (int i = 0; i < kSeparableRows; ++i) {
        if (first + i >= rows)
            return;
        const float factor = across * factor_y[first + i];
#pragma unroll
        for (int b = 0; b < Batch; ++b)
            samples[b * plane + static_cast<std::size_t>(i) * static_cast<unsigned>(columns)] =
                make_float2(values[i][b].x * factor, values[i][b].y * factor);
    }
}

} // namespace

void load_tile(const ConvolutionTile& tile, ConstDeviceView image, cudaStream_t stream) {
    const dim3 blocks(divided(static_cast<std::size_t>(tile.transform.columns()), kBlockWidth),
                      divided(static_cast<std::size_t>(tile.transform.height), kBlockHeight * kLoadRows));
    const dim3 block(kBlockWidth, kBlockHeight);
    dispatch(image.shape.type, [&](auto zero) {
        using T = decltype(zero);
        if (image.shape.channels == 3)
            load_kernel<T, 3><<<blocks, block, 0, stream>>>(tile, image.as<T>());
        else
            load_kernel<T, 1><<<blocks, block, 0, stream>>>(tile, image.as<T>());
    });
    check_launch("the kernel that loads a transform");
}

void store_tile(const ConvolutionTile& tile, DeviceView image, cudaStream_t stream) {
    const ConvolutionAxis& x = tile.geometry.x;
    const ConvolutionAxis& y = tile.geometry.y;
    const std::size_t pixel = pixel_bytes(image.shape.type) * static_cast<std::size_t>(image.shape.channels);
    StoreArgs args{};
    args.column = x.first_result(tile.tx);
    args.row = y.first_result(tile.ty);
    args.width = x.tile_results(tile.tx);
    args.height = y.tile_results(tile.ty);
    args.pitch = image.pitch;
    args.first = image.row(args.row) + static_cast<std::size_t>(args.column) * pixel;
    // The widest word that four pixels are made of has 4 times a sample's bytes.
    const std::size_t word = kStorePixels * pixel_bytes(image.shape.type);
    args.aligned = (reinterpret_cast<std::uintptr_t>(args.first) | args.pitch) % word == 0;
    const dim3 blocks(divided(static_cast<std::size_t>(args.width), kBlockWidth * kStorePixels),
                      divided(static_cast<std::size_t>(args.height), kBlockHeight * kStoreRows));
    const dim3 block(kBlockWidth, kBlockHeight);
    dispatch(image.shape.type, [&](auto zero) {
        using T = decltype(zero);
        if (image.shape.channels == 3)
            store_kernel<T, 3><<<blocks, block, 0, stream>>>(tile, args);
        else
            store_kernel<T, 1><<<blocks, block, 0, stream>>>(tile, args);
    });
    check_launch("the kernel that stores a transform");
}

void multiply(const FftShape& transform, float2* data, const float2* spectra, int kernels,
              cudaStream_t stream) {
    const std::size_t pairs = transform.plane() / 2; // the height is even
    const unsigned blocks = divided(pairs, kMultiplyThreads);
    auto* const to = reinterpret_cast<float4*>(data);
    const auto* const by = reinterpret_cast<const float4*>(spectra);
    if (transform.batch == 1)
        multiply_kernel<1, true><<<blocks, kMultiplyThreads, 0, stream>>>(to, by, pairs);
    else if (kernels == 1)
        multiply_kernel<3, true><<<blocks, kMultiplyThreads, 0, stream>>>(to, by, pairs);
    else
        multiply_kernel<3, false><<<blocks, kMultiplyThreads, 0, stream>>>(to, by, pairs);
    check_launch("the kernel that multiplies spectra");
}

void multiply_separable(const FftShape& transform, float2* data, const float* factor_x, const float* factor_y,
                        cudaStream_t stream) {
    const dim3 blocks(divided(static_cast<std::size_t>(transform.columns()), kMultiplyThreads),
                      divided(static_cast<std::size_t>(transform.height), kSeparableRows));
    if (transform.batch == 1)
        separable_kernel<1><<<blocks, kMultiplyThreads, 0, stream>>>(data, transform.columns(),
                                                                     transform.height, factor_x, factor_y);
    else
        separable_kernel<3><<<blocks, kMultiplyThreads, 0, stream>>>(data, transform.columns(),
                                                                     transform.height, factor_x, factor_y);
    check_launch("the kernel that multiplies spectra");
}

} // namespace specklescope::cuda
