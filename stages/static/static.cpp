// Static scattering on the host: sums of columns, then of windows; rows in parallel.
#include "stages/static/static.hpp"

#include "base/parallel.hpp"
#include "pipeline/counts.hpp"
#include "stages/contrast.hpp"
#include "stages/maker.hpp"

#include <cstring>
#include <vector>

namespace specklescope {

namespace {

const ParamTable& static_table() {
    using P = StaticParams;
    static const ParamTable table =
        Declare<P>("stage static")
            .integer("radius", &P::radius,
                     {.unit = "px",
                      .min = 1,
                      .max = P::kMaxRadius,
                      .cost = Cost::rebuild,
                      .doc = "Half the side of the window: 2·radius + 1 pixels"})
            .integer("frames", &P::frames,
                     {.min = 1,
                      .max = 1000,
                      .logarithmic = true,
                      .cost = Cost::rebuild,
                      .doc = "Pairs of frames in the mean (inverse weight of the newest)"})
            .real("beta", &P::beta,
                  {.label = "Coherence β",
                   .min = 0.001,
                   .max = 1,
                   .visible = [](const P& p) { return p.output != P::Output::correlation; },
                   .doc = "Coherence factor β: the correlation of frames of a static scatterer"})
            .choice(
                "output", &P::output,
                {{"fraction", "Static part"}, {"dynamic", "Dynamic part"}, {"correlation", "Correlation"}},
                {.doc = "fraction: 1 − ρ = √(C/β), the static part of the light. dynamic: ρ. "
                        "correlation: C = ⟨I₁I₂⟩/(⟨I₁⟩⟨I₂⟩) − 1"})
            .table();
    return table;
}

Quantity static_quantity(const Params& params, const Quantity&) {
    switch (params.as<StaticParams>().output) {
    case StaticParams::Output::fraction:
        return {"static fraction", "1-ρ", "1", Measure::other};
    case StaticParams::Output::dynamic:
        return {"dynamic fraction", "ρ", "1", Measure::other};
    case StaticParams::Output::correlation:
        break;
    }
    return {"correlation of frames", "C", "1", Measure::other};
}

class StaticHost final : public StaticStage<HostStage> {
public:
    using StaticStage::StaticStage;

    Shape prepare(const Shape& input) override {
        before_.assign(input.bytes(), std::byte{});
        means_.assign(input.pixels(), 0);
        slots_ = parallel_threads();
        columns_.assign(3 * static_cast<std::size_t>(input.width) * static_cast<std::size_t>(slots_), 0);
        reset();
        return contrast_window_shape("stage static", params_.radius, false, input);
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        const bool taken = take(context.again);
        const int bands = band_count(input.shape.height, slots_, 16);
        for_bands(input.shape.height, bands, slots_, [&](Band rows, int slot) {
            if (taken)
                dispatch(input.shape.type, [&](auto zero) { add_pairs<decltype(zero)>(input, rows, slot); });
            for (int y = rows.begin; y < rows.end; ++y) {
                const float* const means = means_.data() + row(y, input.shape.width);
                float* const results = output.as<float>().row(y);
                for (int x = 0; x < input.shape.width; ++x)
                    results[x] = static_result(means[x], static_cast<float>(params_.beta), params_.output);
            }
        });
        count_undefined(output, context.counts);
        if (!taken)
            return;
        const std::size_t bytes = input.shape.row_bytes();
        for (int y = 0; y < input.shape.height; ++y)
            std::memcpy(before_.data() + static_cast<std::size_t>(y) * bytes, input.row(y), bytes);
    }

private:
    static std::size_t row(int y, int width) {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
    }

    template <class T> void add_pairs(const ConstHostView& input, Band rows, int slot) {
        const int width = input.shape.width;
        const int height = input.shape.height;
        if (!has_pair()) {
            std::fill(means_.begin() + static_cast<std::ptrdiff_t>(row(rows.begin, width)),
                      means_.begin() + static_cast<std::ptrdiff_t>(row(rows.end, width)), NAN);
            return;
        }
        const T* const before = reinterpret_cast<const T*>(before_.data());
        auto* const columns = reinterpret_cast<PairSums<T>*>(columns_.data() + 3 * row(slot, width));
        for (int y = rows.begin; y < rows.end; ++y) {
            const int top = std::max(y - params_.radius, 0);
            const int bottom = std::min(y + params_.radius, height - 1);
            std::fill_n(columns, width, PairSums<T>());
            for (int j = top; j <= bottom; ++j) {
                const T* const a = before + row(j, width);
                const T* const b = input.as<T>().row(j);
                for (int x = 0; x < width; ++x)
                    columns[x].add(a[x], b[x]);
            }
            float* const means = means_.data() + row(y, width);
            for (int x = 0; x < width; ++x) {
                const int left = std::max(x - params_.radius, 0);
                const int right = std::min(x + params_.radius, width - 1);
                PairSums<T> window;
                for (int i = left; i <= right; ++i)
                    window.add(columns[i]);
                means[x] =
                    faded(means[x], window.correlation((right - left + 1) * (bottom - top + 1)), weight());
            }
        }
    }

    std::vector<std::byte> before_;      ///< the frame before, without padding
    std::vector<float> means_;           ///< mean correlation of each pixel
    std::vector<std::uint64_t> columns_; ///< PairSums of the columns, for each slot
    int slots_ = 1;
};

} // namespace

StageType static_stage() {
    return {.name = "static",
            .doc = "Static part of the light by the correlation of consecutive frames (WcgLSI)",
            .title = "Static scattering",
            .group = StageGroup::contrast,
            .table = &static_table(),
            .channels = {1},
            .tolerance = 1e-6,
            .quantity = static_quantity,
            .make_host = host_maker<StaticHost>,
            .make_device = device_maker<make_static_device>,
            .stateful = true,
            .history = [](const Params& params) { return params.as<StaticParams>().frames; },
            .science = "Static scattering"};
}

} // namespace specklescope
