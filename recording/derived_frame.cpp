#include "recording/derived_frame.hpp"

#include "analysis/baseline_image.hpp"
#include "base/error.hpp"
#include "pipeline/counts.hpp"

#include <algorithm>
#include <chrono>
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

namespace {
template <class T> void mark(ConstHostView from, double threshold, HostView to) {
    const auto limit = static_cast<T>(threshold);
    const int samples = from.shape.width * from.shape.channels;
    for (int y = 0; y < from.shape.height; ++y) {
        const auto* row = reinterpret_cast<const T*>(from.row(y));
        std::byte* marks = to.row(y);
        for (int x = 0; x < samples; ++x)
            marks[x] = row[x] >= limit ? std::byte{255} : std::byte{0};
    }
}
} // namespace

RecordedFrame SaturationMask::of(const RecordedFrame& raw) {
    Shape shape = raw.pixels.shape();
    const PixelType type = shape.type;
    shape.type = PixelType::u8;
    if (!ring_ || ring_->shape() != shape)
        ring_.emplace(shape, 1, host_memory());
    RecordedFrame mask = raw;
    mask.pixels = ring_->acquire(std::chrono::seconds(10));
    mask.quantity = {"saturation mask", "", ""};
    mask.info.full_scale = type_full_scale(PixelType::u8);
    const ConstHostView from = raw.pixels.host();
    const HostView to = mask.pixels.host();
    const std::optional<double> threshold = saturation_threshold(type, raw.info);
    if (!threshold) // float without a full scale
        for (int y = 0; y < shape.height; ++y)
            std::fill_n(to.row(y), shape.row_bytes(), std::byte{0});
    else if (type == PixelType::u8)
        mark<std::uint8_t>(from, *threshold, to);
    else if (type == PixelType::u16)
        mark<std::uint16_t>(from, *threshold, to);
    else
        mark<float>(from, *threshold, to);
    return mask;
}

} // namespace specklescope
