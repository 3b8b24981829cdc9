// Counts of undefined, infinite and saturated pixels in kernels with tiles, grey and colour. A pixel of
// colour counts once, with the first of its samples that has the flag. For .cu files only.
#pragma once

#include "cuda/history.cuh"

namespace specklescope::cuda {

struct SampleFlags {
    bool undefined, infinite, saturated;
};

/// Flags of the lane's samples, a byte for each kind: sample j is bit 2 + j, after the two samples before.
struct LaneFlags {
    static constexpr unsigned kEach = 0x010101U;
    static constexpr unsigned kOwn = 0x3cU;
    unsigned bits = 0;

    /// `j` from −2 on.
    __device__ void set(int j, const SampleFlags& flags) {
        bits |= ((flags.undefined ? 1U : 0U) | (flags.infinite ? 1U << 8 : 0U) |
                 (flags.saturated ? 1U << 16 : 0U))
                << (2 + j);
    }
};

/// All lanes must call it. `again(x)` computes the SampleFlags of sample x of the row, which may be in the
/// tile before.
template <int kChannels, class Again>
__device__ inline ThreadCounts counts_of(const Place& place, LaneFlags flags, Again&& again) {
    static_assert(kLaneSamples == 4);
    if (kChannels == 3 && __any_sync(kWholeWarp, flags.bits != 0) != 0) {
        const int channel = place.x % 3;
        LaneFlags before{__shfl_up_sync(kWholeWarp, flags.bits, 1) >> 4 & 3U * LaneFlags::kEach};
        if (place.lane == 0) {
            before = {};
            for (int k = 1; k <= channel; ++k)
                before.set(-k, again(place.x - k));
        }
        const unsigned all = flags.bits | before.bits;
        unsigned second = 0; // samples that are not the first of their pixel
        unsigned third = 0;
#pragma unroll
        for (int j = 0; j < kLaneSamples; ++j) {
            const unsigned bit = LaneFlags::kEach << (2 + j);
            second |= (channel + j) % 3 >= 1 ? bit : 0U;
            third |= (channel + j) % 3 == 2 ? bit : 0U;
        }
        flags.bits &= ~((all << 1 & second) | (all << 2 & third));
    }
    const auto number = [&](int shift) {
        return static_cast<unsigned>(__popc(flags.bits & LaneFlags::kOwn << shift));
    };
    return {number(0), number(8), number(16)};
}

} // namespace specklescope::cuda
