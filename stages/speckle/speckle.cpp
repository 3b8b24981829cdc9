// Spatial speckle contrast and flow on the host: bands of rows in parallel, tiles of columns within a band.
#include "stages/speckle/speckle.hpp"

#include "stages/frame_rows.hpp"
#include "stages/maker.hpp"
#include "stages/speckle/simd/speckle_tile.hpp"
#include "stages/streamed.hpp"

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <utility>

namespace specklescope {

namespace {

const ParamTable& speckle_table() {
    static const ParamTable table =
        Declare<SpeckleParams>("stage speckle")
            .integer(
                "radius", &SpeckleParams::radius,
                {.unit = "px",
                 .min = 1,
                 .max = SpeckleParams::kMaxRadius,
                 .cost = Cost::rebuild,
                 .doc =
                     "Window radius w: the window has (2w+1)² pixels, at most the shorter side of the image"})
            .real("exposure", &SpeckleParams::exposure_ms,
                  {.unit = "ms",
                   .min = 0.001,
                   .max = 10000,
                   .logarithmic = true,
                   .visible = [](const SpeckleParams& p) { return needs_exposure(p.output, p.extras); },
                   .doc = kExposureDoc})
            .choice("output", &SpeckleParams::output, contrast_output_names(), {.doc = kContrastOutputDoc})
            .choice_among("border", &SpeckleParams::border,
                          [] {
                              auto borders = contrast_borders();
                              borders.emplace_back(ChoiceName("omit", "Only existing pixels"), Border::omit);
                              return borders;
                          }(),
                          {.cost = Cost::rebuild,
                           .doc = "Values outside the image. omit: use only existing pixels. zero: false "
                                  "high contrast at the edge"})
            .part(&SpeckleParams::extras, contrast_extras_table(true))
            .table();
    return table;
}

Quantity speckle_quantity(const Params& params, const Quantity&) {
    const auto& values = params.as<SpeckleParams>();
    return contrast_quantity(values.output, values.extras);
}

std::vector<NamedOutput> speckle_also(const Params& params, const Quantity&) {
    return contrast_also(params.as<SpeckleParams>().extras);
}

} // namespace

Shape speckle_shape(const SpeckleParams& params, const Shape& input) {
    return contrast_window_shape("stage speckle", params.radius, params.border == Border::crop, input);
}

ContrastScale speckle_scale(const SpeckleParams& params, const FrameInfo& info) {
    const double side = 2.0 * params.radius + 1;
    return contrast_scale(params.output, side * side, params.exposure_ms, info);
}

namespace {

constexpr std::uint32_t kNoLimit = ~std::uint32_t{0};

/// Memory of one slot, on its own cache lines.
struct alignas(64) Slot {
    hwy::AlignedFreeUniquePtr<std::byte[]> scratch;
    std::vector<std::uint8_t> saturated; ///< per input row of a band: 1 if it contains saturated samples
    SaturatedWindows windows;
    PixelCounts counts;
    SampleRange range = kNoSamples;
    bool fits = true; ///< no sample exceeded the limit of the sums
};

/// Chooses the column sums for samples in `range`; the reference halves the largest difference.
void choose_sums(SpeckleTile& tile, SampleRange range) {
    const std::uint64_t side = 2U * static_cast<unsigned>(tile.params.radius) + 1;
    tile.largest = range.max;
    tile.reference = (range.min + range.max) / 2;
    const std::uint64_t most = range.max - tile.reference;
    const bool fits = side * side * most * most < (std::uint64_t{1} << 32);
    tile.sums = fits ? SpeckleSums::narrow : SpeckleSums::wide;
}

/// Range of samples according to the frame's full scale.
SampleRange promised_range(PixelType type, const FrameInfo& info) {
    const double type_full = type_full_scale(type);
    const double full = info.full_scale > 0 ? std::min(info.full_scale, type_full) : type_full;
    return {0, static_cast<std::uint32_t>(full)};
}

class SpeckleHost final : public HostStage {
public:
    explicit SpeckleHost(const Params& params) : params_(params.as<SpeckleParams>()) {}

    void set_params(const Params& params) override { params_ = params.as<SpeckleParams>(); }
    Counted counted() const override { return {.undefined = true, .saturated = true}; }
    void describe(FrameInfo& info) const override { info.full_scale = 0; }

    Shape prepare(const Shape& input) override {
        const Shape output = speckle_shape(params_, input);
        const int radius = params_.radius;
        tile_width_ = std::min(output.width, speckle_tile_width(input.type));
        slots_.resize(static_cast<std::size_t>(parallel_threads()));
        const std::size_t bytes = speckle_scratch_bytes(input.type, radius, tile_width_, input.width);
        for (Slot& slot : slots_) {
            slot.scratch = hwy::AllocateAligned<std::byte>(bytes);
            if (!slot.scratch)
                throw RunError("stage speckle: no room for " + std::to_string(bytes >> 10) +
                               " KiB of sums; use a smaller image.");
            slot.saturated.resize(static_cast<std::size_t>(input.height));
            slot.windows = SaturatedWindows(input, radius);
        }
        input_ = input;
        correlation_ = window_correlation(params_.radius, params_.extras.speckle_size);
        if (params_.border == Border::omit)
            edges_.prepare(input, static_cast<int>(slots_.size()));
        bands_ = band_count(output.height, static_cast<int>(slots_.size()), speckle_chunk(radius));
        prepared_ = params_;
        return output;
    }

