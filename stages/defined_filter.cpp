#include "stages/defined_filter.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>

namespace specklescope {

namespace {

template <class F> void each_filter_row(int rows, F&& f) {
    constexpr int kLeastRows = 16; // of a band, an estimate
    const int slots = parallel_threads();
    for_bands(rows, band_count(rows, slots, kLeastRows), slots, [&](Band band, int) {
        for (int y = band.begin; y < band.end; ++y)
            f(y);
    });
}

} // namespace

void DefinedFilter::prepare(const Shape& input, const Shape& output, const FilterNorm& norm) {
    input_ = input;
    output_ = output;
    norm_ = norm;
    if (input.type != PixelType::f32)
        return;
    // Unwritten pages use no memory.
    values_ = hwy::AllocateAligned<float>(input.samples());
    mask_ = hwy::AllocateAligned<float>(input.samples());
    weights_ = hwy::AllocateAligned<float>(output.samples());
    if (!values_ || !mask_ || !weights_)
        throw RunError("There is no memory for a filter of " + std::to_string(input.width) + "×" +
                       std::to_string(input.height) + " pixels. Use smaller images.");
}

float DefinedFilter::offset_of(ConstHostView input) {
    const auto view = input.as<const float>();
    float low = HUGE_VALF;
    float high = -HUGE_VALF;
    for (int j = 0; j < kOffsetPlaces; ++j)
        for (int i = 0; i < kOffsetPlaces; ++i)
            for (int c = 0; c < view.channels; ++c) {
                const float sample =
                    view.row(offset_place(j, view.height))[offset_place(i, view.width) * view.channels + c];
                low = is_sample(sample) ? std::min(low, sample) : low;
                high = is_sample(sample) ? std::max(high, sample) : high;
            }
    return common_offset(low, high);
}

bool DefinedFilter::split(ConstHostView input, float offset) const {
    const int count = input_.width * input_.channels;
    std::atomic<bool> holes = false;
    each_filter_row(input_.height, [&](int y) {
        const float* const from = input.as<const float>().row(y);
        float* const value = values().as<float>().row(y);
        float* const mark = mask().as<float>().row(y);
        bool any = false;
        for (int x = 0; x < count; ++x) {
            const bool is = is_sample(from[x]);
            value[x] = is ? from[x] - offset : 0;
            mark[x] = norm_.mask(is, x, y);
            any |= !is;
        }
        if (any)
            holes = true;
    });
    return holes;
}

void DefinedFilter::combine(HostView output, bool holes, float offset) const {
    const int channels = output_.channels;
    each_filter_row(output_.height, [&](int y) {
        float* const result = output.as<float>().row(y);
        const float* const weight = weights().as<float>().row(y);
        for (int x = 0; x < output_.width * channels; ++x)
            result[x] =
                normalised(norm_, channels == 3 ? x % 3 : 0, result[x], holes, holes ? weight[x] : 1, offset);
    });
}

} // namespace specklescope
