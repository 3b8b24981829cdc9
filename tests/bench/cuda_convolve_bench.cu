// The device convolution beside the bare transforms of the same padded size, its own parts, and the method
// of its seed; then other ways to put cuFFT's plans together.
//   cuda_convolve_bench
#include "cuda/convolution.hpp"
#include "cuda/convolve_kernel.hpp"
#include "cuda/devices.hpp"
#include "cuda/fft_tune.hpp"
#include "seeds/fft_c2c.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <random>
#include <vector>

using namespace specklescope;
using namespace specklescope::cuda;

namespace {

constexpr int kRounds = 15;

/// Median over rounds, ms.
template <class F> double median_ms(const Stream& stream, F&& call) {
    const Event begin;
    const Event end;
    std::vector<double> times;
    for (int round = -3; round < kRounds; ++round) {
        begin.record(stream);
        call();
        end.record(stream);
        end.synchronize();
        if (round >= 0)
            times.push_back(end.ms_since(begin));
    }
    std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
    return times[kRounds / 2];
}

void fill(DeviceView view) {
    std::vector<std::byte> bytes(view.pitch * static_cast<std::size_t>(view.shape.height));
    std::mt19937 random(1);
    dispatch(view.shape.type, [&](auto zero) {
        using T = decltype(zero);
        auto* const pixels = reinterpret_cast<T*>(bytes.data());
        for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i)
            pixels[i] = static_cast<T>(random() % 251);
    });
    check(cudaMemcpy(view.data, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
}

/// cuFFT's two transforms and what they work in.
struct Bare {
    explicit Bare(const FftShape& transform)
        : data(transform.bytes(), device_memory()), forward(transform, CUFFT_R2C),
          backward(transform, CUFFT_C2R),
          work(std::max<std::size_t>(1, std::max(forward.work_bytes(), backward.work_bytes())),
               device_memory()) {
        forward.set_work_area(work.as<void>());
        backward.set_work_area(work.as<void>());
    }
    Buffer data;
    FftPlan forward, backward;
    Buffer work;
};

double bare_ms(const FftShape& transform, const Stream& stream) {
    const Bare bare(transform);
    return median_ms(stream, [&] {
        bare.forward.forward(bare.data.as<void>(), stream.get());
        bare.backward.backward(bare.data.as<void>(), stream.get());
    });
}

void bench_parts(const Convolution& convolution, DeviceView input, DeviceView output, const Stream& stream) {
    const FftShape& transform = convolution.transform();
    const Bare bare(transform);
    const FftPlan& forward = bare.forward;
    const FftPlan& backward = bare.backward;
    const Buffer& data = bare.data;
    Buffer copied(transform.bytes(), device_memory());
    ConvolutionTile tile;
    tile.geometry = convolution.geometry();
    tile.transform = transform;
    tile.rows = data.as<float>();
    tile.filled_rows = transform.height;
    const double load = median_ms(stream, [&] { load_tile(tile, input, stream.get()); });
    const double to = median_ms(stream, [&] { forward.forward(data.as<void>(), stream.get()); });
    const double product = median_ms(
        stream, [&] { multiply(transform, data.as<float2>(), convolution.spectra(), 1, stream.get()); });
    const double back = median_ms(stream, [&] { backward.backward(data.as<void>(), stream.get()); });
    const double store = median_ms(stream, [&] { store_tile(tile, output, stream.get()); });
    const double copy = median_ms(stream, [&] {
        check(cudaMemcpyAsync(copied.as<void>(), data.as<void>(), transform.bytes(), cudaMemcpyDeviceToDevice,
                              stream.get()),
              "cudaMemcpyAsync");
    });
    std::printf("    load %.3f  R2C %.3f  multiply %.3f  C2R %.3f  store %.3f  copy of the %.0f MB %.3f ms\n",
                load, to, product, back, store, static_cast<double>(transform.bytes()) * 1e-6, copy);
}

/// cuFFT's plans for one step, on memory of their own.
class Step {
public:
    Step(int length, int in_stride, int in_distance, int out_stride, int out_distance, cufftType type,
         int batch)
        : type_(type) {
        int n[1] = {length};
        check(cufft().create(&plan_), "cufftCreate");
        check(cufft().make_plan_many(plan_, 1, n, n, in_stride, in_distance, n, out_stride, out_distance,
                                     type, batch, &work_bytes),
              "cufftMakePlanMany");
    }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    ~Step() { static_cast<void>(cufft().destroy(plan_)); }
    void run(void* from, void* to, int direction, cudaStream_t stream) const {
        check(cufft().set_stream(plan_, stream), "cufftSetStream");
        if (type_ == CUFFT_R2C)
            check(cufft().exec_r2c(plan_, static_cast<float*>(from), static_cast<float2*>(to)), "R2C");
        else if (type_ == CUFFT_C2R)
            check(cufft().exec_c2r(plan_, static_cast<float2*>(from), static_cast<float*>(to)), "C2R");
        else
            check(cufft().exec_c2c(plan_, static_cast<float2*>(from), static_cast<float2*>(to), direction),
                  "C2C");
    }
    std::size_t work_bytes = 0;

private:
    cufftType type_;
    cufftHandle plan_ = 0;
};

/// Rows of the image alone, columns of the whole: what is left out are rows that repeat or are not asked for.
void bench_split(const FftShape& transform, int rows, const Stream& stream) {
    const int columns = transform.columns();
    const int batch = transform.batch;
    Buffer a(transform.bytes(), device_memory());
    Buffer b(transform.bytes(), device_memory());
    check(cudaMemset(a.as<void>(), 0, transform.bytes()), "cudaMemset");
    const Step row_forward(transform.width, 1, 2 * columns, 1, columns, CUFFT_R2C, rows * batch);
    const Step row_backward(transform.width, 1, columns, 1, 2 * columns, CUFFT_C2R, rows * batch);
    const Step down(transform.height, columns, 1, columns, 1, CUFFT_C2C, columns);
    const double forward_in =
        median_ms(stream, [&] { row_forward.run(a.as<void>(), a.as<void>(), 0, stream.get()); });
    const double forward_out =
        median_ms(stream, [&] { row_forward.run(a.as<void>(), b.as<void>(), 0, stream.get()); });
    const auto all_planes = [&](void* to) {
        for (int p = 0; p < batch; ++p) {
            const std::size_t at = transform.plane() * sizeof(float2) * static_cast<std::size_t>(p);
            down.run(a.as<std::byte>() + at, static_cast<std::byte*>(to) + at, CUFFT_FORWARD, stream.get());
        }
    };
    const double down_in = median_ms(stream, [&] { all_planes(a.as<void>()); });
    const double down_out = median_ms(stream, [&] { all_planes(b.as<void>()); });
    const double backward_in =
        median_ms(stream, [&] { row_backward.run(a.as<void>(), a.as<void>(), 0, stream.get()); });
    const double backward_out =
        median_ms(stream, [&] { row_backward.run(a.as<void>(), b.as<void>(), 0, stream.get()); });
    std::printf(
        "    %d rows R2C %.3f (out of place %.3f)  columns C2C %.3f (%.3f)  rows C2R %.3f (%.3f) ms\n", rows,
        forward_in, forward_out, down_in, down_out, backward_in, backward_out);
}

void bench(const Shape& shape, int side, const Stream& stream) {
    ConvolutionTask task;
    task.image = shape;
    task.kernel_width = task.kernel_height = side | 1;
    task.bytes = std::size_t{16} << 30;
    KernelFormula formula;
    formula.width = formula.height = side | 1;
    formula.sigma = side / 8.0;
    FrameRing ring(shape, 2, device_memory());
    const Frame input = ring.try_acquire();
    const Frame output = ring.try_acquire();
    fill(input.device());
    std::printf("%s, kernel %d:\n", to_string(shape).c_str(), side | 1);
    for (const std::optional<bool> own_rows : {std::optional<bool>(), {false}, {true}}) {
        task.own_rows = own_rows;
        const Convolution convolution(task);
        make_formula_spectrum(formula, true, convolution, stream.get());
        const double whole =
            median_ms(stream, [&] { convolution.run(input.device(), output.device(), stream.get()); });
        const double bare = bare_ms(convolution.transform(), stream);
        std::printf("    %s (%s): %.3f ms, bare R2C + C2R %.3f ms: %.3f\n", convolution.note().c_str(),
                    own_rows ? "asked for" : "chosen", whole, bare,
                    whole / (bare * convolution.geometry().tiles()));
        if (own_rows)
            continue;
        bench_parts(convolution, input.device(), output.device(), stream);
        if (convolution.geometry().whole())
            bench_split(convolution.transform(), shape.height, stream);
        if (shape.channels == 3) {
            FftShape one = convolution.transform();
            one.batch = 1;
            std::printf("    plane by plane, transforms and product: 3 × %.3f ms\n", measured_ms(one));
        }
    }
}

void bench_seed(const Shape& shape, int side) {
    Shape result = shape;
    result.type = PixelType::f32;
    FrameRing inputs(shape, 1, device_memory());
    FrameRing outputs(result, 1, device_memory());
    const Frame input = inputs.try_acquire();
    const Frame output = outputs.try_acquire();
    fill(input.device());
    const std::vector<float> kernel(static_cast<std::size_t>(side) * static_cast<std::size_t>(side),
                                    1.0F / static_cast<float>(side * side));
    std::vector<double> times;
    for (int i = 0; i < 4; ++i) {
        const auto begin = SteadyClock::now();
        seeds::seed_convolve_c2c(input.device(), output.device(), kernel, side, side);
        times.push_back(std::chrono::duration<double, std::milli>(SteadyClock::now() - begin).count());
    }
    std::printf("    the seed's method, complex to complex, all made anew: %.3f ms\n",
                *std::min_element(times.begin(), times.end()));
}

} // namespace

int main() try {
    std::printf("%s, median of %d\n", use_device(0).name, kRounds);
    const Stream stream;
    for (const int side : {63, 255}) {
        for (const Shape& shape : {Shape{3840, 2160, 1, PixelType::u8}, Shape{3840, 2160, 3, PixelType::u8},
                                   Shape{3840, 2160, 3, PixelType::f32}}) {
            bench(shape, side, stream);
            bench_seed(shape, side | 1);
        }
    }
    for (const PixelType type : {PixelType::u8, PixelType::f32})
        bench({4750, 4750, 3, type}, 4750, stream);
    return 0;
} catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
