// Spatio-temporal speckle contrast on the host: the newest frame is added to the running sums of every pixel;
// these are summed over square windows, by running sums along the columns and the rows.
#include "stages/temporal/spatiotemporal.hpp"

#include "base/parallel.hpp"
#include "pipeline/counts.hpp"
#include "stages/maker.hpp"
#include "stages/speckle/simd/speckle_columns.hpp"
#include "stages/temporal/simd/temporal_row.hpp"
#include "stages/temporal/temporal.hpp"
#include "stages/temporal/temporal_sums.hpp"
#include "stages/temporal/temporal_window.hpp"

#include <hwy/aligned_allocator.h>

#include <algorithm>

namespace specklescope {

namespace {

const ParamTable& spatiotemporal_table() {
    static const ParamTable table =
        Declare<SpatiotemporalParams>("stage spatiotemporal")
            .integer(
                "radius", &SpatiotemporalParams::radius,
                {.unit = "px",
                 .min = 1,
                 .max = SpatiotemporalParams::kMaxRadius,
                 .cost = Cost::rebuild,
                 .doc = "Window radius w: (2w+1)² pixels per frame, at most the shorter side of the image"})
            .integer("frames", &SpatiotemporalParams::frames,
                     {.min = 1,
                      .max = SpatiotemporalParams::kMaxFrames,
                      .logarithmic = true,
                      .cost = Cost::rebuild,
                      .doc = "Number of frames in the window"})
            .real(
                "exposure", &SpatiotemporalParams::exposure_ms,
                {.unit = "ms",
                 .min = 0.001,
                 .max = 10000,
                 .logarithmic = true,
                 .visible = [](const SpatiotemporalParams& p) { return needs_exposure(p.output, p.extras); },
                 .doc = kExposureDoc})
            .choice("output", &SpatiotemporalParams::output, contrast_output_names(),
                    {.doc = kContrastOutputDoc})
            .choice_among("border", &SpatiotemporalParams::border, contrast_borders(),
                          {.cost = Cost::rebuild, .doc = kContrastBorderDoc})
            .part(&SpatiotemporalParams::extras, contrast_extras_table(true))
            .table();
    return table;
}

Quantity spatiotemporal_quantity(const Params& params, const Quantity&) {
    const auto& values = params.as<SpatiotemporalParams>();
    return contrast_quantity(values.output, values.extras);
}

std::vector<NamedOutput> spatiotemporal_also(const Params& params, const Quantity&) {
    return contrast_also(params.as<SpatiotemporalParams>().extras);
}

} // namespace

Shape spatiotemporal_shape(const SpatiotemporalParams& params, const Shape& input) {
    return contrast_window_shape("stage spatiotemporal", params.radius, params.border == Border::crop, input);
}

ContrastScale spatiotemporal_scale(const SpatiotemporalParams& params, int held, const FrameInfo& info) {
    const double side = 2.0 * params.radius + 1;
    return contrast_scale(params.output, side * side * held, params.exposure_ms, info);
}

namespace {

/// Columns of results whose sums stay in the L1 cache.
constexpr int kTile = 512;
constexpr int kAhead = 2; ///< prefetch distance in rows
/// Columns past the tile that are read or written with it: groups and whole vectors.
constexpr std::size_t kSlack = 64;

struct alignas(64) Scratch {
    std::vector<double> groups[WindowGroups::kLevels][2]; ///< integers: ΣI and ΣI²
    hwy::AlignedFreeUniquePtr<std::byte[]> reals;         ///< f32: of run_speckle_tile()
    SumRows results;                                      ///< S and D of windows
    SaturatedWindows windows;
    std::vector<std::uint8_t> marked; ///< per input row of a band: 1 if it has an age
};

class SpatiotemporalHost final : public ContrastOverTime<HostStage, SpatiotemporalParams> {
public:
    using ContrastOverTime::ContrastOverTime;

