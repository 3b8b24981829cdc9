#include "stages/temporal/temporal_window.hpp"

#include "pipeline/counts.hpp"

#include <algorithm>

namespace specklescope {

HistoryBytes temporal_bytes(PixelType type, std::size_t pixels, int frames) {
    const std::size_t sums = type == PixelType::f32          ? kRealSumsBytes
                             : narrow_sums_fit(type, frames) ? sizeof(std::uint32_t)
                             : packed_sums_fit(type, frames) ? sizeof(std::uint64_t)
                                                             : kWideSumsBytes;
    return {.frame = pixels * pixel_bytes(type), .other = pixels * sums};
}

void TemporalWindow::prepare(std::string_view stage, const Shape& shape, int frames) {
    constexpr std::size_t kAlignment = 64; // samples: rows of every plane start on 64 bytes
    shape_ = shape;
    frames_ = frames;
    pitch_ = (static_cast<std::size_t>(shape.width) + kAlignment - 1) / kAlignment * kAlignment;
    bytes_ = temporal_bytes(shape.type, pitch_ * static_cast<std::size_t>(shape.height), frames);
    ring_.reset();
    sums_.reset();
    check_history(stage, "this computer", frames, bytes_, available_host_memory());
    const std::size_t ring = bytes_.frame * static_cast<std::size_t>(frames);
    ring_ = hwy::AllocateAligned<std::byte>(ring);
    sums_ = hwy::AllocateAligned<std::byte>(bytes_.other);
    if (!ring_ || !sums_)
        throw UsageError(std::string(stage) + ": no room for " + std::to_string(ring + bytes_.other) +
                         " bytes of frames; use fewer frames.");
}

TemporalRow TemporalWindow::row(int y, const HistoryStep& step) const {
    const std::size_t plane = pitch_ * static_cast<std::size_t>(shape_.height);
    const std::size_t first = pitch_ * static_cast<std::size_t>(y);
    TemporalRow row;
    row.type = shape_.type;
    row.width = shape_.width;
    row.y = y;
    row.ring = ring_.get() + first * pixel_bytes(shape_.type);
    row.slot_bytes = bytes_.frame;
    row.frames = frames_;
    row.step = step;
    auto* const doubles = reinterpret_cast<double*>(sums_.get());
    if (shape_.type == PixelType::f32) {
        auto* const floats = reinterpret_cast<float*>(doubles + 2 * plane);
        row.real_s = doubles + first;
        row.real_q = doubles + plane + first;
        row.reference = floats + first;
        row.peak = floats + plane + first;
        return row;
    }
    if (narrow_sums_fit(shape_.type, frames_)) {
        row.narrow = reinterpret_cast<std::uint32_t*>(sums_.get()) + first;
        return row;
    }
    auto* const packed = reinterpret_cast<std::uint64_t*>(sums_.get());
    row.packed = packed + first;
    if (!packed_sums_fit(shape_.type, frames_))
        row.wide = reinterpret_cast<std::uint32_t*>(packed + plane) + first;
    return row;
}

namespace {

template <class T>
void take_in(const T* samples, int width, T limit, std::uint16_t window, std::uint16_t* ages) {
    for (int x = 0; x < width; ++x)
        ages[x] = samples[x] >= limit ? window : ages[x];
}

} // namespace

void SaturatedAges::prepare(const Shape& shape, int window) {
    shape_ = {shape.width, shape.height, 1, shape.type};
    window_ = static_cast<std::uint16_t>(window);
    blocks_ = (shape.width + kBlock - 1) / kBlock;
    ages_.resize(shape.pixels());
    of_blocks_.resize(static_cast<std::size_t>(blocks_) * static_cast<std::size_t>(shape.height));
    reset();
}

void SaturatedAges::reset() {
    std::fill(ages_.begin(), ages_.end(), std::uint16_t{0});
    std::fill(of_blocks_.begin(), of_blocks_.end(), std::uint16_t{0});
}

bool SaturatedAges::any(int y) const {
    const std::uint16_t* const first = of_blocks_.data() + first_block(y);
    return std::any_of(first, first + blocks_, [](std::uint16_t oldest) { return oldest != 0; });
}

ConstHostView SaturatedAges::ages() const {
    return {reinterpret_cast<const std::byte*>(ages_.data()),
            {shape_.width, shape_.height, 1, PixelType::u16}};
}

void SaturatedAges::advance(int y, const std::byte* newest, std::optional<double> threshold) {
    std::uint16_t* oldest = of_blocks_.data() + first_block(y);
    dispatch(shape_.type, [&](auto zero) {
        using T = decltype(zero);
        const T* const samples = reinterpret_cast<const T*>(newest);
        const auto limit = threshold ? static_cast<T>(*threshold) : T{};
        const bool any = threshold && count_at_least(samples, shape_.width, limit) > 0;
        for (int x = 0; x < shape_.width; x += kBlock, ++oldest) {
            const int width = std::min(kBlock, shape_.width - x);
            std::uint16_t* const ages = ages_.data() + first_pixel(y) + x;
            if (*oldest != 0) {
                for (int i = 0; i < width; ++i)
                    ages[i] = static_cast<std::uint16_t>(ages[i] - (ages[i] != 0));
                --*oldest;
            }
            if (any && count_at_least(samples + x, width, limit) > 0) {
                take_in(samples + x, width, limit, window_, ages);
                *oldest = std::max(*oldest, window_);
            }
        }
    });
}

std::uint64_t SaturatedAges::count(int y) const {
    std::uint64_t count = 0;
    const std::uint16_t* oldest = of_blocks_.data() + first_block(y);
    for (int x = 0; x < shape_.width; x += kBlock, ++oldest)
        if (*oldest != 0)
            count += count_at_least(ages_.data() + first_pixel(y) + x, std::min(kBlock, shape_.width - x),
                                    std::uint16_t{1});
    return count;
}

} // namespace specklescope
