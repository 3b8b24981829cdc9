#include "cuda/convolve/convolution.hpp"

#include "base/log.hpp"
#include "cuda/convolve/fft_line.hpp"
#include "cuda/device.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace specklescope::cuda {

namespace {

std::size_t product(int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); }

std::size_t columns_of(int width) { return static_cast<std::size_t>(width / 2 + 1); }

/// Size of the kernel's pixels before the transform, followed by space for their sums.
std::size_t kernel_floats(const ConvolutionTask& task) {
    return (product(task.kernel_width, task.kernel_height) + 1) / 2 * 2;
}
std::size_t kernel_bytes(const ConvolutionTask& task) {
    const std::size_t sums = product((task.kernel_width + 255) / 256, task.kernel_height);
    return task.kernels > 0 ? kernel_floats(task) * sizeof(float) + sums * sizeof(double) : 0;
}

std::size_t data_bytes(const ConvolutionTask& task, int width, int held) {
    const std::size_t planes = static_cast<std::size_t>(task.image.channels);
    return std::max(columns_of(width) * static_cast<std::size_t>(held) * planes * sizeof(float2),
                    kernel_bytes(task));
}
std::size_t spectra_bytes(const ConvolutionTask& task, int width, int height) {
    return columns_of(width) * static_cast<std::size_t>(height) * static_cast<std::size_t>(task.kernels) *
           sizeof(float2);
}

ConvolutionGeometry plan(const ConvolutionTask& task, const LineRoom& room) {
    const DeviceLineCosts costs = device_line_costs(room.of_block);
    ConvolutionLimits limits;
    limits.bytes = task.bytes;
    limits.memory = [&](int width, int height) {
        // Stores at most as many rows as a transform has positions or the image has rows.
        return data_bytes(task, width, std::min(task.image.height, height)) +
               spectra_bytes(task, width, height);
    };
    limits.across = costs.across;
    limits.down = costs.down;
    limits.tile = 7e5; // three launches, 12 µs at 17 ps per point (an H200, November 2026)
    return plan_convolution(task.image, task.kernel_width, task.kernel_height, task.border, limits);
}

} // namespace

Convolution::Line::Line(int points, int step) : plan(line_plan(points)), root_step(step) {
    roots = uploaded(line_roots(points * step));
    std::vector<std::uint16_t> shared = line_order(plan);
    for (std::uint16_t& place : shared)
        place = static_cast<std::uint16_t>(plan.place(place));
    places = uploaded(shared);
}

LineTables Convolution::Line::tables(const FilterGuard* guard) const {
    return {plan, roots.as<float2>(), root_step, places.as<std::uint16_t>(), guard};
}

Convolution::Convolution(const ConvolutionTask& task)
    : task_(task), room_(prepare_lines()), geometry_(plan(task, room_)), row_(geometry_.x.fft / 2, 2),
      column_(geometry_.y.fft, 1) {
    make_tables();
    const std::size_t data = data_bytes(task, geometry_.x.fft, held_);
    const std::size_t spectra = spectra_bytes(task, geometry_.x.fft, geometry_.y.fft);
    bytes_ = data + spectra;
    data_ = Buffer(data, device_memory());
    if (spectra > 0)
        spectra_ = Buffer(spectra, device_memory());
}

void Convolution::make_tables() {
    const ConvolutionAxis& x = geometry_.x;
    const ConvolutionAxis& y = geometry_.y;
    std::vector<int> indices;
    const auto append = [&](const std::vector<int>& more) {
        indices.insert(indices.end(), more.begin(), more.end());
    };
    for (int t = 0; t < x.tiles; ++t)
        append(tile_columns(x, t, geometry_.border));
    std::vector<TileRows> tiles;
    for (int t = 0; t < y.tiles; ++t) {
        tiles.push_back(tile_rows(y, t, geometry_.border));
        row_counts_.push_back(static_cast<int>(tiles.back().rows.size()));
    }
    held_ = *std::max_element(row_counts_.begin(), row_counts_.end());
    rows_at_ = indices.size();
    for (TileRows& tile : tiles) {
        tile.rows.resize(static_cast<std::size_t>(held_));
        append(tile.rows);
    }
    places_at_ = indices.size();
    for (const TileRows& tile : tiles)
        append(tile.place);
    kernel_at_ = (indices.size() + 1) / 2 * 2; // columns are read in pairs
    indices.resize(kernel_at_);
    for (const ConvolutionAxis* axis : {&x, &y})
        for (int p = 0; p < axis->fft; ++p)
            indices.push_back(axis->kernel_pixel(p));
    indices_ = uploaded(indices);
}

