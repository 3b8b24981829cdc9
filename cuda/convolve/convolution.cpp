#include "cuda/convolve/convolution.hpp"

#include "cuda/fft_tune.hpp"
#include "cuda/upload.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace specklescope::cuda {

namespace {

/// Data and spectra; what cuFFT works in comes on top.
std::size_t sample_bytes(const ConvolutionTask& task, const FftShape& shape) {
    return shape.plane() * sizeof(float2) * static_cast<std::size_t>(task.image.channels + task.kernels);
}

ConvolutionGeometry plan(const ConvolutionTask& task, double work_ratio) {
    ConvolutionLimits limits;
    limits.space = Space::device;
    limits.bytes = task.bytes;
    limits.memory = [&](int width, int height) {
        const FftShape shape{width, height, task.image.channels};
        if (!shape.possible())
            return std::numeric_limits<std::size_t>::max();
        return sample_bytes(task, shape) +
               static_cast<std::size_t>(std::ceil(work_ratio * static_cast<double>(shape.bytes())));
    };
    return plan_convolution(task.image, task.kernel_width, task.kernel_height, task.border, limits);
}

} // namespace

Convolution::Convolution(const ConvolutionTask& task) {
    static_cast<void>(cufft()); // first the reason that explains most
    make_plans(task);
    const std::size_t work = bytes_ - sample_bytes(task, transform_);
    data_ = Buffer(transform_.bytes(), device_memory());
    if (task.kernels > 0)
        spectra_ = Buffer(kernel_transform_.bytes(), device_memory());
    work_ = Buffer(std::max<std::size_t>(work, 1), device_memory());
    for (const FftPlan* plan : {&forward_, &backward_, &kernel_plan_})
        if (*plan)
            plan->set_work_area(work_.as<void>());
}

void Convolution::make_plans(const ConvolutionTask& task) {
    // How much a plan works in is known for certain once it is made, and it takes that from nobody then: if
    // it is more than was thought, what was learnt goes into the next try.
    constexpr int kTries = 6;
    double work_ratio = 0;
    for (int i = 0; i < kTries; ++i) {
        geometry_ = plan(task, work_ratio);
        const auto rest = static_cast<double>(task.kernels) / task.image.channels + 1 + work_ratio;
        if (i == 0)
            geometry_ = tuned(geometry_, task.image.channels,
                              static_cast<std::size_t>(static_cast<double>(task.bytes) / rest));
        transform_ = {geometry_.x.fft, geometry_.y.fft, task.image.channels};
        kernel_transform_ = {geometry_.x.fft, geometry_.y.fft, task.kernels};
        forward_ = FftPlan(transform_, CUFFT_R2C);
        backward_ = FftPlan(transform_, CUFFT_C2R);
        if (task.kernels > 0 && task.kernels != task.image.channels)
            kernel_plan_ = FftPlan(kernel_transform_, CUFFT_R2C);
        const std::size_t work =
            std::max({forward_.work_bytes(), backward_.work_bytes(), kernel_plan_.work_bytes()});
        bytes_ = sample_bytes(task, transform_) + work;
        if (bytes_ <= task.bytes)
            return;
        const double ratio = static_cast<double>(work) / static_cast<double>(transform_.bytes());
        work_ratio = std::max(ratio, work_ratio * 1.25);
    }
    throw UsageError("stage convolve: memory = " + std::to_string(task.bytes / 1'000'000) +
                     " MB is too little for the GPU's transforms, which need " +
                     std::to_string((bytes_ + 999'999) / 1'000'000) + " MB; give the stage more.");
}

void Convolution::transform_kernels(cudaStream_t stream) const {
    (kernel_transform_ == transform_ ? forward_ : kernel_plan_).forward(spectra_.as<void>(), stream);
}

void Convolution::set_separable(const std::vector<double>& taps) {
    std::vector<float> factors = tap_spectrum(taps, transform_.width, transform_.columns());
    const std::vector<float> down = tap_spectrum(taps, transform_.height, transform_.height);
    factors.insert(factors.end(), down.begin(), down.end());
    factors_ = uploaded(factors);
}

void Convolution::set_divisors(const std::vector<double>& x, const std::vector<double>& y) {
    std::vector<float> divisors(x.begin(), x.end());
    divisors.insert(divisors.end(), y.begin(), y.end());
    divisors_ = uploaded(divisors);
}

ConvolutionTile Convolution::tile() const {
    ConvolutionTile tile;
    tile.geometry = geometry_;
    tile.transform = transform_;
    tile.rows = data_.as<float>();
    if (tile.divisor_x = divisors_.as<float>(); tile.divisor_x)
        tile.divisor_y = tile.divisor_x + geometry_.x.results;
    return tile;
}

void Convolution::run(ConstDeviceView input, DeviceView output, cudaStream_t stream) const {
    ConvolutionTile tile = this->tile();
    auto* const samples = data_.as<float2>();
    for (tile.ty = 0; tile.ty < geometry_.y.tiles; ++tile.ty)
        for (tile.tx = 0; tile.tx < geometry_.x.tiles; ++tile.tx) {
            load_tile(tile, input, stream);
            forward_.forward(samples, stream);
            if (const float* across = factors_.as<float>())
                multiply_separable(transform_, samples, across, across + transform_.columns(), stream);
            else
                multiply(transform_, samples, spectra_.as<float2>(), kernel_transform_.batch, stream);
            backward_.backward(samples, stream);
            store_tile(tile, output, stream);
        }
}

} // namespace specklescope::cuda
