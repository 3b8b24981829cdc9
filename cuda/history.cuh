// Memory layout of stages with a window: tiles of 128 samples of one row, one warp each, four samples per
// lane, so that every access is 16 bytes and adjacent to the neighbour's. Inside .cu files only.
#pragma once

#include "base/host_device.hpp"
#include "cuda/device.hpp"
#include "pipeline/counts.hpp"
#include "pipeline/stage.hpp"
#include "stages/history.hpp"

#include <cstddef>
#include <cstdint>

namespace specklescope::cuda {

// A lane's samples are at most one word of 16 bytes, a tile belongs to a warp. Threads per block: an
// estimate.
inline constexpr int kTileSamples = 128;
inline constexpr int kLaneSamples = 4;
inline constexpr int kTileThreads = 256;

/// Samples of an image (interleaved channels) in tiles.
struct Tiles {
    int width = 0;  ///< samples in a row
    int across = 0; ///< tiles in a row
    int count = 0;

    static Tiles of(const Shape& shape) {
        const int width = shape.width * shape.channels;
        const int across = (width + kTileSamples - 1) / kTileSamples;
        return {width, across, across * shape.height};
    }
    SPECKLESCOPE_BOTH std::size_t samples() const { return static_cast<std::size_t>(count) * kTileSamples; }
    unsigned blocks() const {
        constexpr int kPerBlock = kTileThreads / 32;
        return static_cast<unsigned>((count + kPerBlock - 1) / kPerBlock);
    }
};

#ifdef __CUDACC__

inline constexpr unsigned kWholeWarp = 0xffffffffU;

template <class T> struct Four;
template <> struct Four<std::uint8_t> { using Type = uchar4; };
template <> struct Four<std::uint16_t> { using Type = ushort4; };
template <> struct Four<std::uint32_t> { using Type = uint4; };
template <> struct Four<float> { using Type = float4; };

/// Four neighbours in one load or store.
template <class T> struct Samples {
    T v[kLaneSamples];

    __device__ static Samples load(const T* from) {
        const auto four = *reinterpret_cast<const typename Four<T>::Type*>(from);
        return {{four.x, four.y, four.z, four.w}};
    }
    __device__ void store(T* to) const {
        *reinterpret_cast<typename Four<T>::Type*>(to) = {v[0], v[1], v[2], v[3]};
    }
};

/// Tile and samples of this lane.
struct Place {
    int tile, row, x, lane;
    int inside; ///< number of the lane's samples inside the image: 0 … 4
    __device__ std::size_t sample() const {
        return static_cast<std::size_t>(tile) * kTileSamples + static_cast<std::size_t>(lane) * kLaneSamples;
    }
};
/// Either all or none of a warp's lanes are beyond the last tile.
__device__ inline Place place_of(const Tiles& tiles) {
    Place place{};
    place.tile = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / 32U);
    place.lane = static_cast<int>(threadIdx.x % 32U);
    place.row = place.tile / tiles.across;
    place.x = (place.tile - place.row * tiles.across) * kTileSamples + place.lane * kLaneSamples;
    place.inside = min(max(tiles.width - place.x, 0), kLaneSamples);
    return place;
}

/// Samples beyond the row's end are not read: they become zeros.
template <class T>
__device__ inline Samples<T> load_samples(const std::byte* image, std::size_t pitch, const Place& place) {
    Samples<T> samples{};
    if (place.inside == 0)
        return samples;
    samples = Samples<T>::load(
        reinterpret_cast<const T*>(image + static_cast<std::size_t>(place.row) * pitch) + place.x);
    if (place.inside < kLaneSamples) {
#pragma unroll
        for (int j = 1; j < kLaneSamples; ++j)
            if (j >= place.inside)
                samples.v[j] = T{};
    }
    return samples;
}

template <class T> __device__ inline void store_results(std::byte* image, std::size_t pitch,
                                                        const Place& place, const Samples<T>& results) {
    T* const to = reinterpret_cast<T*>(image + static_cast<std::size_t>(place.row) * pitch) + place.x;
    if (place.inside == kLaneSamples) {
        results.store(to);
        return;
    }
#pragma unroll
    for (int j = 0; j < kLaneSamples; ++j)
        if (j < place.inside)
            to[j] = results.v[j];
}

/// Word `index` of the lane's state: 16 bytes. A tile's words with one index are contiguous.
__device__ inline uint4* state_word(uint4* state, const Place& place, int words, int index) {
    return state + (static_cast<std::size_t>(place.tile) * words + index) * 32 + place.lane;
}

/// A thread's part of PixelCounts.
struct ThreadCounts {
    unsigned undefined = 0, infinite = 0, saturated = 0;

    __device__ void add(float result) {
        undefined += isnan(result) ? 1U : 0U;
        infinite += isinf(result) ? 1U : 0U;
    }
    /// Adds a pixel of several samples.
    __device__ void add_pixel(const ThreadCounts& samples) {
        undefined += samples.undefined != 0 ? 1U : 0U;
        infinite += samples.infinite != 0 ? 1U : 0U;
    }
};

