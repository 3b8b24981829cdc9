// Spatial speckle contrast and flow on the host: bands of rows over the threads, tiles of columns within a
// band.
#include "stages/speckle.hpp"

#include "pipeline/parallel.hpp"
#include "stages/speckle_saturation.hpp"
#include "stages/speckle_tile.hpp"

#include <hwy/aligned_allocator.h>

#include <algorithm>

namespace specklescope {

namespace {

/// What one slot needs, apart from every other's cache lines.
struct alignas(64) Slot {
    hwy::AlignedFreeUniquePtr<std::byte[]> scratch;
    std::vector<std::uint8_t> ages;
    PixelCounts counts;
};

/// Chooses the column sums for samples in `range`; the reference halves the largest difference.
void choose_sums(SpeckleTile& tile, SampleRange range) {
    const std::uint64_t side = 2U * static_cast<unsigned>(tile.params.radius) + 1;
    tile.reference = (range.min + range.max) / 2;
    const std::uint64_t most = range.max - tile.reference;
    const bool fits = side * side * most * most < (std::uint64_t{1} << 32);
    tile.sums = fits ? SpeckleSums::narrow : SpeckleSums::wide;
}

class SpeckleHost final : public HostStage {
public:
    explicit SpeckleHost(const Params& params) : params_(params.as<SpeckleParams>()) {}

    void set_params(const Params& params) override { params_ = params.as<SpeckleParams>(); }
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
            slot.ages.resize(saturation_scratch_bytes(input.width));
        }
        // A band sums 2·radius rows before its first result.
        bands_ = band_count(output.height, static_cast<int>(slots_.size()), std::max(16, 8 * radius));
        prepared_ = params_;
        return output;
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        SpeckleTile frame;
        frame.input = input;
        frame.output = output;
        frame.params = prepared_; // radius and border as prepared
        frame.params.output = params_.output;
        frame.scale = speckle_scale(params_, context.info).c;
        const std::optional<double> threshold = saturation_threshold(input.shape.type, context.info);
        for (Slot& slot : slots_)
            slot.counts = {};
        run_bands(bands_, static_cast<int>(slots_.size()), [&](int band, int slot) {
            run_band(frame, threshold, band, slots_[static_cast<std::size_t>(slot)]);
        });
        for (const Slot& slot : slots_) {
            context.counts.undefined += slot.counts.undefined;
            context.counts.infinite += slot.counts.infinite;
            context.counts.saturated += slot.counts.saturated;
        }
    }

private:
    void run_band(const SpeckleTile& frame, std::optional<double> threshold, int band, Slot& slot) const {
        SpeckleTile tile = frame;
        const Band rows = band_rows(frame.output.shape.height, bands_, band);
        tile.y0 = rows.begin;
        tile.y1 = rows.end;
        if (look_at_samples(tile, threshold))
            slot.counts.saturated += count_saturated(tile, *threshold, slot.ages.data());
        const int width = frame.output.shape.width;
        const int tiles = (width + tile_width_ - 1) / tile_width_;
        for (int i = 0; i < tiles; ++i) {
            const Band columns = band_rows(width, tiles, i);
            tile.x0 = columns.begin;
            tile.x1 = columns.end;
            run_speckle_tile(tile, slot.scratch.get(), slot.counts);
        }
    }

    /// Chooses the band's sums by its samples; true if one of them is saturated.
    static bool look_at_samples(SpeckleTile& tile, std::optional<double> threshold) {
        const SpeckleParams& params = tile.params;
        const int shift = params.border == SpeckleParams::Border::crop ? params.radius : 0;
        const int begin = std::max(0, tile.y0 + shift - params.radius);
        const int end = std::min(tile.input.shape.height, tile.y1 + shift + params.radius);
        if (tile.input.shape.type == PixelType::f32)
            return threshold && any_saturated(tile.input, begin, end, *threshold);
        SampleRange range = sample_range(tile.input, begin, end);
        const bool saturated = threshold && range.max >= *threshold;
        if (params.border == SpeckleParams::Border::zero)
            range.min = 0;
        choose_sums(tile, range);
        return saturated;
    }

    SpeckleParams params_;
    SpeckleParams prepared_;
    int tile_width_ = 0;
    int bands_ = 1;
    std::vector<Slot> slots_;
};

} // namespace

std::unique_ptr<HostStage> make_speckle_host(const Params& params) {
    return std::make_unique<SpeckleHost>(params);
}

} // namespace specklescope
