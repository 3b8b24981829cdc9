#include "stages/temporal/saturated_ages.hpp"

#include <algorithm>

namespace specklescope {

namespace {

template <class T> bool any_at(const T* samples, int width, T limit) {
    bool any = false;
    for (int x = 0; x < width; ++x)
        any |= samples[x] >= limit;
    return any;
}

template <class T>
void take_in(const T* samples, int width, T limit, std::uint16_t window, std::uint16_t* ages) {
    for (int x = 0; x < width; ++x)
        ages[x] = samples[x] >= limit ? window : ages[x];
}

} // namespace

void SaturatedAges::prepare(const Shape& shape, int window) {
    shape_ = shape;
    window_ = static_cast<std::uint16_t>(window);
    ages_.resize(shape.pixels());
    of_rows_.resize(static_cast<std::size_t>(shape.height));
    reset();
}

void SaturatedAges::reset() {
    std::fill(ages_.begin(), ages_.end(), std::uint16_t{0});
    std::fill(of_rows_.begin(), of_rows_.end(), std::uint16_t{0});
}

const std::uint16_t* SaturatedAges::row(int y) const {
    return of_rows_[static_cast<std::size_t>(y)] == 0
               ? nullptr
               : ages_.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(shape_.width);
}

std::uint64_t SaturatedAges::advance(int y, const std::byte* newest, std::optional<double> threshold) {
    const int width = shape_.width;
    std::uint16_t* const ages = ages_.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
    std::uint16_t& oldest = of_rows_[static_cast<std::size_t>(y)];
    if (newest && oldest != 0)
        for (int x = 0; x < width; ++x)
            ages[x] = static_cast<std::uint16_t>(ages[x] - (ages[x] != 0));
    oldest = static_cast<std::uint16_t>(oldest - (newest && oldest != 0 ? 1 : 0));
    if (newest && threshold)
        dispatch(shape_.type, [&](auto zero) {
            using T = decltype(zero);
            const T* const samples = reinterpret_cast<const T*>(newest);
            const auto limit = static_cast<T>(*threshold);
            if (!any_at(samples, width, limit))
                return;
            take_in(samples, width, limit, window_, ages);
            oldest = window_;
        });
    if (oldest == 0)
        return 0;
    return static_cast<std::uint64_t>(
        std::count_if(ages, ages + width, [](std::uint16_t age) { return age != 0; }));
}

} // namespace specklescope
