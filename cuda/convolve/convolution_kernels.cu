// A block keeps a few lines in shared memory from the first load to the last store: an image passes through
// memory as pixels, twice as spectra, and as results.
#include "cuda/convolve/convolution_launch.hpp"

#include "cuda/chunks.cuh"
#include "cuda/convolve/fft_line.cuh"

#include <algorithm>
#include <limits>

namespace specklescope::cuda {

namespace {

constexpr int kMaxThreads = 1024; ///< of a block; 64 registers each

extern __shared__ float2 shared_lines[];

__device__ __forceinline__ float2* own_line(const LinePlan& plan) {
    return shared_lines + threadIdx.y * static_cast<unsigned>(plan.room());
}

/// For i = first, first + step … < count: issues kTogether `load`s, then their `store`s.
template <int kTogether = 4, class Load, class Store>
__device__ __forceinline__ void in_groups(int first, int step, int count, Load&& load, Store&& store) {
    int i = first;
    for (; i + (kTogether - 1) * step < count; i += kTogether * step) {
        decltype(load(0)) values[kTogether];
#pragma unroll
        for (int u = 0; u < kTogether; ++u)
            values[u] = load(i + u * step);
#pragma unroll
        for (int u = 0; u < kTogether; ++u)
            store(i + u * step, values[u]);
    }
#pragma unroll 1
    for (; i < count; i += step)
        store(i, load(i));
}

/// For points and results of a line, by neighbouring threads.
template <int kTogether = 4, class Load, class Store>
__device__ __forceinline__ void along(int count, Load&& load, Store&& store) {
    in_groups<kTogether>(static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x), count, load, store);
}

/// Assigns rows and frequencies k = 0 … count − 1 to the threads of a block, rows fastest: samples of a
/// column in neighbouring rows are adjacent in memory.
struct RowAndFrequency {
    unsigned row;
    int k;
    __device__ RowAndFrequency() {
        const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
        row = thread & (blockDim.y - 1); // blockDim.y is a power of two
        k = static_cast<int>(thread / blockDim.y);
    }
};

/// Two mirrored frequencies, k and half − k, and exp(−2πi·k/width).
struct MirrorPair {
    float2 a, b, root;
};

template <class T> __global__ void __launch_bounds__(kMaxThreads)
    rows_kernel(const __grid_constant__ LineTables line, const __grid_constant__ RowsIn in,
                View<const T, Space::device> image, const __grid_constant__ Spectra spectra) {
    if (skipped(line.guard))
        return;
    const int half = line.plan.n; // complex points: even samples real, odd ones imaginary
    const int channels = spectra.planes;
    const int channel = static_cast<int>(blockIdx.x) % channels;
    const int first = static_cast<int>(blockIdx.x) / channels * static_cast<int>(blockDim.y);
    const int row = min(first + static_cast<int>(threadIdx.y), in.count - 1);
    const T* pixels = row_of(image, in.rows ? __ldg(in.rows + row) : row) + channel;
    const auto* const columns = reinterpret_cast<const int2*>(in.columns);
    float2* const points = own_line(line.plan);
    along<8>(
        half,
        [&](int j) {
            const int2 x = __ldg(columns + j);
            const auto a = static_cast<float>(__ldg(pixels + max(x.x, 0) * channels));
            const auto b = static_cast<float>(__ldg(pixels + max(x.y, 0) * channels));
            return make_float2(x.x < 0 ? 0.0F : a, x.y < 0 ? 0.0F : b);
        },
        [&](int j, float2 value) { points[line.plan.place(j)] = value; });
    forward_lines(points, line.plan, line.roots, line.root_step);
    // Spectrum of the real line from the spectrum of its halves: X[k] = (S − i·w·D)/2, X[half − k] = conj(S +
    // i·w·D)/2 with S, D = Z[k] ± conj Z[half − k], w = exp(−2πik/width).
    const RowAndFrequency own;
    if (first + static_cast<int>(own.row) >= in.count)
        return;
    const float2* const z = shared_lines + own.row * static_cast<unsigned>(line.plan.room());
    float2* const to = spectra.data + channel * spectra.plane() + first + own.row;
    const auto pitch = static_cast<std::size_t>(spectra.pitch);
    in_groups(
        own.k, static_cast<int>(blockDim.x), half / 2 + 1,
        [&](int k) {
            return MirrorPair{z[__ldg(line.places + k)], z[__ldg(line.places + (k ? half - k : 0))],
                              __ldg(line.roots + k)};
        },
        [&](int k, const MirrorPair& pair) {
            const float2 other = conjugate(pair.b);
            const float2 sum = pair.a + other;
            const float2 turn = pair.root * (pair.a - other);
            to[k * pitch] = make_float2(0.5F * (sum.x + turn.y), 0.5F * (sum.y - turn.x));
            to[(half - k) * pitch] = make_float2(0.5F * (sum.x - turn.y), -0.5F * (sum.y + turn.x));
        });
}

enum class After : bool { nothing, product_and_back };

template <After Then> __global__ void __launch_bounds__(kMaxThreads)
    columns_kernel(const __grid_constant__ LineTables line, const __grid_constant__ Columns columns,
                   const __grid_constant__ Factors factors, const __grid_constant__ Spectra spectra) {
    if (skipped(line.guard))
        return;
    const int n = line.plan.n;
    const int plane = static_cast<int>(blockIdx.x) % spectra.planes;
    const int wanted = static_cast<int>(blockIdx.x) / spectra.planes * static_cast<int>(blockDim.y) +
                       static_cast<int>(threadIdx.y);
    const int column = min(wanted, spectra.columns() - 1);
    float2* const samples = spectra.data + plane * spectra.plane() +
                            static_cast<std::size_t>(column) * static_cast<std::size_t>(spectra.pitch);
    float2* const points = own_line(line.plan);
    along(
        n,
        [&](int p) {
            const int row = __ldg(columns.place + p);
            return row < 0 ? make_float2(0, 0) : samples[row];
        },
        [&](int p, float2 value) { points[line.plan.place(p)] = value; });
    forward_lines(points, line.plan, line.roots, line.root_step);
    if constexpr (Then == After::nothing) {
        if (wanted == column)
            for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x))
                samples[i] = points[line.plan.place(i)];
    } else {
        const auto multiply = [&](auto factor) {
            along(n, factor, [&](int i, float2 by) {
                float2& point = points[line.plan.place(i)];
                point = exchanged(point * by);
            });
        };
        if (factors.samples) {
            const std::size_t at = (static_cast<std::size_t>(factors.planes > 1 ? plane : 0) *
                                        static_cast<std::size_t>(spectra.columns()) +
                                    static_cast<std::size_t>(column)) *
                                   static_cast<std::size_t>(n);
            multiply([&](int i) { return __ldg(factors.samples + at + i); });
        } else {
            const float across = __ldg(factors.across + column);
            multiply([&](int i) { return make_float2(across * __ldg(factors.down + i), 0); });
        }
        backward_lines(points, line.plan, line.roots, line.root_step);
        if (wanted == column)
            for (int i = static_cast<int>(threadIdx.x); i < columns.results;
                 i += static_cast<int>(blockDim.x))
                samples[i] = exchanged(points[line.plan.place(columns.first + i)]);
    }
}

