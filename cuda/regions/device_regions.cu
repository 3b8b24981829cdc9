// One block per chunk of a region: two passes over its pixels, the second one cached. The last block combines
// the chunks, in a fixed order. blockIdx.y is the frame.
#include "cuda/regions/device_regions.hpp"

#include "cuda/device.hpp"
#include "pipeline/convert.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace specklescope::cuda {

namespace {

constexpr int kThreads = 256; ///< an estimate
constexpr int kWarps = kThreads / 32;
constexpr int kMedianThreads = 1024;
constexpr unsigned kWarp = 0xffffffffU;

/// First part of a region and the number of its parts.
struct Parts {
    std::uint32_t chunk, chunks, span, spans;
};

/// One image of each frame, all with the same pitch and type.
struct Pixels {
    const std::byte* data[kMostTogether];
    std::size_t pitch;
    PixelType type;
    int channels;
};

struct Work {
    Pixels image, saturation;
    bool saturates; ///< samples of `saturation` are counted
    GreyChannel channel;
    float threshold;
    int dx, dy;
    bool inverses;
    const RowSpan* spans;
    const RegionChunk* chunks;
    const Parts* regions;
    int count; ///< of regions
    // of each frame:
    RegionTotals* host[kMostTogether];
    RegionSums* sums;
    RegionTotals* totals;
    unsigned* done;
};

template <class F> __device__ auto of_type(const Pixels& pixels, int x, int y, F&& f) {
    const std::byte* const row = pixels.data[blockIdx.y] + static_cast<std::size_t>(y) * pixels.pitch;
    const std::size_t sample = static_cast<std::size_t>(x) * pixels.channels;
    if (pixels.type == PixelType::u8)
        return f(reinterpret_cast<const std::uint8_t*>(row) + sample);
    if (pixels.type == PixelType::u16)
        return f(reinterpret_cast<const std::uint16_t*>(row) + sample);
    return f(reinterpret_cast<const float*>(row) + sample);
}

__device__ float value_at(const Work& work, int x, int y) {
    return of_type(work.image, x, y, [&](const auto* pixel) {
        return work.image.channels == 3 ? grey_of<float>(pixel, work.channel) : static_cast<float>(pixel[0]);
    });
}

__device__ unsigned saturated_at(const Work& work, int x, int y) {
    return of_type(work.saturation, x + work.dx, y + work.dy, [&](const auto* pixel) {
        unsigned any = 0;
        for (int c = 0; c < work.saturation.channels; ++c)
            any |= static_cast<float>(pixel[c]) >= work.threshold ? 1U : 0U;
        return any;
    });
}

/// Calls f(x, y) for the block's spans: one warp per span, lanes on neighbouring pixels.
template <class F>
__device__ void over_pixels(const Work& work, std::uint32_t first, std::uint32_t count, F&& f) {
    const unsigned warps = blockDim.x / 32;
    for (std::uint32_t i = threadIdx.x / 32; i < count; i += warps) {
        const RowSpan span = work.spans[first + i];
        for (int k = static_cast<int>(threadIdx.x & 31U); k < span.length; k += 32)
            f(span.x + k, span.y);
    }
}

template <class T> __device__ T sum_of_warp(T value) {
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(kWarp, value, step);
    return value;
}

/// In the first pass `mean` is the sum.
__device__ void sum_of_warp(RegionSums& sums) {
    sums.mean = sum_of_warp(sums.mean);
    sums.inverses = sum_of_warp(sums.inverses);
    sums.valid = sum_of_warp(sums.valid);
    sums.infinite = sum_of_warp(sums.infinite);
    sums.undefined = sum_of_warp(sums.undefined);
    sums.saturated = sum_of_warp(sums.saturated);
    for (int step = 16; step > 0; step /= 2) {
        sums.min = fminf(sums.min, __shfl_xor_sync(kWarp, sums.min, step));
        sums.max = fmaxf(sums.max, __shfl_xor_sync(kWarp, sums.max, step));
    }
}

__device__ RegionSums from_lane_above(const RegionSums& sums, int step) {
    RegionSums other;
    other.mean = __shfl_down_sync(kWarp, sums.mean, step);
    other.squares = __shfl_down_sync(kWarp, sums.squares, step);
    other.inverses = __shfl_down_sync(kWarp, sums.inverses, step);
    other.min = __shfl_down_sync(kWarp, sums.min, step);
    other.max = __shfl_down_sync(kWarp, sums.max, step);
    other.valid = __shfl_down_sync(kWarp, sums.valid, step);
    other.infinite = __shfl_down_sync(kWarp, sums.infinite, step);
    other.undefined = __shfl_down_sync(kWarp, sums.undefined, step);
    other.saturated = __shfl_down_sync(kWarp, sums.saturated, step);
    return other;
}

/// Reads data written by another block, bypassing the L1 cache.
__device__ RegionSums written(const RegionSums* from) {
    RegionSums sums;
    sums.mean = __ldcg(&from->mean);
    sums.squares = __ldcg(&from->squares);
    sums.inverses = __ldcg(&from->inverses);
    sums.min = __ldcg(&from->min);
    sums.max = __ldcg(&from->max);
    sums.valid = __ldcg(&from->valid);
    sums.infinite = __ldcg(&from->infinite);
    sums.undefined = __ldcg(&from->undefined);
    sums.saturated = __ldcg(&from->saturated);
    return sums;
}

__device__ RegionSums first_pass(const Work& work, const RegionChunk& chunk) {
    RegionSums mine;
    over_pixels(work, chunk.span, chunk.spans, [&](int x, int y) {
        const float v = value_at(work, x, y);
        if (isfinite(v)) {
            mine.mean += v;
            if (work.inverses)
                mine.inverses += __fdiv_rn(1.0F, v);
            mine.min = fminf(mine.min, v);
            mine.max = fmaxf(mine.max, v);
            ++mine.valid;
        } else if (isnan(v)) {
            ++mine.undefined;
        } else {
            ++mine.infinite;
        }
        if (work.saturates)
            mine.saturated += saturated_at(work, x, y);
    });
    return mine;
}

/// Sums of the block's chunk, equal in all threads except `squares`, which is valid in thread 0.
__device__ RegionSums chunk_sums(const Work& work, const RegionChunk& chunk) {
    __shared__ alignas(16) unsigned char memory[sizeof(RegionSums) * kWarps];
    __shared__ double squares[kWarps];
    auto* const parts = reinterpret_cast<RegionSums*>(memory);
    const unsigned warp = threadIdx.x / 32;
    RegionSums mine = first_pass(work, chunk);
    sum_of_warp(mine);
    if ((threadIdx.x & 31U) == 0)
        parts[warp] = mine;
    __syncthreads();
    RegionSums all = parts[0];
    for (int i = 1; i < kWarps; ++i) {
        all.mean += parts[i].mean;
        all.inverses += parts[i].inverses;
        all.min = fminf(all.min, parts[i].min);
        all.max = fmaxf(all.max, parts[i].max);
        all.valid += parts[i].valid;
        all.infinite += parts[i].infinite;
        all.undefined += parts[i].undefined;
        all.saturated += parts[i].saturated;
    }
    if (all.valid > 0)
        all.mean /= all.valid;
    double off = 0;
    over_pixels(work, chunk.span, chunk.spans, [&](int x, int y) {
        const float v = value_at(work, x, y);
        if (isfinite(v))
            off += (v - all.mean) * (v - all.mean);
    });
    off = sum_of_warp(off);
    if ((threadIdx.x & 31U) == 0)
        squares[warp] = off;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 0; i < kWarps; ++i)
            all.squares += squares[i];
    return all;
}

