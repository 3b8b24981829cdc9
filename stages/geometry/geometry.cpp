// Crop, flip, rotate90 and downsample on the host: bands of rows over the threads.
#include "stages/geometry/geometry.hpp"

#include "pipeline/parallel.hpp"
#include "stages/geometry/simd/geometry_rows.hpp"

#include <algorithm>
#include <cstring>

namespace specklescope {

namespace {

/// Rows whose bytes are worth a band of their own.
int min_band_rows(const Shape& output) {
    constexpr std::size_t kBandBytes = 64 << 10;
    return static_cast<int>(
        std::max<std::size_t>(1, kBandBytes / std::max<std::size_t>(1, output.row_bytes())));
}

/// Calls rows(begin, end, slot) for bands of output rows.
template <class F> void over_rows(const Shape& output, int min_rows, F&& rows) {
    const int slots = parallel_threads();
    const int bands = band_count(output.height, slots, min_rows);
    run_bands(bands, slots, [&](int band, int slot) {
        const Band range = band_rows(output.height, bands, band);
        rows(range.begin, range.end, slot);
    });
}

class CropHost final : public HostStage {
public:
    explicit CropHost(const Params& params) : params_(params.as<CropParams>()) {}
    Shape prepare(const Shape& input) override { return crop_shape(params_, input); }
    void set_params(const Params& params) override { params_ = params.as<CropParams>(); }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>&) override {
        const std::size_t bytes = output.shape.row_bytes();
        const std::size_t left = static_cast<std::size_t>(params_.x) *
                                 static_cast<std::size_t>(input.shape.channels) *
                                 pixel_bytes(input.shape.type);
        over_rows(output.shape, min_band_rows(output.shape), [&](int begin, int end, int) {
            for (int y = begin; y < end; ++y)
                std::memcpy(output.row(y), input.row(params_.y + y) + left, bytes);
        });
    }

private:
    CropParams params_;
};

void flip(ConstHostView input, HostView output, FlipParams::Direction direction) {
    const Shape& shape = output.shape;
    const bool upside_down = direction != FlipParams::Direction::horizontal;
    over_rows(shape, min_band_rows(shape), [&](int begin, int end, int) {
        for (int y = begin; y < end; ++y) {
            const std::byte* from = input.row(upside_down ? shape.height - 1 - y : y);
            if (direction == FlipParams::Direction::vertical)
                std::memcpy(output.row(y), from, shape.row_bytes());
            else
                reverse_row(from, output.row(y), shape.width, shape.channels, shape.type);
        }
    });
}

class FlipHost final : public HostStage {
public:
    explicit FlipHost(const Params& params) : params_(params.as<FlipParams>()) {}
    Shape prepare(const Shape& input) override { return input; }
    void set_params(const Params& params) override { params_ = params.as<FlipParams>(); }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>&) override {
        flip(input, output, params_.direction);
    }

private:
    FlipParams params_;
};

class RotateHost final : public HostStage {
public:
    explicit RotateHost(const Params& params) : params_(params.as<RotateParams>()) {}
    Shape prepare(const Shape& input) override { return rotate_shape(params_, input); }
    void set_params(const Params& params) override { params_ = params.as<RotateParams>(); }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>&) override {
        if (params_.turns == 2) {
            flip(input, output, FlipParams::Direction::both);
            return;
        }
        // A band reads whole cache lines of the input only if it is as many rows high as a line has pixels.
        over_rows(output.shape, std::max(64, min_band_rows(output.shape)),
                  [&](int begin, int end, int) { rotate_rows(input, output, params_.turns, begin, end); });
    }

private:
    RotateParams params_;
};

class DownsampleHost final : public HostStage {
public:
    explicit DownsampleHost(const Params& params) : params_(params.as<DownsampleParams>()) {}
    void set_params(const Params& params) override { params_ = params.as<DownsampleParams>(); }

    Shape prepare(const Shape& input) override {
        const Shape output = downsample_shape(params_, input);
        sums_.resize(static_cast<std::size_t>(parallel_threads()));
        for (std::vector<std::byte>& row : sums_)
            row.resize(mean_scratch_bytes(input));
        return output;
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>&) override {
        const int min_rows = min_band_rows(input.shape) / params_.factor + 1;
        const int slots = static_cast<int>(sums_.size());
        const int bands = band_count(output.shape.height, slots, min_rows);
        run_bands(bands, slots, [&](int band, int slot) {
            const Band rows = band_rows(output.shape.height, bands, band);
            std::byte* sums = sums_[static_cast<std::size_t>(slot)].data();
            for (int y = rows.begin; y < rows.end; ++y)
                if (params_.method == DownsampleParams::Method::mean)
                    mean_row(input, output, params_.factor, y, sums);
                else
                    nearest_row(input, output, params_.factor, y);
        });
    }

private:
    DownsampleParams params_;
    std::vector<std::vector<std::byte>> sums_; ///< a row of column sums for each slot
};

} // namespace

std::unique_ptr<HostStage> make_crop_host(const Params& params) { return std::make_unique<CropHost>(params); }
std::unique_ptr<HostStage> make_flip_host(const Params& params) { return std::make_unique<FlipHost>(params); }
std::unique_ptr<HostStage> make_rotate_host(const Params& params) {
    return std::make_unique<RotateHost>(params);
}
std::unique_ptr<HostStage> make_downsample_host(const Params& params) {
    return std::make_unique<DownsampleHost>(params);
}

} // namespace specklescope
