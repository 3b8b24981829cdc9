#include "pipeline/convert.hpp"

#include "base/parallel.hpp"

#include <algorithm>

namespace specklescope {

Shape accepted_shape(const StageType& stage, const Shape& input, GreyChannel channel) {
    Shape shape = input;
    const auto accepts = [](const auto& list, auto value) {
        return std::find(list.begin(), list.end(), value) != list.end();
    };
    if (!accepts(stage.channels, shape.channels)) {
        if (shape.channels != 3 || !accepts(stage.channels, 1))
            throw UsageError("stage " + std::string(stage.name) + " does not take images of " +
                             std::to_string(shape.channels) + " channels; give it grey images.");
        shape.channels = 1;
        if (channel_index(channel) < 0)
            shape.type = PixelType::f32;
    }
    if (!accepts(stage.types, shape.type)) {
        if (!accepts(stage.types, PixelType::f32))
            throw UsageError("stage " + std::string(stage.name) + " does not take " + to_string(shape.type) +
                             " pixels. Put a stage before it that converts them.");
        shape.type = PixelType::f32;
    }
    return shape;
}

namespace {
template <class From, class To> void convert_rows(ConstHostView from, HostView to, GreyChannel channel) {
    const auto source = from.as<From>();
    const auto target = to.as<To>();
    const bool to_grey = source.channels == 3 && target.channels == 1;
    const int slots = parallel_threads();
    const int bands = band_count(source.height, slots, 16);
    run_bands(bands, slots, [&](int band, int) {
        const Band rows = band_rows(source.height, bands, band);
        for (int y = rows.begin; y < rows.end; ++y) {
            const From* in = source.row(y);
            To* out = target.row(y);
            if (to_grey)
                for (int x = 0; x < source.width; ++x)
                    out[x] = grey_of<To>(in + 3 * x, channel);
            else
                for (int x = 0; x < source.width * source.channels; ++x)
                    out[x] = static_cast<To>(in[x]);
        }
    });
}
} // namespace

void convert(ConstHostView from, HostView to, GreyChannel channel) {
    dispatch(from.shape.type, [&](auto zero) {
        using From = decltype(zero);
        if (to.shape.type == from.shape.type)
            convert_rows<From, From>(from, to, channel);
        else
            convert_rows<From, float>(from, to, channel);
    });
}

} // namespace specklescope