__global__ void __launch_bounds__(kThreads) region_kernel(const __grid_constant__ Work work) {
    __shared__ bool last;
    RegionSums* const frame_sums = work.sums + static_cast<std::size_t>(blockIdx.y) * gridDim.x;
    const RegionSums sums = chunk_sums(work, work.chunks[blockIdx.x]);
    if (threadIdx.x == 0) {
        frame_sums[blockIdx.x] = sums;
        __threadfence(); // before other blocks are notified
        last = atomicAdd(work.done + blockIdx.y, 1U) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    const int lane = static_cast<int>(threadIdx.x & 31U);
    for (int i = static_cast<int>(threadIdx.x / 32); i < work.count; i += kWarps) {
        const Parts parts = work.regions[i];
        RegionSums whole;
        for (std::uint32_t k = lane; k < parts.chunks; k += 32)
            add_sums(whole, written(frame_sums + parts.chunk + k));
        for (int step = 16; step > 0; step /= 2) // only lane 0 has the result
            add_sums(whole, from_lane_above(whole, step));
        if (lane == 0) {
            work.totals[blockIdx.y * work.count + i].sums = whole;
            work.host[blockIdx.y][i].sums = whole;
        }
    }
    if (threadIdx.x == 0)
        work.done[blockIdx.y] = 0;
}

/// Integers in the order of the values; −0 before +0.
__device__ std::uint32_t rank_of(float v) {
    const std::uint32_t bits = __float_as_uint(v);
    return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}
__device__ float value_of(std::uint32_t rank) {
    return __uint_as_float((rank & 0x80000000U) != 0 ? rank & 0x7fffffffU : ~rank);
}

/// One block per region and frame: determines eight bits of the median's rank in each of four passes, by a
/// histogram.
__global__ void __launch_bounds__(kMedianThreads) median_kernel(const __grid_constant__ Work work) {
    __shared__ unsigned counts[256];
    __shared__ std::uint32_t prefix, next;
    /// values needed below the rest of the rank; values with the full rank
    __shared__ unsigned before, equal;
    const Parts parts = work.regions[blockIdx.x];
    RegionTotals& host = work.host[blockIdx.y][blockIdx.x];
    const unsigned valid = work.totals[blockIdx.y * work.count + blockIdx.x].sums.valid;
    if (valid == 0) {
        if (threadIdx.x == 0)
            host.median = RegionStatistics::kNone;
        return;
    }
    if (threadIdx.x == 0) {
        prefix = 0;
        next = 0xffffffffU;
        before = (valid - 1) / 2;
    }
    for (int shift = 24; shift >= 0; shift -= 8) {
        if (threadIdx.x < 256)
            counts[threadIdx.x] = 0;
        __syncthreads();
        const std::uint64_t found = prefix;
        over_pixels(work, parts.span, parts.spans, [&](int x, int y) {
            const float v = value_at(work, x, y);
            const std::uint32_t rank = rank_of(v);
            if (isfinite(v) && static_cast<std::uint64_t>(rank) >> (shift + 8) == found)
                atomicAdd(&counts[(rank >> shift) & 255U], 1U);
        });
        __syncthreads();
        if (threadIdx.x == 0) {
            unsigned bin = 0;
            while (before >= counts[bin])
                before -= counts[bin++];
            prefix = static_cast<std::uint32_t>(found << 8 | bin);
            equal = counts[bin];
        }
        __syncthreads();
    }
    // For an even number the next value is needed too: an equal one, or the smallest larger value.
    const std::uint32_t middle = prefix;
    const bool another = valid % 2 == 0 && before + 1 >= equal;
    if (another) // the same for all threads
        over_pixels(work, parts.span, parts.spans, [&](int x, int y) {
            const float v = value_at(work, x, y);
            if (isfinite(v) && rank_of(v) > middle)
                atomicMin(&next, rank_of(v));
        });
    __syncthreads();
    if (threadIdx.x == 0)
        host.median = (static_cast<double>(value_of(middle)) + value_of(another ? next : middle)) / 2;
}

std::vector<Parts> parts_of(const PlacedRegions& placed) {
    std::vector<Parts> parts;
    for (const PlacedRegion& region : placed.regions)
        parts.push_back({region.chunk, region.chunks, region.span, region.spans});
    return parts;
}

} // namespace

