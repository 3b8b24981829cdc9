#include "ui/canvas/pixel.hpp"

#include "pipeline/convert.hpp"

namespace specklescope {

namespace {

/// f(samples of one pixel), or nothing where there is no such pixel.
template <class F> auto at_pixel(const Frame& frame, int x, int y, F&& f) {
    using Found = std::optional<decltype(f(static_cast<const float*>(nullptr)))>;
    if (!frame || x < 0 || y < 0 || x >= frame.shape().width || y >= frame.shape().height)
        return Found();
    const ConstHostView view = frame.host();
    return dispatch(view.shape.type, [&](auto zero) {
        return Found(f(view.as<decltype(zero)>().row(y) + std::ptrdiff_t{x} * view.shape.channels));
    });
}

} // namespace

std::optional<double> grey_at(const Frame& frame, int x, int y) {
    return at_pixel(frame, x, y, [&](const auto* samples) {
        return frame.shape().channels == 3 ? double{grey_of<float>(samples, GreyChannel::luma)}
                                           : static_cast<double>(samples[0]);
    });
}

std::optional<Color> color_at(const Frame& frame, int x, int y) {
    if (!frame || frame.shape().channels != 3)
        return {};
    return at_pixel(frame, x, y, [](const auto* samples) {
        return Color{static_cast<double>(samples[0]), static_cast<double>(samples[1]),
                     static_cast<double>(samples[2])};
    });
}

} // namespace specklescope
