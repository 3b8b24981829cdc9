// Conversion from speckle contrast to flow as a separate stage: K² can be averaged first and converted
// afterwards. Parameters, declaration and arithmetic shared by host and device.
#pragma once

#include "base/host_device.hpp"
#include "pipeline/stage.hpp"
#include "stages/contrast.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace specklescope {

/// Relation between K² and x = T/τc (docs/science.md, Flow by a model).
enum class FlowModel : std::uint8_t {
    simplified, ///< K² = β/(2x), the limit of long exposures (Yang 2011, eq. 3)
    lorentzian, ///< field correlation exp(−t/τc), n = 1 (Bandyopadhyay 2005)
    gaussian,   ///< exp(−(t/τc)²), n = 2 (Duncan, Kirkpatrick 2008)
    sqrt,       ///< exp(−√(t/τc)), n = ½ (Postnov 2020)
    velocity    ///< K² = β(1 − e^(−2x))/(2x) (Fercher, Briers 1981)
};

/// Each sample K or K², f32, one channel, becomes an index in 1/s, a correlation time in s, or bfi = 1/K².
/// With the simplified model the index is β/(2·T·K²) and tau 2·T·K²/β (Yang 2011, eqs. 3 and 2); K = 0 gives
/// an infinite index. With the others they are 1/τc and τc of the model; K² of β and more, and with static
/// light K² of β(1 − ρ)² and less, is out of its reach and gives NaN, as do NaN and negative samples.
/// speckle:output=contrast2 | flow equals speckle:output=sfi up to the rounding of K².
struct FlowParams {
    /// error: relative standard error of the index and of tau, from that of K² by the slope of the model.
    enum class Output : std::uint8_t { index, tau, bfi, error };

    ContrastInput input = ContrastInput::automatic;
    Output output = Output::index;
    double exposure_ms = 10;
    FlowModel model = FlowModel::simplified;
    double beta = 1;       ///< coherence factor β, 0 < β ≤ 1
    double fixed_part = 0; ///< 1 − ρ: part of the light from static scatterers; models of a field only
    /// file: 1 − ρ of each pixel from fixed_file.
    enum class StaticFrom : std::uint8_t { number, file } fixed_from = StaticFrom::number;
    std::string fixed_file;
    unsigned also = 0;   ///< named outputs: bit i for Output i
    double speckles = 0; ///< Quantity::speckles of the input; settled
};

/// The input's shape. Throws UsageError if input = auto is not settled.
Shape flow_shape(const FlowParams& params, const Shape& input);

/// True if the static part comes from a file, and the model has static light.
bool has_static_map(const FlowParams& params);
/// 1 − ρ of each pixel, and a note about pixels without one.
struct StaticMap {
    std::vector<float> plane; ///< rows of `stride` samples; NaN where it is unknown or outside 0…1
    std::string note;
};
/// Reads fixed_file, whose last page counts; a recording of ρ is converted. Empty without a map. Throws
/// UsageError if the file is not set or not readable, has another size, or has values outside 0…1 in most
/// pixels.
StaticMap read_static_map(const FlowParams& params, const Shape& input, std::size_t stride);

inline constexpr int kFlowSteps = 1024;
inline constexpr int kStaticSteps = 32;
/// h(y) at y = 0, 1/kFlowSteps, …, 1 for x = h(y)·(1 − y)^p/y, computed in double; y is K²/β without the
/// static part, from 0 to 1, and p is 1, ½ (gaussian) or 2 (sqrt). h is smooth and of the order of 1, so that
/// lines between its values are within 2e-6 of x for x from 1e-3 to 1e4. Empty for the simplified model. With
/// a map it has one table after the other for static parts of 0, 1/kStaticSteps, …, 1.
std::vector<float> flow_table(const FlowParams& params);

/// K² is the sample or its square; the result is c/v or c·v, where v is K², or x with a table.
struct FlowScale {
    bool squares = false;
    bool divides = true;
    float c = 1;
    const float* table = nullptr; ///< flow_table(); null: none
    float per_beta = 1;           ///< y = (K²·per_beta − floor)·gain
    float floor = 0, gain = 1;
    FlowModel model = FlowModel::simplified;
    float speckles = 0; ///< the result is the relative standard error; 0: it is not
};
/// `params` after settling; `table`: null or flow_table() where the stage runs.
FlowScale flow_scale(const FlowParams& params, FlowParams::Output output, const FrameInfo& info,
                     const float* table);
/// The named outputs, in the order of the enumeration.
std::vector<FlowParams::Output> named_flows(const FlowParams& params);

