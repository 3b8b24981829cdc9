// Spatio-temporal speckle contrast on the host: the newest frame is added to the running sums of every pixel;
// these are summed over square windows, by running sums along the columns and the rows.
#include "stages/temporal/spatiotemporal.hpp"

#include "base/parallel.hpp"
#include "pipeline/counts.hpp"
#include "stages/maker.hpp"
#include "stages/speckle/simd/speckle_tile.hpp"
#include "stages/temporal/simd/temporal_row.hpp"
#include "stages/temporal/temporal.hpp"
#include "stages/temporal/temporal_sums.hpp"
#include "stages/temporal/temporal_window.hpp"

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

/// Sums of columns, with space for `radius` more on either side, and of windows.
template <class T> struct Sums {
    std::vector<T> columns[2], windows[2];

    void prepare(int width, int radius) {
        const std::size_t padded = static_cast<std::size_t>(width) + 2 * static_cast<std::size_t>(radius);
        for (int i = 0; i < 2; ++i) {
            columns[i].resize(padded);
            windows[i].resize(static_cast<std::size_t>(width));
        }
    }
};

struct alignas(64) Scratch {
    Sums<std::uint64_t> integers;
    Sums<double> reals;
    SumRows results; ///< S and D of the windows of a row
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
                scratch.reals.prepare(input.width, radius);
            else
                scratch.integers.prepare(input.width, radius);
            scratch.results.prepare(input.width);
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
        scale_ = spatiotemporal_scale(params_, step_.held, context.info);
        finish_ = contrast_finish<Space::host>(params_, static_cast<double>(window() * window()) * step_.held,
                                               correlation_.over(step_.held), input_.type, context.info,
                                               output, context.also);
        for (SlotCounts& slot : slots_)
            slot.counts = {};
        for_bands(output_.height, bands_, slots, [&](Band rows, int slot) {
            Scratch& scratch = scratch_[static_cast<std::size_t>(slot)];
            PixelCounts& counts = slots_[static_cast<std::size_t>(slot)].counts;
            if (input_.type == PixelType::f32)
                real_band(rows, scratch, output.as<float>());
            else
                integer_band(rows, scratch, output.as<float>());
            for (int y = rows.begin; y < rows.end; ++y)
                count_undefined(output.as<float>().row(y), output_.width, 1, counts);
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

    /// Columns start at index margin(); border columns are copied next to them.
    template <class T> void fill_border(std::vector<T>& columns) const {
        const Border border = params_.border;
        const int shift = margin();
        const auto at = [&](int x) -> T& { return columns.data()[x + shift]; };
        for (int i = 1; i <= shift; ++i) {
            const int left = border_index(-i, input_.width, border);
            const int right = border_index(input_.width - 1 + i, input_.width, border);
            at(-i) = left < 0 ? T{} : at(left);
            at(input_.width - 1 + i) = right < 0 ? T{} : at(right);
        }
    }

    void integer_band(Band rows, Scratch& scratch, View<float> output) const {
        Sums<std::uint64_t>& sums = scratch.integers;
        std::uint64_t* const s = sums.columns[0].data() + margin();
        std::uint64_t* const q = sums.columns[1].data() + margin();
        std::fill_n(s, input_.width, std::uint64_t{0});
        std::fill_n(q, input_.width, std::uint64_t{0});
        const auto move = [&](int y, bool enters) {
            if (const int row = row_at(y); row >= 0)
                move_columns(window_.row(row, step_), enters, s, q);
        };
        for (int y = rows.begin; y < rows.begin + window() - 1; ++y)
            move(y - margin(), true);
        const auto n = static_cast<std::uint32_t>(window() * window() * step_.held);
        for (int y = rows.begin; y < rows.end; ++y) {
            move(y - margin() + window() - 1, true);
            for (int i = 0; i < 2; ++i) {
                fill_border(sums.columns[i]);
                sum_along_row(sums.columns[i].data(), window(), output_.width, sums.windows[i].data());
            }
            if (finish_.count > 0)
                write_window_row(sums.windows[0].data(), sums.windows[1].data(), output_.width, n, finish_,
                                 scratch.results, y);
            else
                write_window_row(sums.windows[0].data(), sums.windows[1].data(), output_.width, n, scale_,
                                 output.row(y));
            move(y - margin(), false);
        }
    }

    void real_band(Band rows, Scratch& scratch, View<float> output) const {
        Sums<double>& groups = scratch.reals;
        double* const sums = groups.columns[0].data() + margin();
        double* const deviations = groups.columns[1].data() + margin();
        const double n = static_cast<double>(window()) * step_.held;
        for (int y = rows.begin; y < rows.end; ++y) {
            for (int k = 0; k < window(); ++k) {
                const int row = row_at(y - margin() + k);
                const TemporalRow pixels = window_.row(std::max(row, 0), step_);
                merge_row(row < 0 ? nullptr : &pixels, input_.width, step_.held, k, sums, deviations);
            }
            for (std::vector<double>& columns : groups.columns)
                fill_border(columns);
            double* const results[2] = {scratch.results.s<double>(), scratch.results.d<double>()};
            merge_windows(groups.columns[0].data(), groups.columns[1].data(), window(), output_.width, n,
                          results);
            if (finish_.count > 0)
                finish_contrast_row(finish_, results[0], results[1], output_.width, 0, y);
            else
                write_merged_row({results[0], results[1]}, output_.width, scale_, output.row(y));
        }
    }

    void count_saturated(Band rows, Scratch& scratch, PixelCounts& counts) const {
        SpeckleTile tile;
        tile.input = ages_.ages();
        tile.output.shape = output_;
        tile.params.radius = params_.radius;
        tile.params.border = params_.border;
        tile.y0 = rows.begin;
        tile.y1 = rows.end;
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
    ContrastScale scale_;
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
