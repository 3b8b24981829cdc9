// Motion between frames on the device: one block per line. The peak returns to the host, which decides on the
// shift (MotionTracker): a frame that is left out must be known before later stages are started.
#include "cuda/device.hpp"
#include "stages/register/register.hpp"

namespace specklescope {

namespace cuda {
namespace {

constexpr int kMostThreads = RegisterParams::kMaxSize / 2;

struct RegisterArgs {
    int nx, ny;
    const float *window_x, *window_y, *pass_x, *pass_y;
    const Complex *roots_x, *roots_y;
    Complex *frame, *product, *reference, *filter; ///< column by column
    float* correlation;                            ///< row by row
    float* squares;                                ///< of each pair of rows
    Highest* highest;
    CorrelationPeak* peak;
};

/// Transforms n samples in shared memory with n/2 threads; returns `a` or `b`.
template <bool kBackward>
__device__ Complex* transform_line(Complex* a, Complex* b, int n, const Complex* roots) {
    const int i = static_cast<int>(threadIdx.x);
    for (int s = 1; s < n; s *= 2) {
        __syncthreads();
        const Butterfly wing = butterfly(i, s);
        const Complex factor = kBackward ? conjugate(roots[wing.root]) : roots[wing.root];
        const Complex p = a[i];
        const Complex q = a[i + n / 2];
        b[wing.to] = p + q;
        b[wing.to + s] = factor * (p - q);
        Complex* const done = b;
        b = a;
        a = done;
    }
    __syncthreads();
    return a;
}

struct Part {
    const std::byte* image;
    std::size_t pitch;
    int x, y;             ///< corner
    int level_x, level_y; ///< middle pixel
};

template <class T, int kChannels> __device__ float grey_at(const Part& part, int x, int y) {
    return grey_sum(reinterpret_cast<const T*>(part.image + static_cast<std::size_t>(y) * part.pitch) +
                        x * kChannels,
                    kChannels);
}

template <class T, int kChannels> __global__ void __launch_bounds__(kMostThreads)
    rows_kernel(const __grid_constant__ RegisterArgs args, const __grid_constant__ Part part) {
    extern __shared__ Complex lines[];
    const int nx = args.nx;
    const int half = args.ny / 2;
    const int y = static_cast<int>(blockIdx.x);
    const float level = level_of(grey_at<T, kChannels>(part, part.level_x, part.level_y));
    const auto load = [&](int row, int column) {
        const float window = product(args.window_x[column], args.window_y[row]);
        return window == 0
                   ? 0.0F
                   : windowed(grey_at<T, kChannels>(part, part.x + column, part.y + row), level, window);
    };
    for (int x = static_cast<int>(threadIdx.x); x < nx; x += nx / 2)
        lines[x] = {load(y, x), load(y + half, x)};
    const Complex* const done = transform_line<false>(lines, lines + nx, nx, args.roots_x);
    for (int x = static_cast<int>(threadIdx.x); x <= nx / 2; x += nx / 2) {
        const Complex mirrored = done[(nx - x) & (nx - 1)];
        Complex* const column = args.frame + static_cast<std::size_t>(x) * static_cast<std::size_t>(args.ny);
        column[y] = first_row(done[x], mirrored);
        column[y + half] = second_row(done[x], mirrored);
    }
}

__global__ void __launch_bounds__(kMostThreads) columns_kernel(const __grid_constant__ RegisterArgs args) {
    extern __shared__ Complex lines[];
    Complex* const column =
        args.frame + static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(args.ny);
    for (int y = static_cast<int>(threadIdx.x); y < args.ny; y += args.ny / 2)
        lines[y] = column[y];
    const Complex* const done = transform_line<false>(lines, lines + args.ny, args.ny, args.roots_y);
    for (int y = static_cast<int>(threadIdx.x); y < args.ny; y += args.ny / 2)
        column[y] = done[y];
}

__global__ void __launch_bounds__(kMostThreads)
    reference_kernel(const __grid_constant__ RegisterArgs args, const __grid_constant__ ReferenceStep step) {
    const int x = static_cast<int>(blockIdx.x);
    const std::size_t first = static_cast<std::size_t>(x) * static_cast<std::size_t>(args.ny);
    const Complex phase_x = phase(args.roots_x, x * step.x, args.nx);
    for (int y = static_cast<int>(threadIdx.x); y < args.ny; y += args.ny / 2) {
        const std::size_t i = first + static_cast<std::size_t>(y);
        const Complex now = in_reference(args.reference[i], args.frame[i], step, phase_x,
                                         phase(args.roots_y, y * step.y, args.ny));
        args.reference[i] = now;
        args.filter[i] = pass_of(args.pass_x, args.pass_y, x, y, args.ny) * conjugate(half_whitened(now));
    }
}

__global__ void __launch_bounds__(kMostThreads) product_kernel(const __grid_constant__ RegisterArgs args) {
    extern __shared__ Complex lines[];
    const std::size_t first = static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(args.ny);
    for (int y = static_cast<int>(threadIdx.x); y < args.ny; y += args.ny / 2) {
        const std::size_t i = first + static_cast<std::size_t>(y);
        lines[y] = half_whitened(args.frame[i]) * args.filter[i];
    }
    const Complex* const done = transform_line<true>(lines, lines + args.ny, args.ny, args.roots_y);
    for (int y = static_cast<int>(threadIdx.x); y < args.ny; y += args.ny / 2)
        args.product[first + static_cast<std::size_t>(y)] = done[y];
}

/// Sum of squares and highest value of a block, valid in its first thread.
struct BlockStatistics {
    float squares;
    Highest highest;
};
__device__ BlockStatistics block_statistics(float squares, Highest highest, int threads) {
    __shared__ float sums[kMostThreads];
    __shared__ Highest highs[kMostThreads];
    const int i = static_cast<int>(threadIdx.x);
    sums[i] = squares;
    highs[i] = highest;
    for (int step = threads / 2; step > 0; step /= 2) {
        __syncthreads();
        if (i < step) {
            sums[i] = sum(sums[i], sums[i + step]);
            highs[i] = higher(highs[i], highs[i + step]);
        }
    }
    return {sums[i], highs[i]};
}

__global__ void __launch_bounds__(kMostThreads)
    correlation_kernel(const __grid_constant__ RegisterArgs args) {
    extern __shared__ Complex lines[];
    const int nx = args.nx;
    const int half = args.ny / 2;
    const int y = static_cast<int>(blockIdx.x);
    for (int x = static_cast<int>(threadIdx.x); x <= nx / 2; x += nx / 2) {
        const Complex* const column =
            args.product + static_cast<std::size_t>(x) * static_cast<std::size_t>(args.ny);
        const Complex a = column[y];
        const Complex b = column[y + half];
        if (x > 0 && x < nx / 2)
            lines[nx - x] = conjugate(a) + turned(conjugate(b));
        lines[x] = a + turned(b);
    }
    const Complex* const done = transform_line<true>(lines, lines + nx, nx, args.roots_x);
    Highest highest;
    for (int x = static_cast<int>(threadIdx.x); x < nx; x += nx / 2) {
        const int first = y * nx + x;
        const int second = first + half * nx;
        args.correlation[first] = done[x].re;
        args.correlation[second] = done[x].im;
        highest = higher(highest, higher({done[x].re, first}, {done[x].im, second}));
    }
    const int x = static_cast<int>(threadIdx.x);
    const BlockStatistics all = block_statistics(square_sum(done[x], done[x + nx / 2]), highest, nx / 2);
    if (x == 0) {
        args.squares[y] = all.squares;
        args.highest[y] = all.highest;
    }
}

__global__ void __launch_bounds__(kMostThreads) peak_kernel(const __grid_constant__ RegisterArgs args) {
    const int i = static_cast<int>(threadIdx.x);
    const BlockStatistics all = block_statistics(args.squares[i], args.highest[i], args.ny / 2);
    if (i != 0)
        return;
    args.peak->at = all.highest.at;
    for (int k = 0; k < 9; ++k)
        args.peak->around[k] = args.correlation[neighbour(all.highest.at, k, args.nx, args.ny)];
    args.peak->squares = all.squares;
}

struct MoveArgs {
    const std::byte* input;
    std::byte* output;
    std::size_t input_pitch, output_pitch;
    int width, height;
    PixelShift by;
    Border border;
};

template <class T, int kChannels> __global__ void move_kernel(const __grid_constant__ MoveArgs args) {
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= args.width || y >= args.height)
        return;
    T* const to =
        reinterpret_cast<T*>(args.output + static_cast<std::size_t>(y) * args.output_pitch) + x * kChannels;
#pragma unroll
    for (int c = 0; c < kChannels; ++c)
        to[c] = moved_sample<T>(x, y, args.width, args.height, args.by, args.border, [&](int i, int j) {
            return reinterpret_cast<const T*>(args.input + static_cast<std::size_t>(j) *
                                                               args.input_pitch)[i * kChannels + c];
        });
}

template <class F> void by_kind(const Shape& shape, F&& f) {
    dispatch(shape.type, [&](auto zero) {
        if (shape.channels == 1)
            f(zero, std::integral_constant<int, 1>());
        else
            f(zero, std::integral_constant<int, 3>());
    });
}

class DeviceCorrelation {
public:
    using Context = RunContext<Space::device>;