    Shape prepare(const Shape& input) override {
        output_ = spatiotemporal_shape(params_, input);
        input_ = input;
        const int radius = params_.radius;
        correlation_ = window_correlation(radius, params_.extras.speckle_size);
        window_.prepare("stage spatiotemporal", input, history_.frames());
        ages_.prepare(input, history_.frames());
        slots_.assign(static_cast<std::size_t>(parallel_threads()), {});
        scratch_.resize(slots_.size());
        for (Scratch& scratch : scratch_) {
            if (input.type == PixelType::f32)
                scratch.reals = hwy::AllocateAligned<std::byte>(
                    speckle_scratch_bytes(input.type, radius, speckle_tile_width(input.type), input.width));
            for (auto& level : scratch.groups)
                for (std::vector<double>& sums : level)
                    sums.assign(static_cast<std::size_t>(kTile + 2 * radius) + kSlack, 0);
            scratch.results.prepare(kTile + static_cast<int>(kSlack));
            scratch.windows = SaturatedWindows(input, radius);
            scratch.marked.resize(static_cast<std::size_t>(input.height));
        }
        // A band sums 2·radius rows before its first result.
        bands_ = band_count(output_.height, static_cast<int>(slots_.size()), std::max(16, 8 * radius));
        history_.reset();
        return output_;
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        step_ = history_.next(context.again);
        const std::optional<double> threshold = saturation_threshold(input.shape.type, context.info);
        const int slots = static_cast<int>(slots_.size());
        ages_.set_window(counted_frames_);
        if (step_.take)
            add_newest(input, threshold);
        const double samples = static_cast<double>(window() * window()) * step_.held;
        finish_ = contrast_finish<Space::host>(params_, samples, correlation_.over(step_.held), input_.type,
                                               context.info, output, context.also);
        if (finish_.count == 0) {
            finish_.samples = samples;
            finish_.add(params_.output, params_.exposure_ms, context.info, output.data, output.pitch);
        }
        for (SlotCounts& slot : slots_)
            slot.counts = {};
        for_bands(output_.height, bands_, slots, [&](Band rows, int slot) {
            Scratch& scratch = scratch_[static_cast<std::size_t>(slot)];
            PixelCounts& counts = slots_[static_cast<std::size_t>(slot)].counts;
            if (input_.type == PixelType::f32)
                real_band(rows, scratch, counts);
            else
                for (int x = 0; x < output_.width; x += kTile)
                    integer_tile(rows, x, std::min(kTile, output_.width - x), scratch, counts);
            count_saturated(rows, scratch, counts);
        });
        add_counts(slots_, context.counts);
    }

    void reset() override {
        ContrastOverTime::reset();
        ages_.reset();
    }
    std::string note() const override { return history_note(history_.frames(), window_.bytes()); }

private:
    void add_newest(ConstHostView input, std::optional<double> threshold) {
        const int slots = static_cast<int>(slots_.size());
        const int bands = band_count(input_.height, slots, 16);
        for_bands(input_.height, bands, slots, [&](Band rows, int) {
            for (int y = rows.begin; y < rows.end; ++y) {
                take_temporal_row(window_.row(y, step_), input.row(y));
                ages_.advance(y, input.row(y), threshold);
            }
        });
    }

    int window() const { return 2 * params_.radius + 1; }
    /// In image pixels, above and left of the first result's window.
    int margin() const { return params_.border == Border::crop ? 0 : params_.radius; }
    /// Image row used at `y`, which may be outside; −1: zeros.
    int row_at(int y) const { return border_index(y, input_.height, params_.border); }

    /// Results of `width` columns from x0 on.
    void integer_tile(Band rows, int x0, int width, Scratch& scratch, PixelCounts& counts) const {
        const int count = width + window() - 1;
        const int left = x0 - margin(); // image column of column 0
        const int first = std::max(0, -left);
        const int last = std::min(count, input_.width - left);
        BoxSums levels[WindowGroups::kLevels];
        for (int level = 0; level < WindowGroups::kLevels; ++level)
            levels[level] = {scratch.groups[level][0].data(), scratch.groups[level][1].data()};
        const BoxSums& columns = levels[0];
        std::fill_n(columns.s, count, 0.0);
        std::fill_n(columns.q, count, 0.0);
        const int top = WindowGroups::top_level(window());
        std::vector<BoxSums> terms;
        for (int level = top, at = 0; level >= 0; --level)
            for (const int size = WindowGroups::kGroup[level]; at + size <= window(); at += size)
                terms.push_back({levels[level].s + at, levels[level].q + at});
        const auto move = [&](int enters, int leaves) {
            const int enter = row_at(enters);
            const int leave = leaves < rows.begin - margin() ? -1 : row_at(leaves);
            const TemporalRow entering = window_.row(std::max(enter, 0), step_);
            const TemporalRow leaving = window_.row(std::max(leave, 0), step_);
            move_columns(enter < 0 ? nullptr : &entering, leave < 0 ? nullptr : &leaving,
                         window_.row(std::clamp(enters + kAhead, 0, input_.height - 1), step_), left + first,
                         last - first, {columns.s + first, columns.q + first});
        };
        const int top_row = rows.begin - margin();
        for (int y = top_row; y < top_row + window() - 1; ++y)
            move(y, top_row - 1);
        for (int y = rows.begin; y < rows.end; ++y) {
            move(y - margin() + window() - 1, y - margin() - 1);
            for (int x = 0; x < first; ++x)
                repeat(x, left, columns);
            for (int x = last; x < count; ++x)
                repeat(x, left, columns);
            for (int level = 0; level < top; ++level)
                add_three(levels[level], WindowGroups::kGroup[level], count, levels[level + 1]);
            if (finish_.corrects)
                write<double>(terms, x0, width, y, scratch.results);
            else
                write<float>(terms, x0, width, y, scratch.results);
            count_undefined(finish_.row(0, y) + x0, width, 1, counts);
        }
    }

