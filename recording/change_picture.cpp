#include "recording/change_picture.hpp"

#include "analysis/baseline_image.hpp"
#include "base/error.hpp"

#include <cmath>

namespace specklescope {

RecordedFrame ChangePicture::of(const RecordedFrame& result, const BaselineImage& baseline) {
    Shape shape = result.pixels.shape();
    const MadeWith with = made_with(result);
    if (const std::string misfit = baseline.misfit(shape, result.quantity, &with); !misfit.empty())
        throw RunError(baseline.refusal(misfit));
    shape.type = PixelType::f32;
    if (!ring_ || ring_->shape() != shape)
        ring_.emplace(shape, 1, host_memory());
    RecordedFrame change = result;
    change.pixels = ring_->acquire(std::chrono::seconds(10));
    if (!change.pixels)
        throw NoSlot();
    change.quantity = change_of(result.quantity);
    baseline.change(result.pixels.host(), change.pixels.host());
    change.counts.undefined = change.counts.infinite = 0;
    const auto values = ConstHostView(change.pixels.host()).as<float>();
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x) {
            change.counts.undefined += std::isnan(values.row(y)[x]) ? 1 : 0;
            change.counts.infinite += std::isinf(values.row(y)[x]) ? 1 : 0;
        }
    return change;
}

} // namespace specklescope