template <class T> inline constexpr auto kMost = static_cast<float>(std::numeric_limits<T>::max());

template <class T> __device__ T rounded(float value) {
    if constexpr (std::is_same_v<T, float>)
        return value;
    else
        return static_cast<T>(fminf(fmaxf(rintf(value), 0.0F), kMost<T>)); // NaN: 0
}

template <class T> __global__ void __launch_bounds__(kMaxThreads)
    restore_kernel(const __grid_constant__ LineTables line, const __grid_constant__ RowsOut out,
                   const __grid_constant__ Spectra spectra, View<T, Space::device> image) {
    if (skipped(line.guard))
        return;
    const int half = line.plan.n;
    const int channels = spectra.planes;
    const int channel = static_cast<int>(blockIdx.x) % channels;
    const int first = static_cast<int>(blockIdx.x) / channels * static_cast<int>(blockDim.y);
    // Inverse of the last step of rows_kernel, times 2: Z[k] = S + G, Z[half − k] = conj(S − G) with S, D =
    // X[k] ± conj X[half − k], G = i·conj(w)·D.
    const RowAndFrequency own;
    const int row = min(first + static_cast<int>(own.row), out.height - 1);
    const float2* const from = spectra.data + channel * spectra.plane() + row;
    const auto pitch = static_cast<std::size_t>(spectra.pitch);
    float2* const z = shared_lines + own.row * static_cast<unsigned>(line.plan.room());
    in_groups(
        own.k, static_cast<int>(blockDim.x), half / 2 + 1,
        [&](int k) {
            return MirrorPair{__ldg(from + k * pitch), __ldg(from + (half - k) * pitch),
                              __ldg(line.roots + k)};
        },
        [&](int k, const MirrorPair& pair) {
            const float2 other = conjugate(pair.b);
            const float2 sum = pair.a + other;
            const float2 turn = conjugate(pair.root) * (pair.a - other);
            z[__ldg(line.places + k)] = exchanged(make_float2(sum.x - turn.y, sum.y + turn.x));
            if (k > 0 && 2 * k != half)
                z[__ldg(line.places + half - k)] = exchanged(make_float2(sum.x + turn.y, turn.x - sum.y));
        });
    backward_lines(own_line(line.plan), line.plan, line.roots, line.root_step);
    const int y = first + static_cast<int>(threadIdx.y);
    if (y >= out.height)
        return;
    T* const to = row_of(image, out.row + y) + out.column * channels + channel;
    const float2* const points = own_line(line.plan);
    const int begin = out.first / 2;
    const int end = (out.first + out.width + 1) / 2;
    const float down = out.divisor_x ? __ldg(out.divisor_y + out.row + y) : 0;
    along(
        end - begin, [&](int j) { return exchanged(points[line.plan.place(begin + j)]); },
        [&](int j, float2 pair) {
            const int x = 2 * (begin + j) - out.first;
            if (out.divisor_x) {
                const float* const across = out.divisor_x + out.column;
                pair.x /= __ldg(across + max(x, 0)) * down;
                pair.y /= __ldg(across + min(x + 1, out.width - 1)) * down;
            }
            if (x >= 0)
                to[x * channels] = rounded<T>(pair.x);
            if (x + 1 < out.width)
                to[(x + 1) * channels] = rounded<T>(pair.y);
        });
}