double* Convolution::kernel_sums() const {
    return reinterpret_cast<double*>(kernel_pixels() + kernel_floats(task_));
}

std::size_t Convolution::spectrum_samples() const {
    return columns_of(geometry_.x.fft) * static_cast<std::size_t>(geometry_.y.fft);
}

float2* Convolution::spectrum(int index) const {
    return spectra_.as<float2>() + static_cast<std::size_t>(index) * spectrum_samples();
}

void Convolution::transform_kernel(int index, cudaStream_t stream) const {
    const int* const tables = indices_.as<int>() + kernel_at_;
    const Shape shape{task_.kernel_width, task_.kernel_height, 1, PixelType::f32};
    ConstDeviceView pixels;
    pixels.data = reinterpret_cast<const std::byte*>(kernel_pixels());
    pixels.pitch = product(shape.width, 1) * sizeof(float);
    pixels.shape = shape;
    const Spectra to{spectrum(index), geometry_.x.fft, 1, geometry_.y.fft};
    transform_rows(room_, row_.tables(), {tables, nullptr, task_.kernel_height}, pixels, to, stream);
    transform_columns(room_, column_.tables(), tables + geometry_.x.fft, to, stream);
}

void Convolution::set_separable(const std::vector<double>& taps) {
    const int width = geometry_.x.fft;
    const int height = geometry_.y.fft;
    std::vector<float> factors = tap_spectrum(taps, width, width / 2 + 1);
    const std::vector<float> down = tap_spectrum(taps, height, height);
    const std::vector<std::uint16_t> order = line_order(column_.plan);
    const std::size_t columns = factors.size();
    factors.resize(columns + down.size());
    for (std::size_t f = 0; f < down.size(); ++f)
        factors[columns + order[f]] = down[f];
    factors_ = uploaded(factors);
}

void Convolution::set_divisors(const std::vector<double>& x, const std::vector<double>& y) {
    std::vector<float> divisors(x.begin(), x.end());
    divisors.insert(divisors.end(), y.begin(), y.end());
    divisors_ = uploaded(divisors);
}

Spectra Convolution::spectra() const {
    return {data_.as<float2>(), geometry_.x.fft, task_.image.channels, held_};
}

void Convolution::run(ConstDeviceView input, DeviceView output, cudaStream_t stream,
                      const FilterGuard* guard) const {
    const ConvolutionAxis& x = geometry_.x;
    const ConvolutionAxis& y = geometry_.y;
    const int* const indices = indices_.as<int>();
    Factors factors{spectra_.as<float2>(), task_.kernels, nullptr, nullptr};
    if (task_.kernels == 0) {
        factors.across = factors_.as<float>();
        factors.down = factors.across + columns_of(x.fft);
    }
    RowsOut out;
    out.first = x.origin;
    if (out.divisor_x = divisors_.as<float>(); out.divisor_x)
        out.divisor_y = out.divisor_x + x.results;
    for (int ty = 0; ty < y.tiles; ++ty)
        for (int tx = 0; tx < x.tiles; ++tx) {
            const RowsIn in{indices + product(tx, x.fft), indices + rows_at_ + product(ty, held_),
                            row_counts_[static_cast<std::size_t>(ty)]};
            transform_rows(room_, row_.tables(guard), in, input, spectra(), stream);
            out.column = x.first_result(tx);
            out.row = y.first_result(ty);
            out.width = x.tile_results(tx);
            out.height = y.tile_results(ty);
            const Columns columns{indices + places_at_ + product(ty, y.fft), y.origin, out.height};
            convolve_columns(room_, column_.tables(guard), columns, factors, spectra(), stream);
            restore_rows(room_, row_.tables(guard), out, spectra(), output, stream);
        }
}

std::unique_ptr<Convolution> make_convolution(ConvolutionTask task, int megabytes) {
    constexpr int kTries = 4;
    for (int attempt = 0;; ++attempt) {
        std::size_t free = 0;
        std::size_t total = 0;
        check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
        try {
            task.bytes = convolution_budget(megabytes, free >> attempt, task.image, "the GPU");
            return std::make_unique<Convolution>(task);
        } catch (const RunError& error) {
            if (attempt + 1 == kTries)
                throw DeviceError(error.what());
            run_log().debug("Convolution: {}", error.what());
        }
    }
}

} // namespace specklescope::cuda
