// The recursive Gaussian of one line in independent blocks (after Nehab, Maximo, Lima, Hoppe 2011,
// "GPU-efficient recursive filtering and summed-area tables"): a block's contribution is a sum of its samples
// with precomputed weights, and lines are combined from these contributions. Inside cuda/ only.
#pragma once

#include "stages/gaussian/gaussian.hpp"

namespace specklescope::cuda {

inline constexpr int kBlockSamples = 32; ///< 64: 82.8 instead of 64.1 µs (docs/performance.md, Gaussian)
/// Number of segments in which a line's blocks are combined, a power of two. Adapting it to the length would
/// save 1.4 µs (same page).
inline constexpr int kLineSegments = 32;
inline constexpr int kSegmentPowers = 5; ///< log₂ of kLineSegments

struct Matrix3 {
    double m[3][3] = {};
};

/// States (w, d, e) as in RecursiveGaussian, for a block between zeros: Σ weight·x.
struct BlockWeights {
    float forward[3][kBlockSamples] = {};  ///< after its last sample
    float backward[3][kBlockSamples] = {}; ///< after its first sample, backward over the forward result
    float mirrored[3][kBlockSamples] = {}; ///< after its first sample, for samples read backward
};

/// For full blocks and for the last one, where missing samples have weight 0.
struct LineWeights {
    BlockWeights weights[2];
};

/// Combination of the states of a line's blocks (crop: like replicate; omit: like zero). The last block, the
/// only one that may be shorter, is separate; the blocks before it form segments, of which the first may have
/// fewer blocks.
struct LineScan {
    int size = 0;
    int blocks = 0;
    int segment_blocks = 0; ///< of every segment except the first
    int segments = 0;       ///< 0: there is only one block
    Border border = Border::replicate;
    Matrix3 power[2];   ///< a state through a block of zeros: a full one, the last
    Matrix3 through[2]; ///< a forward state before it → its contribution to the backward state there
    Matrix3 segment[kSegmentPowers]; ///< a state through 1, 2, 4 … full segments of zeros
    Matrix3 first_segment;           ///< a state through the first segment, of zeros
    Matrix3 line;                    ///< a state through a line of zeros
    Matrix3 begin; ///< reflect, wrap: forward state before the line from one period started at 0
    /// backward state after the line from the forward state there; wrap: like `begin`
    Matrix3 backward_start;

    /// First block of segment `index`; for a missing segment, the last block.
    SPECKLESCOPE_BOTH int segment_begin(int index) const {
        const int block = blocks - 1 - (segments - index) * segment_blocks;
        return block < 0 ? 0 : block > blocks - 1 ? blocks - 1 : block;
    }
};

/// Everything that depends on the filter, the length of the line and the border.
struct LineFilter : LineScan, LineWeights {
    float gain = 0, slope = 0, curve = 0;
};

LineFilter make_line_filter(const RecursiveGaussian& filter, int size, Border border);

} // namespace specklescope::cuda
