#include "stages/convolve/host_convolution.hpp"

#include "base/long_work.hpp"
#include "base/parallel.hpp"
#include "stages/convolve/fft_plans.hpp"

#include <fftw3.h>

#include <algorithm>
#include <cstring>

namespace specklescope {

namespace {

/// Columns processed together: one cache line of complex numbers.
constexpr int kStrip = 8;
/// Columns per call of FFTW: a strip has two such halves, stored one after the other. Measured: half the time
/// of eight interleaved columns.
constexpr int kHalf = 4;
constexpr std::size_t kComplex = 2; ///< floats

fftwf_complex* complex(float* data) { return reinterpret_cast<fftwf_complex*>(data); }

hwy::AlignedFreeUniquePtr<float[]> floats(std::size_t count) {
    auto memory = hwy::AllocateAligned<float>(count);
    if (!memory)
        throw RunError("There is not enough memory for " + std::to_string(count * sizeof(float) / 1'000'000) +
                       " MB of spectra; use a smaller memory or a smaller image.");
    constexpr std::size_t kStep = kFilledAtOnce / sizeof(float);
    for (std::size_t first = 0; first < count; first += kStep) {
        work_goes_on("making room for a convolution");
        std::fill_n(memory.get() + first, std::min(kStep, count - first), 0.0F);
    }
    return memory;
}

int strips_of(int fft_width) { return (fft_width / 2 + 1 + kStrip - 1) / kStrip; }

/// Floats in each part of a convolution.
struct Sizes {
    std::size_t row, rows, spectrum, slot;
    Sizes(int width, int height, int row_count, int kernel_channels)
        : row(static_cast<std::size_t>(strips_of(width)) * kStrip * kComplex),
          rows(row * static_cast<std::size_t>(row_count)),
          spectrum(row * static_cast<std::size_t>(height) * static_cast<std::size_t>(kernel_channels)),
          slot(static_cast<std::size_t>(height) * kStrip * kComplex + static_cast<std::size_t>(width)) {}
    std::size_t bytes(int slots) const {
        return (rows + spectrum + slot * static_cast<std::size_t>(slots)) * sizeof(float);
    }
};

int rows_held(const Shape& image, const ConvolveKernel& kernel, int fft_height) {
    return std::max(std::min(image.height, fft_height), kernel.height);
}

} // namespace

void HostConvolution::DestroyPlan::operator()(fftwf_plan_s* plan) const noexcept {
    const std::scoped_lock lock(fft_planner());
    fftwf_destroy_plan(plan);
}

HostConvolution::HostConvolution(const Shape& image, const ConvolveKernel& kernel, Border border,
                                 const ConvolutionBudget& budget)
    : image_(image), kernel_channels_(kernel.channels) {
    const int slots = parallel_threads();
    const auto memory = [&](int width, int height) {
        return Sizes(width, height, rows_held(image, kernel, height), kernel.channels).bytes(slots);
    };
    geometry_ =
        plan_convolution(image, kernel.width, kernel.height, border, {.bytes = budget, .memory = memory});
    memory_ = memory(geometry_.x.fft, geometry_.y.fft);
    row_count_ = rows_held(image, kernel, geometry_.y.fft);
    slots_.resize(static_cast<std::size_t>(slots));
    allocate();
    make_plans();
    make_tables();
    transform_kernel(kernel);
}

Shape HostConvolution::output() const {
    return {geometry_.x.results, geometry_.y.results, image_.channels, image_.type};
}

void HostConvolution::set_gains(std::vector<float> across, std::vector<float> down) {
    gain_across_ = std::move(across);
    gain_down_ = std::move(down);
}

void HostConvolution::allocate() {
    const Sizes sizes(geometry_.x.fft, geometry_.y.fft, row_count_, kernel_channels_);
    strips_ = strips_of(geometry_.x.fft);
    stride_ = sizes.row;
    rows_ = floats(sizes.rows);
    spectrum_ = floats(sizes.spectrum);
    for (Slot& slot : slots_) {
        slot.line = floats(static_cast<std::size_t>(geometry_.x.fft));
        slot.strip = floats(strip_floats());
    }
}

std::size_t HostConvolution::kernel_floats() const {
    return strip_floats() * static_cast<std::size_t>(strips_);
}

std::size_t HostConvolution::strip_floats() const {
    return static_cast<std::size_t>(geometry_.y.fft) * kStrip * kComplex;
}

void HostConvolution::make_plans() {
    const int width = geometry_.x.fft;
    const int height = geometry_.y.fft;
    float* line = slots_[0].line.get();
    fftwf_complex* strip = complex(slots_[0].strip.get());
    FftPlanner planner;
    const auto columns = [&](int sign) {
        return planner.plan([&, sign](unsigned flags) {
            return fftwf_plan_many_dft(1, &height, kHalf, strip, nullptr, kHalf, 1, strip, nullptr, kHalf, 1,
                                       sign, flags);
        });
    };
    const auto forward = [&](unsigned flags) {
        return fftwf_plan_dft_r2c_1d(width, line, complex(rows_.get()), flags);
    };
    const auto backward = [&](unsigned flags) {
        return fftwf_plan_dft_c2r_1d(width, complex(rows_.get()), line, flags | FFTW_DESTROY_INPUT);
    };
    row_forward_.reset(planner.plan(forward)); // members: destroying a plan needs the planner's lock
    row_backward_.reset(planner.plan(backward));
    column_forward_.reset(columns(FFTW_FORWARD));
    column_backward_.reset(columns(FFTW_BACKWARD));
    planning_ = planner.remember();
    if (!row_forward_ || !row_backward_ || !column_forward_ || !column_backward_)
        throw RunError("FFTW makes no plan for " + std::to_string(width) + "×" + std::to_string(height) +
                       "; use a smaller image.");
}

void HostConvolution::make_tables() {
    const ConvolutionAxis& x = geometry_.x;
    const ConvolutionAxis& y = geometry_.y;
    for (int t = 0; t < x.tiles; ++t)
        tile_columns_.push_back(tile_columns(x, t, geometry_.border));
    for (int t = 0; t < y.tiles; ++t)
        tile_rows_.push_back(tile_rows(y, t, geometry_.border));
}

void HostConvolution::transform_kernel(const ConvolveKernel& kernel) {
    static constexpr const char* kTransforming = "transforming the kernel of a convolution";
    const int slots = static_cast<int>(slots_.size());
    const ConvolutionAxis& x = geometry_.x;
    const ConvolutionAxis& y = geometry_.y;
    std::vector<int> place(static_cast<std::size_t>(y.fft));
    for (int p = 0; p < y.fft; ++p)
        place[static_cast<std::size_t>(p)] = y.kernel_pixel(p);
    const float scale = 1 / (static_cast<float>(x.fft) * static_cast<float>(y.fft));
    for (int channel = 0; channel < kernel.channels; ++channel) {
        run_bands(kernel.height, slots, [&](int k, int slot) {
            work_goes_on(kTransforming);
            float* line = slots_[static_cast<std::size_t>(slot)].line.get();
            std::fill_n(line, x.fft, 0.0F);
            for (int i = 0; i < x.kernel; ++i)
                line[x.kernel_position(i)] = kernel.row(channel, k)[i] * scale;
            fftwf_execute_dft_r2c(row_forward_.get(), line, complex(row(k)));
        });
        float* to = spectrum_.get() + static_cast<std::size_t>(channel) * kernel_floats();
        run_bands(strips_, slots, [&](int strip, int slot) {
            work_goes_on(kTransforming);
            float* scratch = slots_[static_cast<std::size_t>(slot)].strip.get();
            gather(place.data(), strip, scratch);
            forward(scratch);
            std::copy_n(scratch, strip_floats(), to + static_cast<std::size_t>(strip) * strip_floats());
        });
    }
}

void HostConvolution::run(ConstHostView input, HostView output) {
    for (int tile_y = 0; tile_y < geometry_.y.tiles; ++tile_y)
        for (int tile_x = 0; tile_x < geometry_.x.tiles; ++tile_x)
            for (int channel = 0; channel < image_.channels; ++channel) {
                transform_rows(input, tile_x, tile_y, channel);
                transform_columns(tile_y, kernel_channels_ == 3 ? channel : 0);
                restore_rows(output, tile_x, tile_y, channel);
            }
}

void HostConvolution::transform_rows(ConstHostView input, int tile_x, int tile_y, int channel) {
    const ConvolutionAxis& x = geometry_.x;
    const std::vector<int>& columns = tile_columns_[static_cast<std::size_t>(tile_x)];
    const std::vector<int>& sources = tile_rows_[static_cast<std::size_t>(tile_y)].rows;
    // Positions of contiguous image pixels.
    const int first = x.shift + x.first_result(tile_x) - x.origin;
    const Band inside{std::clamp(-first, 0, x.filled), std::clamp(x.size - first, 0, x.filled)};
    const int count = static_cast<int>(sources.size());
    const int slots = static_cast<int>(slots_.size());
    const int bands = band_count(count, slots, 16);
    for_bands(count, bands, slots, [&](Band rows, int slot) {
        float* line = slots_[static_cast<std::size_t>(slot)].line.get();
        for (int i = rows.begin; i < rows.end; ++i) {
            const int y = sources[static_cast<std::size_t>(i)];
            load_samples(input, y, channel, {first + inside.begin, first + inside.end}, line + inside.begin);
            pick_samples(input, y, channel, {0, inside.begin}, columns.data(), line);
            pick_samples(input, y, channel, {inside.end, x.fft}, columns.data(), line);
            fftwf_execute_dft_r2c(row_forward_.get(), line, complex(row(i)));
        }
    });
}

void HostConvolution::transform_columns(int tile_y, int kernel_channel) {
    const std::vector<int>& place = tile_rows_[static_cast<std::size_t>(tile_y)].place;
    const float* kernel = spectrum_.get() + static_cast<std::size_t>(kernel_channel) * kernel_floats();
    run_bands(strips_, static_cast<int>(slots_.size()), [&](int strip, int slot) {
        float* scratch = slots_[static_cast<std::size_t>(slot)].strip.get();
        gather(place.data(), strip, scratch);
        forward(scratch);
        multiply_complex(scratch, kernel + static_cast<std::size_t>(strip) * strip_floats(),
                         strip_floats() / kComplex);
        backward(scratch);
        scatter(scratch, strip, geometry_.y.origin, geometry_.y.tile_results(tile_y));
    });
}

void HostConvolution::restore_rows(HostView output, int tile_x, int tile_y, int channel) {
    const ConvolutionAxis& x = geometry_.x;
    const int first = x.first_result(tile_x);
    const Band columns{first, first + x.tile_results(tile_x)};
    const int top = geometry_.y.first_result(tile_y);
    const int count = geometry_.y.tile_results(tile_y);
    const int slots = static_cast<int>(slots_.size());
    const int bands = band_count(count, slots, 16);
    for_bands(count, bands, slots, [&](Band rows, int slot) {
        float* line = slots_[static_cast<std::size_t>(slot)].line.get();
        for (int i = rows.begin; i < rows.end; ++i) {
            fftwf_execute_dft_c2r(row_backward_.get(), complex(row(i)), line);
            SampleGains gains;
            if (!gain_across_.empty())
                gains = {gain_across_.data() + first,
                         gain_down_[static_cast<std::size_t>(top) + static_cast<std::size_t>(i)]};
            store_samples(line + x.origin, output, top + i, channel, columns, gains);
        }
    });
}

void HostConvolution::gather(const int* place, int strip, float* to) const {
    constexpr std::size_t kBytes = kHalf * kComplex * sizeof(float);
    const std::size_t half = strip_floats() / 2;
    const float* from = rows_.get() + static_cast<std::size_t>(strip) * kStrip * kComplex;
    for (int p = 0; p < geometry_.y.fft; ++p, to += kHalf * kComplex) {
        if (place[p] < 0) {
            std::memset(to, 0, kBytes);
            std::memset(to + half, 0, kBytes);
            continue;
        }
        const float* source = from + static_cast<std::size_t>(place[p]) * stride_;
        std::memcpy(to, source, kBytes);
        std::memcpy(to + half, source + kHalf * kComplex, kBytes);
    }
}

void HostConvolution::scatter(const float* from, int strip, int first, int rows) {
    constexpr std::size_t kBytes = kHalf * kComplex * sizeof(float);
    const std::size_t half = strip_floats() / 2;
    from += static_cast<std::size_t>(first) * kHalf * kComplex;
    float* to = rows_.get() + static_cast<std::size_t>(strip) * kStrip * kComplex;
    for (int y = 0; y < rows; ++y, to += stride_, from += kHalf * kComplex) {
        std::memcpy(to, from, kBytes);
        std::memcpy(to + kHalf * kComplex, from + half, kBytes);
    }
}

void HostConvolution::forward(float* strip) const {
    for (float* half : {strip, strip + strip_floats() / 2})
        fftwf_execute_dft(column_forward_.get(), complex(half), complex(half));
}

void HostConvolution::backward(float* strip) const {
    for (float* half : {strip, strip + strip_floats() / 2})
        fftwf_execute_dft(column_backward_.get(), complex(half), complex(half));
}

} // namespace specklescope
