// Arguments of the kernels for spatiotemporal contrast, and access to one pixel's running sums. For .cu files
// only.
#pragma once

#include "cuda/temporal/temporal_state.cuh"
#include "stages/border.hpp"
#include "stages/temporal/spatiotemporal.hpp"

namespace specklescope::cuda {

inline constexpr int kWalkRows = 32; ///< results per thread down a column; an estimate

struct BoxArgs {
    TemporalHistory history;
    Border border;
    int radius;
    int margin;        ///< radius; 0 with crop
    int width, height; ///< of the image
    int out_width, out_height;
    double* sums[2];         ///< f32: S and M of columns, out_height rows of width
    std::uint8_t* saturated; ///< f32: flag of a column
    MergeParts merge;        ///< f32
    std::byte* output;
    std::size_t output_pitch;
    ContrastForm form;
    double c;
    PixelCounts* counts;

    ContrastFinish finish; ///< for kernels with kFinish

    SPECKLESCOPE_BOTH std::size_t at(int x, int y) const {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
    }
};

/// A pixel in the tiles.
struct Pixel {
    int tile, lane, j;

    __device__ Pixel(const Tiles& tiles, int x, int row)
        : tile(row * tiles.across + x / kTileSamples), lane(x % kTileSamples / kLaneSamples),
          j(x % kLaneSamples) {}
    /// 8 bytes `index` of the pixel, which has `words` words of state; two pixels share a word.
    template <class V> __device__ V wide(const uint4* state, int words, int index) const {
        const uint4* const word =
            state + (static_cast<std::size_t>(tile) * words + 2 * index + j / 2) * 32 + lane;
        return reinterpret_cast<const V*>(word)[j % 2];
    }
    /// 4 bytes in word `index`.
    template <class V> __device__ V narrow(const uint4* state, int words, int index) const {
        const uint4* const word = state + (static_cast<std::size_t>(tile) * words + index) * 32 + lane;
        return reinterpret_cast<const V*>(word)[j];
    }
};

__device__ inline IntegerSums sums_at(const BoxArgs& args, const Pixel& pixel, PackedState) {
    return unpacked(pixel.wide<std::uint64_t>(args.history.state, PackedState::kWords, 0));
}
__device__ inline IntegerSums sums_at(const BoxArgs& args, const Pixel& pixel, WideState) {
    return {pixel.wide<std::uint64_t>(args.history.state, WideState::kWords, 0),
            pixel.narrow<std::uint32_t>(args.history.state, WideState::kWords, 2)};
}
__device__ inline RealGroup sums_at(const BoxArgs& args, const Pixel& pixel, RealState) {
    const double n = args.history.step.held;
    const auto s = pixel.wide<double>(args.history.state, RealState::kWords, 0);
    const auto q = pixel.wide<double>(args.history.state, RealState::kWords, 1);
    const double reference = pixel.narrow<float>(args.history.state, RealState::kWords, 4);
    return {n * reference + s, q - s * s * args.merge.inverse};
}

__device__ inline bool saturated_at(const BoxArgs& args, const Pixel& pixel) {
    const AgesOnDevice& saturation = args.history.saturation;
    return saturation.of_tiles[pixel.tile] != 0 &&
           saturation.ages[static_cast<std::size_t>(pixel.tile) * kTileSamples + pixel.lane * kLaneSamples +
                           pixel.j] != 0;
}

} // namespace specklescope::cuda
