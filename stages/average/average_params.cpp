#include "stages/average/average.hpp"

namespace specklescope {

const ParamTable& average_table() {
    static const ParamTable table =
        Declare<AverageParams>("stage average")
            .integer("frames", &AverageParams::frames,
                     {.min = 1,
                      .max = 1000,
                      .logarithmic = true,
                      .cost = Cost::rebuild,
                      .doc = "window: how many of the last frames; exponential: the newest weighs 1/frames"})
            .choice("kind", &AverageParams::kind, {"window", "exponential"},
                    {.cost = Cost::rebuild,
                     .doc = "window: the last frames count alike; exponential: older ones fade, no frames "
                            "are kept"})
            .table();
    return table;
}

HistoryBytes average_bytes(const AverageParams& params, PixelType type, std::size_t samples) {
    if (params.kind == AverageParams::Kind::exponential)
        return {.frame = 0, .other = samples * sizeof(double)};
    const std::size_t sum = type == PixelType::f32 ? sizeof(LongSum) : sizeof(std::uint32_t);
    return {.frame = samples * pixel_bytes(type), .other = samples * sum};
}

double exponential_weight(int frames, std::uint64_t before) {
    const double alpha = 1.0 / frames;
    return alpha / -std::expm1(static_cast<double>(before + 1) * std::log1p(-alpha));
}

} // namespace specklescope
