#include "pipeline/regions/region_sums.hpp"

#include "base/parallel.hpp"
#include "pipeline/convert.hpp"
#include "pipeline/counts.hpp"
#include "pipeline/scale/pixel_size.hpp"

#include <algorithm>
#include <cmath>

namespace specklescope {

RegionMean region_mean(Measure measure) {
    return measure == Measure::contrast ? RegionMean::of_squares
           : measure == Measure::flow   ? RegionMean::of_inverses
                                        : RegionMean::plain;
}

SaturationLook saturation_look(const Chain& chain, const Shape& raw, const FrameInfo& raw_info,
                               const Shape& result, const FrameInfo& result_info) {
    const bool in_place = !moves_pixels(chain);
    const int dx = raw.width - result.width, dy = raw.height - result.height;
    if (const auto threshold = saturation_threshold(raw.type, raw_info);
        threshold && in_place && dx >= 0 && dy >= 0 && dx % 2 == 0 && dy % 2 == 0)
        return {SaturationLook::In::raw, *threshold, dx / 2, dy / 2};
    if (const auto threshold = saturation_threshold(result.type, result_info); threshold && !in_place)
        return {SaturationLook::In::result, *threshold, 0, 0};
    return {};
}

RegionStatistics region_statistics(const RegionSums& sums, const PlacedRegion& region, RegionMean mean,
                                   SaturationLook::In looked, double median) {
    RegionStatistics statistics;
    statistics.pixels = region.pixels;
    statistics.valid = sums.valid;
    statistics.infinite = sums.infinite;
    statistics.undefined = sums.undefined;
    if (looked != SaturationLook::In::nowhere)
        statistics.saturated = sums.saturated;
    const double n = sums.valid;
    if (mean == RegionMean::of_inverses && sums.valid + sums.infinite > 0)
        statistics.mean = (n + sums.infinite) / sums.inverses; // all infinite: ∞
    if (sums.valid == 0)
        return statistics;
    statistics.mean_of_map = sums.mean;
    if (mean != RegionMean::of_inverses)
        statistics.mean =
            mean == RegionMean::of_squares ? std::sqrt(sums.mean * sums.mean + sums.squares / n) : sums.mean;
    if (sums.valid > 1)
        statistics.std = std::sqrt(sums.squares / (n - 1));
    statistics.min = sums.min;
    statistics.max = sums.max;
    statistics.median = median;
    return statistics;
}

namespace {

/// Values of the span as f32 (16-bit integers stay exact). Returns the end.
float* copy_values(const RegionInput& input, const RowSpan& span, float* to) {
    const Shape& shape = input.image.shape;
    const auto length = static_cast<std::size_t>(span.length);
    dispatch(shape.type, [&](auto zero) {
        using T = decltype(zero);
        const T* const from =
            input.image.as<T>().row(span.y) + static_cast<std::ptrdiff_t>(span.x) * shape.channels;
        if (shape.channels == 3)
            for (std::size_t i = 0; i < length; ++i)
                to[i] = grey_of<float>(from + 3 * i, input.channel);
        else
            for (std::size_t i = 0; i < length; ++i)
                to[i] = static_cast<float>(from[i]);
    });
    return to + length;
}

/// Number of pixels with a sample at full scale.
std::uint32_t saturated_of(const RegionInput& input, const RowSpan& span) {
    const SaturationLook& look = input.saturation;
    const ConstHostView& in = look.in == SaturationLook::In::raw ? input.raw : input.image;
    return dispatch(in.shape.type, [&](auto zero) {
        using T = decltype(zero);
        const T* const from = in.as<T>().row(span.y + look.dy) +
                              static_cast<std::ptrdiff_t>(span.x + look.dx) * in.shape.channels;
        const T threshold = static_cast<T>(look.threshold);
        if (in.shape.channels == 1)
            return static_cast<std::uint32_t>(count_at_least(from, span.length, threshold));
        return static_cast<std::uint32_t>(count_pixels(from, span.length, in.shape.channels,
                                                       [threshold](T v) { return v >= threshold ? 1 : 0; }));
    });
}

} // namespace

void HostRegions::set(std::shared_ptr<const PlacedRegions> placed) {
    if (placed == placed_ && placed)
        return;
    placed_ = std::move(placed);
    sums_.clear();
    medians_.clear();
    scratch_.clear();
    if (!placed_)
        return;
    sums_.resize(placed_->chunks.size());
    scratch_.resize(static_cast<std::size_t>(parallel_threads()));
    std::size_t largest = 0;
    for (const PlacedRegion& region : placed_->regions)
        largest = std::max(largest, static_cast<std::size_t>(region.pixels));
    for (Scratch& scratch : scratch_) {
        scratch.values.resize(PlacedRegions::kChunkPixels);
        if (placed_->medians)
            scratch.region.reserve(largest);
    }
    medians_.assign(placed_->regions.size(), RegionStatistics::kNone);
}

double HostRegions::median(const RegionInput& input, const PlacedRegion& region, Scratch& scratch) const {
    std::vector<float>& values = scratch.region;
    values.resize(region.pixels); // within the reserved capacity
    float* to = values.data();
    for (std::uint32_t i = 0; i < region.spans; ++i)
        to = copy_values(input, placed_->spans[region.span + i], to);
    std::erase_if(values, [](float v) { return !std::isfinite(v); });
    if (values.empty())
        return RegionStatistics::kNone;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1)
        return *middle;
    return (static_cast<double>(*std::max_element(values.begin(), middle)) + *middle) / 2;
}

