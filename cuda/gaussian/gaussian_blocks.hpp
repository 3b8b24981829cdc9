// The recursive Gaussian of one line in blocks that do not wait for each other (after Nehab, Maximo, Lima,
// Hoppe 2011, "GPU-efficient recursive filtering and summed-area tables"): what a block hands on is a sum of
// its samples with weights known beforehand, and lines are put together from these alone. Inside cuda/ only.
#pragma once

#include "stages/gaussian/gaussian.hpp"

namespace specklescope::cuda {

inline constexpr int kBlockSamples = 32; ///< 64: 82.8 in place of 64.1 µs (docs/performance.md, Gaussian)
/// A line's blocks are put together in so many parts at once, a power of two. A number for each length of
/// line would gain 1.4 µs (the same page).
inline constexpr int kLineSegments = 32;
inline constexpr int kSegmentPowers = 5; ///< log₂ of it

struct Matrix3 {
    double m[3][3] = {};
};

/// States (w, d, e) as in RecursiveGaussian, of a block whose neighbours are 0: Σ weight·x.
struct BlockWeights {
    float forward[3][kBlockSamples] = {};  ///< after its last sample
    float backward[3][kBlockSamples] = {}; ///< after its first, backward over the forward result
    float mirrored[3][kBlockSamples] = {}; ///< after its first, where the samples are read backward
};

/// For whole blocks, and for the last one: 0 where it has no samples.
struct LineWeights {
    BlockWeights weights[2];
};

/// How the states of a line's blocks are put together (crop: as replicate; omit: as zero). The last block,
/// the only one that may be shorter, stands alone; those before it are in segments, of which the first may
/// have fewer blocks.
struct LineScan {
    int size = 0;
    int blocks = 0;
    int segment_blocks = 0; ///< of every segment but the first
    int segments = 0;       ///< 0: there is but one block
    Border border = Border::replicate;
    Matrix3 power[2];                ///< a state through a block of zeros: a whole one, the last
    Matrix3 through[2];              ///< a forward state before it → its part of the backward state there
    Matrix3 segment[kSegmentPowers]; ///< a state through 1, 2, 4 … whole segments of zeros
    Matrix3 first_segment;           ///< a state through the first segment, of zeros
    Matrix3 line;                    ///< a state through a line of zeros
    Matrix3 begin;          ///< reflect, wrap: forward state before the line from one period begun at 0
    Matrix3 backward_start; ///< backward state after the line from the forward state there; wrap: as `begin`

    /// The blocks of segment `index` begin here; those of one that does not exist where the last block does.
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