    void count_over(int frames) override {
        counted_frames_ = frames;
        if (frames <= 1)
            return;
        ages_.prepare(input_, frames);
        aged_rows_.resize(static_cast<std::size_t>(input_.height));
        thresholds_.resize(1);
        rows_.prepare(input_.height);
        fresh_ = true;
    }
    void reset() override {
        ages_.reset();
        fresh_ = true;
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        SpeckleTile frame;
        frame.input = input;
        frame.output = output;
        frame.params = prepared_; // with the prepared radius and border
        frame.params.output = params_.output;
        frame.params.border = speckle_inner_border(prepared_.border);
        frame.streamed = streams(output);
        frame.scale = speckle_scale(params_, context.info).c;
        ContrastFinish finish = speckle_finish<Space::host>(params_, correlation_, input.shape.type,
                                                            context.info, output, context.also);
        frame.finish = finish.count > 0 ? &finish : nullptr;
        std::optional<double> threshold = saturation_threshold(input.shape.type, context.info);
        if (counted_frames_ > 1) {
            const FrameRows::Run run{input, output, context};
            take_ages({&run, 1}, [](std::size_t, int) {});
        }
        if (counted_frames_ != 1)
            threshold.reset();
        frame.limit = threshold && input.shape.type != PixelType::f32 ? static_cast<std::uint32_t>(*threshold)
                                                                      : kNoLimit;
        // One choice for the whole frame, so that results do not depend on the bands: by the full scale if
        // narrow sums suffice, otherwise by the samples' range.
        const bool real = input.shape.type == PixelType::f32;
        choose_sums(frame, promised_range(input.shape.type, context.info));
        if (!real && frame.sums != SpeckleSums::narrow)
            choose_sums(frame, range_of(frame));
        if (!run_frame(frame, threshold)) { // samples exceed the full scale
            choose_sums(frame, range_of(frame));
            run_frame(frame, threshold);
        }
        for (const Slot& slot : slots_) {
            context.counts.undefined += slot.counts.undefined;
            context.counts.infinite += slot.counts.infinite;
            context.counts.saturated += slot.counts.saturated;
        }
        if (prepared_.border == Border::omit) {
            if (finish.count == 0) {
                finish.samples = 2;
                finish.add(params_.output, params_.exposure_ms, context.info, output.data, output.pitch);
            }
            edges_.run(input, prepared_.radius, finish, context.counts);
        }
    }

    void count_in_order(std::span<const FrameRows::Run> frames) override {
        const Shape aged{input_.width, input_.height, 1, PixelType::u16};
        aged_.resize(frames.size() * aged.pixels());
        take_ages(frames, [&](std::size_t frame, int y) {
            if (ages_.any(y))
                std::copy_n(ages_.ages().as<std::uint16_t>().row(y), aged.width,
                            aged_.data() + frame * aged.pixels() +
                                static_cast<std::size_t>(y) * static_cast<std::size_t>(aged.width));
        });
        SpeckleTile tile;
        tile.input.shape = input_;
        tile.output.shape = speckle_shape(prepared_, input_);
        tile.params = prepared_;
        tile.params.border = speckle_inner_border(prepared_.border);
        tile.y1 = tile.output.shape.height;
        tile.rows = input_rows(tile);
        run_bands(static_cast<int>(frames.size()), static_cast<int>(slots_.size()), [&](int index, int slot) {
            const auto frame = static_cast<std::size_t>(index);
            const std::span<const std::uint8_t> rows = aged_rows(frame);
            if (std::any_of(rows.begin(), rows.end(), [](std::uint8_t row) { return row != 0; }))
                frames[frame].context.counts.saturated += aged_windows(
                    tile, slots_[static_cast<std::size_t>(slot)],
                    {reinterpret_cast<const std::byte*>(aged_.data() + frame * input_.pixels()), aged}, rows);
        });
    }

private:
    /// Ages of samples at full scale in each frame and in earlier frames that are averaged with it.
    /// `for_each(frame, y)`: called after the row's frame and before the next one.
    template <class F> void take_ages(std::span<const FrameRows::Run> frames, F&& for_each) {
        aged_rows_.resize(frames.size() * static_cast<std::size_t>(input_.height));
        thresholds_.clear();
        for (const FrameRows::Run& frame : frames)
            thresholds_.push_back(saturation_threshold(input_.type, frame.context.info));
        const bool fresh = std::exchange(fresh_, false);
        rows_.run(frames, [&](std::size_t frame, int y, int, PixelCounts&) {
            if (!frames[frame].context.again || (fresh && frame == 0))
                ages_.advance(y, frames[frame].input.row(y), thresholds_[frame]);
            aged_rows_[frame * static_cast<std::size_t>(input_.height) + static_cast<std::size_t>(y)] =
                ages_.any(y) ? 1 : 0;
            for_each(frame, y);
        });
    }