std::shared_ptr<const RegionValues> HostRegions::measure(const RegionInput& input) {
    const int slots = static_cast<int>(scratch_.size());
    const bool inverses = input.mean == RegionMean::of_inverses;
    const auto measure_chunk = [&](std::size_t index, Scratch& scratch) {
        const RegionChunk& chunk = placed_->chunks[index];
        float* end = scratch.values.data();
        std::uint32_t saturated = 0;
        for (std::uint32_t i = 0; i < chunk.spans; ++i) {
            const RowSpan& span = placed_->spans[chunk.span + i];
            end = copy_values(input, span, end);
            if (input.saturation.in != SaturationLook::In::nowhere)
                saturated += saturated_of(input, span);
        }
        const auto pixels = static_cast<std::size_t>(end - scratch.values.data());
        RegionSums& sums = sums_[index] = sums_of(scratch.values.data(), pixels, inverses);
        sums.saturated = saturated;
    };
    constexpr int kLeast = 2; // chunks of a band, an estimate
    const int chunks = static_cast<int>(sums_.size());
    if (chunks > 0)
        for_bands(chunks, band_count(chunks, slots, kLeast), slots, [&](Band band, int slot) {
            for (int i = band.begin; i < band.end; ++i)
                measure_chunk(static_cast<std::size_t>(i), scratch_[static_cast<std::size_t>(slot)]);
        });
    const int regions = static_cast<int>(placed_->regions.size());
    if (placed_->medians && regions > 0)
        run_bands(regions, slots, [&](int i, int slot) {
            const auto index = static_cast<std::size_t>(i);
            medians_[index] =
                median(input, placed_->regions[index], scratch_[static_cast<std::size_t>(slot)]);
        });
    auto values = std::make_shared<RegionValues>();
    values->placed = placed_;
    values->mean = input.mean;
    values->statistics.reserve(placed_->regions.size());
    for (std::size_t i = 0; i < placed_->regions.size(); ++i) {
        const PlacedRegion& region = placed_->regions[i];
        RegionSums whole;
        for (std::uint32_t k = 0; k < region.chunks; ++k)
            add_sums(whole, sums_[region.chunk + k]);
        values->statistics.push_back(
            region_statistics(whole, region, input.mean, input.saturation.in, medians_[i]));
    }
    return values;
}

} // namespace specklescope