struct Launch {
    dim3 blocks, threads;
    std::size_t bytes = 0;
};

/// Block size preferences of a kernel.
struct Wish {
    int most = 1;       ///< maximum lines per block, a power of two
    int points = 0;     ///< lines are added until a block has this many points
    bool alone = false; ///< prefers `most` lines to a second block on the same multiprocessor
};

/// Lines and threads per block: a pass in one or two steps, and two blocks per multiprocessor if they fit, so
/// that one computes while the other waits for memory.
Launch launch_for(const LineRoom& room, const LinePlan& plan, int lines, int planes, const Wish& wish) {
    const std::size_t line = static_cast<std::size_t>(plan.room()) * sizeof(float2);
    const std::size_t both = room.of_multiprocessor / 2 - 1024; // reserved by every block
    int together = 1;
    while (together < wish.most && together < lines && together * plan.n < wish.points &&
           2 * static_cast<std::size_t>(together) * line <= (wish.alone ? room.of_block : both))
        together *= 2;
    const bool one = static_cast<std::size_t>(together) * line > both;
    int butterflies = 1;
    for (int p = 0; p < plan.passes; ++p)
        butterflies = std::max(butterflies, plan.pass[p].butterflies);
    const int available = (one ? kMaxThreads : kMaxThreads / 2) / together;
    const int goes = (butterflies + available - 1) / available;
    int lanes = (butterflies + goes - 1) / goes;
    lanes = std::min((lanes + 31) / 32 * 32, available);
    Launch launch;
    launch.threads = dim3(static_cast<unsigned>(lanes), static_cast<unsigned>(together));
    launch.blocks = dim3(static_cast<unsigned>((lines + together - 1) / together * planes));
    launch.bytes = static_cast<std::size_t>(together) * line;
    return launch;
}