    void prepare(const CorrelationPart& part, const Shape&) {
        part_ = &part;
        window_x_ = uploaded(part.window_x);
        window_y_ = uploaded(part.window_y);
        pass_x_ = uploaded(part.pass_x);
        pass_y_ = uploaded(part.pass_y);
        roots_x_ = uploaded(part.roots_x);
        roots_y_ = uploaded(part.roots_y);
        const std::size_t rows = static_cast<std::size_t>(part.ny);
        const std::size_t spectrum = static_cast<std::size_t>(part.columns()) * rows * sizeof(Complex);
        for (Buffer* buffer : {&frame_, &product_, &reference_, &filter_})
            *buffer = Buffer(spectrum, device_memory());
        correlation_ = Buffer(static_cast<std::size_t>(part.nx) * rows * sizeof(float), device_memory());
        squares_ = Buffer(rows / 2 * sizeof(float), device_memory());
        highest_ = Buffer(rows / 2 * sizeof(Highest), device_memory());
        peak_ = Buffer(sizeof(CorrelationPeak), device_memory());
        on_host_ = Buffer(sizeof(CorrelationPeak), page_locked_memory());
    }

    void transform(ConstDeviceView image, int x, int y, const Context& context) const {
        const Part part{image.data,
                        image.pitch,
                        x,
                        y,
                        x + (part_->has_x ? part_->nx / 2 : 0),
                        y + (part_->has_y ? part_->ny / 2 : 0)};
        by_kind(image.shape, [&](auto zero, auto channels) {
            rows_kernel<decltype(zero), decltype(channels)::value>
                <<<part_->ny / 2, part_->nx / 2, line_bytes(part_->nx), stream(context)>>>(args(), part);
        });
        columns_kernel<<<part_->columns(), part_->ny / 2, line_bytes(part_->ny), stream(context)>>>(args());
        check_launch("the kernels of stage register");
    }