    /// For each row: whether it has an age other than 0 after this frame of the last take_ages().
    std::span<const std::uint8_t> aged_rows(std::size_t frame) const {
        const auto height = static_cast<std::size_t>(input_.height);
        return std::span(aged_rows_).subspan(frame * height, height);
    }

    static std::uint64_t aged_windows(const SpeckleTile& tile, Slot& slot, ConstHostView ages,
                                      std::span<const std::uint8_t> rows) {
        SpeckleTile aged = tile;
        aged.input = ages;
        const auto count = static_cast<std::size_t>(tile.rows.end - tile.rows.begin);
        return slot.windows.count(aged, 1, rows.subspan(static_cast<std::size_t>(tile.rows.begin), count));
    }

    /// Range of the integer samples that enter the result.
    SampleRange range_of(const SpeckleTile& frame) {
        run_bands(bands_, static_cast<int>(slots_.size()), [&](int band, int slot) {
            const Band rows = band_rows(frame.input.shape.height, bands_, band);
            slots_[static_cast<std::size_t>(slot)].range.add(
                sample_range(frame.input, {rows.begin, rows.end}));
        });
        SampleRange range = kNoSamples;
        for (Slot& slot : slots_)
            range.add(std::exchange(slot.range, kNoSamples));
        if (frame.params.border == Border::zero)
            range.min = 0;
        return range;
    }

    /// False if samples exceed the limit of the frame's sums; the counts are then invalid.
    bool run_frame(const SpeckleTile& frame, std::optional<double> threshold) {
        for (Slot& slot : slots_) {
            slot.counts = {};
            slot.fits = true;
        }
        run_bands(bands_, static_cast<int>(slots_.size()), [&](int band, int slot) {
            run_band(frame, threshold, band, slots_[static_cast<std::size_t>(slot)]);
        });
        return std::all_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.fits; });
    }

    void run_band(const SpeckleTile& frame, std::optional<double> threshold, int band, Slot& slot) const {
        SpeckleTile tile = frame;
        const int height = frame.output.shape.height;
        const int chunk = speckle_chunk(frame.params.radius);
        const Band chunks = band_rows((height + chunk - 1) / chunk, bands_, band);
        tile.y0 = chunks.begin * chunk;
        tile.y1 = std::min(chunks.end * chunk, height);
        tile.rows = input_rows(tile);
        tile.saturated = slot.saturated.data();
        std::fill_n(tile.saturated, tile.rows.end - tile.rows.begin, std::uint8_t{0});
        if (threshold && tile.input.shape.type == PixelType::f32)
            find_saturated_rows(tile.input, tile.rows, *threshold, tile.saturated);
        slot.fits = run_tiles(tile, slot) && slot.fits;
        if (threshold)
            slot.counts.saturated += slot.windows.count(tile, *threshold, slot.saturated);
        if (counted_frames_ > 1)
            slot.counts.saturated += aged_windows(tile, slot, ages_.ages(), aged_rows(0));
    }

    /// False if samples exceed the tile's limit.
    bool run_tiles(SpeckleTile& tile, Slot& slot) const {
        const int width = tile.output.shape.width;
        const int tiles = (width + tile_width_ - 1) / tile_width_;
        bool fits = true;
        constexpr int kLine = 16; // pixels of a cache line; tiles share none
        const int lines = (width + kLine - 1) / kLine;
        for (int i = 0; fits && i < tiles; ++i) {
            const Band columns = band_rows(lines, tiles, i);
            tile.x0 = columns.begin * kLine;
            tile.x1 = std::min(columns.end * kLine, width);
            fits = run_speckle_tile(tile, slot.scratch.get(), slot.counts);
        }
        return fits;
    }

    SpeckleParams params_;
    SpeckleParams prepared_;
    WindowCorrelation correlation_;
    int tile_width_ = 0;
    int bands_ = 1;
    std::vector<Slot> slots_;
    SpeckleEdges edges_; ///< border = omit
    // For results that are averaged later:
    int counted_frames_ = 1;
    Shape input_;
    SaturatedAges ages_;
    bool fresh_ = true; ///< nothing is stored yet
    FrameRows rows_;
    std::vector<std::optional<double>> thresholds_; ///< per frame, of saturation
    std::vector<std::uint8_t> aged_rows_;           ///< per frame and row: aged_rows()
    std::vector<std::uint16_t> aged_;               ///< per frame: ages after it
};

} // namespace

StageType speckle_stage() {
    return {.name = "speckle",
            .doc = "Spatial speckle contrast and flow over a square window (Yang 2011)",
            .title = "Speckle contrast",
            .group = StageGroup::contrast,
            .table = &speckle_table(),
            .channels = {1},
            .tolerance = 1e-6,
            .quantity = speckle_quantity,
            .make_host = host_maker<SpeckleHost>,
            .make_device = device_maker<make_speckle_device>,
            .also = speckle_also,
            .speckles = [](const Params& params) {
                const auto& values = params.as<SpeckleParams>();
                return window_correlation(values.radius, values.extras.speckle_size).speckles();
            }};
}

} // namespace specklescope