    template <class Real>
    void write(std::span<const BoxSums> terms, int x0, int width, int y, SumRows& results) const {
        auto* const s = results.s<Real>();
        auto* const d = results.d<Real>();
        sum_windows(terms, width, finish_.samples, s, d);
        finish_contrast_row(finish_, s, d, width, x0, y);
    }

    /// Column x is outside the image; image column `left` is column 0.
    void repeat(int x, int left, const BoxSums& columns) const {
        const int from = border_index(left + x, input_.width, params_.border);
        columns.s[x] = from < 0 ? 0 : columns.s[from - left];
        columns.q[x] = from < 0 ? 0 : columns.q[from - left];
    }

    void real_band(Band rows, Scratch& scratch, PixelCounts& counts) const {
        SpeckleTile tile = tile_of(rows);
        tile.input.shape = input_;
        tile.history = &window_;
        tile.step = step_;
        tile.held = step_.held;
        tile.finish = &finish_;
        for (tile.x0 = 0; tile.x0 < output_.width; tile.x0 = tile.x1) {
            tile.x1 = std::min(tile.x0 + speckle_tile_width(input_.type), output_.width);
            run_speckle_tile(tile, scratch.reals.get(), counts);
        }
    }

    SpeckleTile tile_of(Band rows) const {
        SpeckleTile tile;
        tile.output.shape = output_;
        tile.params.radius = params_.radius;
        tile.params.border = params_.border;
        tile.y0 = rows.begin;
        tile.y1 = rows.end;
        return tile;
    }

    void count_saturated(Band rows, Scratch& scratch, PixelCounts& counts) const {
        SpeckleTile tile = tile_of(rows);
        tile.input = ages_.ages();
        tile.rows = input_rows(tile);
        bool any = false;
        for (int y = tile.rows.begin; y < tile.rows.end; ++y) {
            const bool marked = ages_.any(y);
            scratch.marked[static_cast<std::size_t>(y - tile.rows.begin)] = marked ? 1 : 0;
            any = any || marked;
        }
        if (any)
            counts.saturated += scratch.windows.count(tile, 1, scratch.marked);
    }

    HistoryStep step_; ///< of the current run
    ContrastFinish finish_;
    WindowCorrelation correlation_;
    Shape input_, output_;
    TemporalWindow window_;
    SaturatedAges ages_;
    std::vector<Scratch> scratch_;
    std::vector<SlotCounts> slots_;
    int bands_ = 1;
};

} // namespace

StageType spatiotemporal_stage() {
    return {.name = "spatiotemporal",
            .doc = "Contrast and flow over a square window of the last frames (Qiu 2010)",
            .title = "Spatiotemporal contrast",
            .group = StageGroup::contrast,
            .table = &spatiotemporal_table(),
            .channels = {1},
            .tolerance = 1e-6,
            .quantity = spatiotemporal_quantity,
            .make_host = host_maker<SpatiotemporalHost>,
            .make_device = device_maker<make_spatiotemporal_device>,
            .also = spatiotemporal_also,
            .stateful = true,
            .history = [](const Params& params) { return params.as<SpatiotemporalParams>().frames - 1; },
            .speckles =
                [](const Params& params) {
                    const auto& values = params.as<SpatiotemporalParams>();
                    return window_correlation(values.radius, values.extras.speckle_size)
                        .over(values.frames)
                        .speckles();
                }};
}

} // namespace specklescope