DeviceRegions::DeviceRegions(std::shared_ptr<const PlacedRegions> placed, int results)
    : placed_(std::move(placed)), results_(results), spans_(uploaded(placed_->spans)),
      chunks_(uploaded(placed_->chunks)), regions_(uploaded(parts_of(*placed_))) {
    const std::size_t count = std::max<std::size_t>(1, placed_->regions.size());
    const auto at_once = static_cast<std::size_t>(std::min(results, kMostTogether));
    sums_ = Buffer(at_once * std::max<std::size_t>(1, placed_->chunks.size()) * sizeof(RegionSums),
                   device_memory());
    totals_ = Buffer(at_once * count * sizeof(RegionTotals), device_memory());
    done_ = Buffer(at_once * sizeof(unsigned), device_memory());
    host_ = Buffer(count * static_cast<std::size_t>(results) * sizeof(RegionTotals), page_locked_memory());
    for (std::size_t i = 0; i < count * static_cast<std::size_t>(results); ++i)
        ::new (host_.as<RegionTotals>() + i) RegionTotals(); // the totals of an empty region
    check(cudaMemset(done_.as<void>(), 0, at_once * sizeof(unsigned)), "cudaMemset");
    check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize"); // other streams do not wait for it
}

void DeviceRegions::measure(std::span<const DeviceRegionInput> frames, cudaStream_t stream) {
    if (placed_->chunks.empty())
        return;
    const DeviceRegionInput& input = frames[0];
    const SaturationLook& look = input.saturation;
    Work work{};
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const auto add = [i](Pixels& pixels, const ConstDeviceView& view) {
            pixels.data[i] = view.data;
            pixels.pitch = view.pitch;
            pixels.type = view.shape.type;
            pixels.channels = view.shape.channels;
        };
        add(work.image, frames[i].image);
        add(work.saturation, look.in == SaturationLook::In::raw ? frames[i].raw : frames[i].image);
        work.host[i] =
            host_.as<RegionTotals>() + static_cast<std::size_t>(frames[i].place) * placed_->regions.size();
    }
    work.saturates = look.in != SaturationLook::In::nowhere;
    work.channel = input.channel;
    work.threshold = static_cast<float>(look.threshold);
    work.dx = look.dx;
    work.dy = look.dy;
    work.inverses = input.mean == RegionMean::of_inverses;
    work.spans = spans_.as<RowSpan>();
    work.chunks = chunks_.as<RegionChunk>();
    work.regions = regions_.as<Parts>();
    work.count = static_cast<int>(placed_->regions.size());
    work.sums = sums_.as<RegionSums>();
    work.totals = totals_.as<RegionTotals>();
    work.done = done_.as<unsigned>();
    const auto count = static_cast<unsigned>(frames.size());
    region_kernel<<<dim3(static_cast<unsigned>(placed_->chunks.size()), count), kThreads, 0, stream>>>(work);
    check_launch("the kernel that measures regions");
    if (!placed_->medians)
        return;
    median_kernel<<<dim3(static_cast<unsigned>(work.count), count), kMedianThreads, 0, stream>>>(work);
    check_launch("the kernel of the medians of regions");
}

std::shared_ptr<const RegionValues> DeviceRegions::values(int place, RegionMean mean,
                                                          SaturationLook::In looked) const {
    const RegionTotals* const totals =
        host_.as<RegionTotals>() + static_cast<std::size_t>(place) * placed_->regions.size();
    auto values = std::make_shared<RegionValues>();
    values->placed = placed_;
    values->mean = mean;
    for (std::size_t i = 0; i < placed_->regions.size(); ++i)
        values->statistics.push_back(
            region_statistics(totals[i].sums, placed_->regions[i], mean, looked, totals[i].median));
    return values;
}

} // namespace specklescope::cuda