/// h at a place in the table; y is 0 if K² is out of the model's reach.
struct FlowPlace {
    bool reached;
    float y, rise, h; ///< rise of h to the next value of the table
    float fixed;      ///< y of the static light
};
/// Position in one table: `step` of the way from value i to the next.
struct FlowStep {
    bool reached;
    float y, step;
    int i;
};
SPECKLESCOPE_BOTH inline FlowStep flow_step(float contrast2, float per_beta, float floor, float gain) {
    const float y = product(sum(product(contrast2, per_beta), -floor), gain);
    const bool reached = y >= 0 && y < 1;
    const float place = product(reached ? y : 0.0F, static_cast<float>(kFlowSteps));
    const int i = static_cast<int>(place);
    return {reached, y, sum(place, -static_cast<float>(i)), i};
}
SPECKLESCOPE_BOTH inline FlowPlace flow_place(float contrast2, const FlowScale& scale) {
    const FlowStep at = flow_step(contrast2, scale.per_beta, scale.floor, scale.gain);
    const float low = scale.table[at.i];
    const float rise = sum(scale.table[at.i + 1], -low);
    return {at.reached, at.y, rise, sum(low, product(at.step, rise)), product(scale.floor, scale.gain)};
}
/// With the static part of this pixel: a cubic through the four tables around it. NaN is out of reach.
SPECKLESCOPE_BOTH inline FlowPlace flow_place(float contrast2, const FlowScale& scale, float fixed) {
    const bool known = fixed >= 0 && fixed < 1;
    const float part = known ? fixed : 0.0F;
    const float floor = product(part, part);
    const float gain = 1 / product(sum(1, -part), sum(1, part));
    const FlowStep at = flow_step(contrast2, scale.per_beta, floor, gain);
    const float place = product(part, static_cast<float>(kStaticSteps));
    const int below = static_cast<int>(place) - 1;
    const int first = below < 0 ? 0 : below > kStaticSteps - 3 ? kStaticSteps - 3 : below;
    const float a = sum(place, -static_cast<float>(first)), b = sum(a, -1), c = sum(a, -2), d = sum(a, -3);
    const float weights[4] = {
        product(product(product(b, c), d), -1.0F / 6), product(product(product(a, c), d), 0.5F),
        product(product(product(a, b), d), -0.5F), product(product(product(a, b), c), 1.0F / 6)};
    const float* const table = scale.table + first * (kFlowSteps + 1) + at.i;
    float low = 0, next = 0;
    for (int j = 0; j < 4; ++j) {
        low = sum(low, product(weights[j], table[j * (kFlowSteps + 1)]));
        next = sum(next, product(weights[j], table[j * (kFlowSteps + 1) + 1]));
    }
    const float rise = sum(next, -low);
    return {known && at.reached, at.y, rise, sum(low, product(at.step, rise)), product(floor, gain)};
}

/// x of a K² by the table; NaN if it is out of the model's reach.
SPECKLESCOPE_BOTH inline float flow_x(const FlowPlace& at, const FlowScale& scale) {
    const float rest = sum(1.0F, -at.y);
    const float power = scale.model == FlowModel::gaussian ? std::sqrt(rest)
                        : scale.model == FlowModel::sqrt   ? product(rest, rest)
                                                           : rest;
    return at.reached ? product(at.h, power) / at.y : NAN;
}

/// −d ln x/d ln K², from x = h·(1 − y)^p/y; NaN if K² is out of the model's reach.
SPECKLESCOPE_BOTH inline float flow_slope(const FlowPlace& at, const FlowScale& scale) {
    const float p = scale.model == FlowModel::gaussian ? 0.5F : scale.model == FlowModel::sqrt ? 2.0F : 1.0F;
    const float bend = product(at.y, product(at.rise, static_cast<float>(kFlowSteps)) / at.h);
    const float by_y = sum(sum(1.0F, product(p, at.y) / sum(1.0F, -at.y)), -bend);
    const float of_y = sum(at.y, at.fixed) / at.y;
    return at.reached ? product(by_y, of_y) : NAN;
}

/// Relative standard error of K² from a number of independent speckles (docs/science.md, Standard errors).
SPECKLESCOPE_BOTH inline float flow_error(float contrast2, float speckles) {
    const float bounded = sum(1.0F, product(4, contrast2) / speckles);
    return std::sqrt(product(2, sum(1.0F, contrast2)) / speckles) / bounded;
}

/// Every operation is rounded once: the same bits on host and device. `fixed`: the static part of the pixel
/// in a map, or nothing.
template <class... Fixed>
SPECKLESCOPE_BOTH inline float flow_value(float sample, const FlowScale& scale, Fixed... fixed) {
    const float contrast2 = scale.squares ? product(sample, sample) : std::fabs(sample); // removes −0
    if (scale.speckles > 0) {
        const float slope = scale.table ? flow_slope(flow_place(contrast2, scale, fixed...), scale) : 1.0F;
        return sample >= 0 ? product(slope, flow_error(contrast2, scale.speckles)) : NAN;
    }
    const float v = scale.table ? flow_x(flow_place(contrast2, scale, fixed...), scale) : contrast2;
    const float value = scale.divides ? scale.c / v : product(scale.c, v);
    return sample >= 0 ? value : NAN;
}

StageType flow_stage();
std::unique_ptr<DeviceStage> make_flow_device(const Params& params);

/// flow_value() of every sample; adds undefined and infinite results to `counts`. `fixed`: null: no map.
void run_flow_row(const float* input, int width, const FlowScale& scale, const float* fixed, float* output,
                  PixelCounts& counts);

} // namespace specklescope