/// Adds the block's sums to `counts`, once per block, since additions to one number take turns. All threads
/// of the block must call it. Warps may have returned before, except the first.
__device__ inline void count_in_block(PixelCounts& counts, const ThreadCounts& mine) {
    __shared__ unsigned sums[3];
    if (threadIdx.x < 3)
        sums[threadIdx.x] = 0;
    if (__syncthreads_or((mine.undefined | mine.infinite | mine.saturated) != 0 ? 1 : 0) == 0)
        return;
    const unsigned parts[] = {mine.undefined, mine.infinite, mine.saturated};
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        unsigned sum = parts[i];
#if __CUDA_ARCH__ >= 800
        sum = __reduce_add_sync(kWholeWarp, sum);
#else
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(kWholeWarp, sum, step);
#endif
        if (threadIdx.x % 32U == 0 && sum != 0)
            atomicAdd(&sums[i], sum);
    }
    __syncthreads();
    std::uint64_t* const totals[] = {&counts.undefined, &counts.infinite, &counts.saturated};
#pragma unroll
    for (unsigned i = 0; i < 3; ++i)
        if (threadIdx.x == i && sums[i] != 0)
            atomicAdd(reinterpret_cast<unsigned long long*>(totals[i]), sums[i]);
}

__device__ inline ThreadCounts undefined_of(const Place& place, const Samples<float>& results) {
    ThreadCounts mine;
#pragma unroll
    for (int j = 0; j < kLaneSamples; ++j)
        if (j < place.inside)
            mine.add(results.v[j]);
    return mine;
}

// --- saturation ---

/// Per sample, the number of further runs (including this one) in which its window contains a sample at full
/// scale. The maximum of each tile is stored too, so that tiles without any cost only one number.
struct AgesOnDevice {
    std::uint16_t* ages;
    std::uint32_t* of_tiles;
    int window;       ///< frames
    float full_scale; ///< 0: none
};

/// Ages of a lane's samples, in registers. All lanes of a warp must make the same calls.
struct LaneAges {
    Samples<std::uint16_t> ages{};
    std::uint32_t largest; ///< of the tile
    bool stored;

    __device__ LaneAges(const AgesOnDevice& saturation, const Place& place, bool first)
        : largest(first ? 0 : saturation.of_tiles[place.tile]), stored(!first) {
        if (largest != 0)
            ages = Samples<std::uint16_t>::load(saturation.ages + place.sample());
    }

    /// `newest`: from load_samples().
    template <class T> __device__ void add(const AgesOnDevice& saturation, const Samples<T>& newest) {
        unsigned saturated = 0;
        if (saturation.full_scale > 0)
#pragma unroll
            for (int j = 0; j < kLaneSamples; ++j)
                saturated |= static_cast<float>(newest.v[j]) >= saturation.full_scale ? 1U << j : 0U;
        if (largest == 0 && __any_sync(kWholeWarp, saturated != 0) == 0)
            return;
        unsigned oldest = 0;
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j) {
            const unsigned older = ages.v[j] - (ages.v[j] != 0 ? 1U : 0U);
            const unsigned age =
                (saturated >> j & 1U) != 0 ? static_cast<unsigned>(saturation.window) : older;
            ages.v[j] = static_cast<std::uint16_t>(age);
            oldest = max(oldest, age);
        }
        for (int step = 16; step > 0; step /= 2)
            oldest = max(oldest, __shfl_xor_sync(kWholeWarp, oldest, step));
        largest = oldest;
        stored = false;
    }

    __device__ void store(const AgesOnDevice& saturation, const Place& place) const {
        if (stored)
            return;
        ages.store(saturation.ages + place.sample());
        if (place.lane == 0)
            saturation.of_tiles[place.tile] = largest;
    }
};

/// Adds the samples (`take`, from load_samples()) and returns the lane's ages.
template <class T>
__device__ inline Samples<std::uint16_t> advance_ages(const AgesOnDevice& saturation, const Place& place,
                                                      const Samples<T>& newest, bool take, bool first) {
    LaneAges ages(saturation, place, first);
    if (take) {
        ages.add(saturation, newest);
        ages.store(saturation, place);
    }
    return ages.ages;
}

__device__ inline unsigned saturated_of(const Samples<std::uint16_t>& ages) {
    unsigned saturated = 0;
#pragma unroll
    for (int j = 0; j < kLaneSamples; ++j)
        saturated += ages.v[j] != 0 ? 1U : 0U;
    return saturated;
}

#endif

// Device memory of stages with a window. For .cu files only.

/// check_history() with the free memory of the current device.
inline void check_device_history(std::string_view stage, int frames, const HistoryBytes& bytes) {
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    check_history(stage, "the GPU", frames, bytes, free);
}

#ifdef __CUDACC__
/// Owner of the memory of AgesOnDevice.
class AgesMemory {
public:
    AgesMemory() = default;
    explicit AgesMemory(const Tiles& tiles)
        : ages_(tiles.samples() * sizeof(std::uint16_t), device_memory()),
          of_tiles_(static_cast<std::size_t>(tiles.count) * sizeof(std::uint32_t), device_memory()) {}
    static std::size_t bytes(const Tiles& tiles) {
        return tiles.samples() * sizeof(std::uint16_t) +
               static_cast<std::size_t>(tiles.count) * sizeof(std::uint32_t);
    }
    AgesOnDevice view(int window, PixelType type, const FrameInfo& info) const {
        const std::optional<double> threshold = saturation_threshold(type, info);
        return {ages_.as<std::uint16_t>(), of_tiles_.as<std::uint32_t>(), window,
                threshold ? static_cast<float>(*threshold) : 0.0F};
    }

private:
    Buffer ages_, of_tiles_;
};
#endif

} // namespace specklescope::cuda
