// Crop, flip, rotate90 and downsample on the host; bands of rows in parallel.
#include "stages/geometry/geometry.hpp"

#include "base/parallel.hpp"
#include "stages/geometry/simd/geometry_rows.hpp"
#include "stages/maker.hpp"

#include <algorithm>
#include <cstring>

namespace specklescope {

namespace {

[[noreturn]] void refuse_crop(const std::string& name, int value, int allowed, const Shape& input) {
    throw UsageError("stage crop: " + name + " = " + std::to_string(value) + " leaves the image of " +
                     std::to_string(input.width) + "×" + std::to_string(input.height) +
                     " pixels; allowed: up to " + std::to_string(allowed) + ".");
}

const ParamTable& crop_table() {
    static const ParamTable table = Declare<CropParams>("stage crop")
                                        .integer("x", &CropParams::x,
                                                 {.label = "First column",
                                                  .unit = "px",
                                                  .min = 0,
                                                  .max = kMaxSide - 1,
                                                  .cost = Cost::rebuild,
                                                  .doc = "First column of the rectangle, from the left"})
                                        .integer("y", &CropParams::y,
                                                 {.label = "First row",
                                                  .unit = "px",
                                                  .min = 0,
                                                  .max = kMaxSide - 1,
                                                  .cost = Cost::rebuild,
                                                  .doc = "First row of the rectangle, from the top"})
                                        .integer("width", &CropParams::width,
                                                 {.unit = "px",
                                                  .min = 0,
                                                  .max = kMaxSide,
                                                  .cost = Cost::rebuild,
                                                  .doc = "Number of columns. 0: to the right edge"})
                                        .integer("height", &CropParams::height,
                                                 {.unit = "px",
                                                  .min = 0,
                                                  .max = kMaxSide,
                                                  .cost = Cost::rebuild,
                                                  .doc = "Number of rows. 0: to the lower edge"})
                                        .table();
    return table;
}

const ParamTable& flip_table() {
    static const ParamTable table =
        Declare<FlipParams>("stage flip")
            .choice("direction", &FlipParams::direction, {"horizontal", "vertical", "both"},
                    {.doc = "Direction: horizontal exchanges left and right, vertical top and bottom"})
            .table();
    return table;
}

const ParamTable& rotate_table() {
    static const ParamTable table = Declare<RotateParams>("stage rotate90")
                                        .integer("turns", &RotateParams::turns,
                                                 {.label = "Quarter turns",
                                                  .min = 1,
                                                  .max = 3,
                                                  .cost = Cost::rebuild,
                                                  .doc = "Number of quarter turns, clockwise"})
                                        .table();
    return table;
}

const ParamTable& downsample_table() {
    static const ParamTable table =
        Declare<DownsampleParams>("stage downsample")
            .integer("factor", &DownsampleParams::factor,
                     {.label = "Block size",
                      .unit = "px",
                      .min = 2,
                      .max = DownsampleParams::kMaxFactor,
                      .cost = Cost::rebuild,
                      .doc = "Side of the blocks that become one pixel; incomplete blocks are cut off"})
            .choice("method", &DownsampleParams::method, {"mean", "nearest"},
                    {.doc = "Value of a block: its mean, or its first pixel"})
            .table();
    return table;
}

} // namespace

Shape crop_shape(const CropParams& params, const Shape& input) {
    if (params.x >= input.width)
        refuse_crop("x", params.x, input.width - 1, input);
    if (params.y >= input.height)
        refuse_crop("y", params.y, input.height - 1, input);
    if (params.width > input.width - params.x)
        refuse_crop("width", params.width, input.width - params.x, input);
    if (params.height > input.height - params.y)
        refuse_crop("height", params.height, input.height - params.y, input);
    Shape output = input;
    output.width = params.width > 0 ? params.width : input.width - params.x;
    output.height = params.height > 0 ? params.height : input.height - params.y;
    return output;
}

Shape rotate_shape(const RotateParams& params, const Shape& input) {
    Shape output = input;
    if (params.turns % 2 != 0)
        std::swap(output.width, output.height);
    return output;
}

Shape downsample_shape(const DownsampleParams& params, const Shape& input) {
    const int side = std::min(input.width, input.height);
    if (params.factor > side)
        throw UsageError(
            "stage downsample: factor = " + std::to_string(params.factor) + " is too large for an image of " +
            std::to_string(input.width) + "×" + std::to_string(input.height) + " pixels; " +
            (side < 2 ? "leave the stage out."
                      : "allowed: 2…" + std::to_string(std::min(side, DownsampleParams::kMaxFactor)) + "."));
    Shape output = input;
    output.width = input.width / params.factor;
    output.height = input.height / params.factor;
    return output;
}

namespace {

/// Minimum rows of a band, an estimate.
int min_band_rows(const Shape& output) {
    constexpr std::size_t kBandBytes = 64 << 10;
    return static_cast<int>(kBandBytes / output.row_bytes()); // 0 for longer rows: band_count() uses 1
}

/// Calls rows(begin, end, slot) for bands of output rows.
template <class F> void over_rows(const Shape& output, int min_rows, F&& rows) {
    const int slots = parallel_threads();
    const int bands = band_count(output.height, slots, min_rows);
    for_bands(output.height, bands, slots, [&](Band range, int slot) { rows(range.begin, range.end, slot); });
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
        // A band uses whole cache lines of the input only if it has as many rows as a line has pixels.
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
        for_bands(output.shape.height, bands, slots, [&](Band rows, int slot) {
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
    std::vector<std::vector<std::byte>> sums_; ///< a row of column sums per slot
};

} // namespace

StageType crop_stage() {
    return {.name = "crop",
            .doc = "Rectangle of the image",
            .title = "Crop",
            .group = StageGroup::geometry,
            .table = &crop_table(),
            .tolerance = 0,
            .make_host = host_maker<CropHost>,
            .make_device = device_maker<make_crop_device>,
            .moves_pixels = true};
}

StageType flip_stage() {
    return {.name = "flip",
            .doc = "Mirrored image",
            .title = "Flip",
            .group = StageGroup::geometry,
            .table = &flip_table(),
            .tolerance = 0,
            .make_host = host_maker<FlipHost>,
            .make_device = device_maker<make_flip_device>,
            .moves_pixels = true};
}

StageType rotate_stage() {
    return {.name = "rotate90",
            .doc = "Image rotated by quarter turns, clockwise",
            .title = "Rotate",
            .group = StageGroup::geometry,
            .table = &rotate_table(),
            .tolerance = 0,
            .make_host = host_maker<RotateHost>,
            .make_device = device_maker<make_rotate_device>,
            .moves_pixels = true};
}

StageType downsample_stage() {
    return {
        .name = "downsample",
        .doc = "Binning: blocks of pixels become one pixel",
        .title = "Downsample",
        .group = StageGroup::geometry,
        .table = &downsample_table(),
        .tolerance = 0,
        .make_host = host_maker<DownsampleHost>,
        .make_device = device_maker<make_downsample_device>,
        .pixel_side =
            [](const Params& params) { return static_cast<double>(params.as<DownsampleParams>().factor); },
        .moves_pixels = true,
        .mixes =
            [](const Params& params) {
                return params.as<DownsampleParams>().method == DownsampleParams::Method::mean;
            }};
}

} // namespace specklescope