/// More than 48 KiB must be requested, once per kernel and device.
template <class Kernel> void allow(Kernel* kernel, int bytes) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
          "cudaFuncSetAttribute");
}

/// Four rows fill the 32 bytes of a memory transaction; an H200 takes 0.047 ms for the rows of 3840×2160, and
/// 0.057 with two (November 2026).
constexpr Wish kRows{4, std::numeric_limits<int>::max(), true};
/// Short columns are combined to fill a block.
constexpr Wish kColumns{8, 2048, false};

} // namespace

LineRoom prepare_lines() {
    int device = 0;
    int of_block = 0;
    int of_multiprocessor = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&of_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          "cudaDeviceGetAttribute");
    check(cudaDeviceGetAttribute(&of_multiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device),
          "cudaDeviceGetAttribute");
    for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f32})
        dispatch(type, [&](auto zero) {
            using T = decltype(zero);
            allow(rows_kernel<T>, of_block);
            allow(restore_kernel<T>, of_block);
        });
    allow(columns_kernel<After::nothing>, of_block);
    allow(columns_kernel<After::product_and_back>, of_block);
    return {static_cast<std::size_t>(of_block), static_cast<std::size_t>(of_multiprocessor)};
}

void transform_rows(const LineRoom& room, const LineTables& line, const RowsIn& in, ConstDeviceView image,
                    const Spectra& spectra, cudaStream_t stream) {
    const Launch launch = launch_for(room, line.plan, in.count, spectra.planes, kRows);
    dispatch(image.shape.type, [&](auto zero) {
        using T = decltype(zero);
        rows_kernel<T>
            <<<launch.blocks, launch.threads, launch.bytes, stream>>>(line, in, image.as<T>(), spectra);
    });
    check_launch("the kernel that transforms rows");
}

void convolve_columns(const LineRoom& room, const LineTables& line, const Columns& columns,
                      const Factors& factors, const Spectra& spectra, cudaStream_t stream) {
    const Launch launch = launch_for(room, line.plan, spectra.columns(), spectra.planes, kColumns);
    columns_kernel<After::product_and_back>
        <<<launch.blocks, launch.threads, launch.bytes, stream>>>(line, columns, factors, spectra);
    check_launch("the kernel that multiplies spectra");
}

void transform_columns(const LineRoom& room, const LineTables& line, const int* place, const Spectra& spectra,
                       cudaStream_t stream) {
    const Launch launch = launch_for(room, line.plan, spectra.columns(), spectra.planes, kColumns);
    columns_kernel<After::nothing><<<launch.blocks, launch.threads, launch.bytes, stream>>>(
        line, Columns{place, 0, 0}, Factors{}, spectra);
    check_launch("the kernel that transforms columns");
}

void restore_rows(const LineRoom& room, const LineTables& line, const RowsOut& out, const Spectra& spectra,
                  DeviceView image, cudaStream_t stream) {
    const Launch launch = launch_for(room, line.plan, out.height, spectra.planes, kRows);
    dispatch(image.shape.type, [&](auto zero) {
        using T = decltype(zero);
        restore_kernel<T>
            <<<launch.blocks, launch.threads, launch.bytes, stream>>>(line, out, spectra, image.as<T>());
    });
    check_launch("the kernel that transforms rows back");
}

} // namespace specklescope::cuda