    void add(const ReferenceStep& step, const Context& context) const {
        reference_kernel<<<part_->columns(), part_->ny / 2, 0, stream(context)>>>(args(), step);
        check_launch("the reference of stage register");
    }

    CorrelationPeak correlate(const Context& context) const {
        product_kernel<<<part_->columns(), part_->ny / 2, line_bytes(part_->ny), stream(context)>>>(args());
        correlation_kernel<<<part_->ny / 2, part_->nx / 2, line_bytes(part_->nx), stream(context)>>>(args());
        peak_kernel<<<1, part_->ny / 2, 0, stream(context)>>>(args());
        check_launch("the correlation of stage register");
        check(cudaMemcpyAsync(on_host_.as<void>(), peak_.as<void>(), sizeof(CorrelationPeak),
                              cudaMemcpyDeviceToHost, stream(context)),
              "cudaMemcpyAsync");
        check(cudaStreamSynchronize(stream(context)), "cudaStreamSynchronize");
        return *on_host_.as<CorrelationPeak>();
    }

    void move(ConstDeviceView input, DeviceView output, const PixelShift& by, Border border,
              const Context& context) const {
        const MoveArgs args{input.data,        output.data,        input.pitch, output.pitch,
                            input.shape.width, input.shape.height, by,          border};
        const dim3 threads(32, 8);
        const dim3 blocks((static_cast<unsigned>(args.width) + threads.x - 1) / threads.x,
                          (static_cast<unsigned>(args.height) + threads.y - 1) / threads.y);
        by_kind(input.shape, [&](auto zero, auto channels) {
            move_kernel<decltype(zero), decltype(channels)::value>
                <<<blocks, threads, 0, stream(context)>>>(args);
        });
        check_launch("the shift of stage register");
    }

private:
    static cudaStream_t stream(const Context& context) { return static_cast<cudaStream_t>(context.stream); }
    static std::size_t line_bytes(int n) { return 2 * static_cast<std::size_t>(n) * sizeof(Complex); }

    RegisterArgs args() const {
        return {.nx = part_->nx,
                .ny = part_->ny,
                .window_x = window_x_.as<float>(),
                .window_y = window_y_.as<float>(),
                .pass_x = pass_x_.as<float>(),
                .pass_y = pass_y_.as<float>(),
                .roots_x = roots_x_.as<Complex>(),
                .roots_y = roots_y_.as<Complex>(),
                .frame = frame_.as<Complex>(),
                .product = product_.as<Complex>(),
                .reference = reference_.as<Complex>(),
                .filter = filter_.as<Complex>(),
                .correlation = correlation_.as<float>(),
                .squares = squares_.as<float>(),
                .highest = highest_.as<Highest>(),
                .peak = peak_.as<CorrelationPeak>()};
    }

    const CorrelationPart* part_ = nullptr;
    Buffer window_x_, window_y_, pass_x_, pass_y_, roots_x_, roots_y_;
    Buffer frame_, product_, reference_, filter_, correlation_, squares_, highest_, peak_, on_host_;
};

} // namespace
} // namespace cuda

std::unique_ptr<DeviceStage> make_register_device(const Params& params) {
    return std::make_unique<RegisterStage<Space::device, cuda::DeviceCorrelation>>(params);
}

} // namespace specklescope
