// The recursive Gaussian of one line in blocks that do not wait for each other (after Nehab, Maximo, Lima,
// Hoppe 2011, "GPU-efficient recursive filtering and summed-area tables"): what a block hands on is a sum of
// its samples with weights known beforehand, and lines are put together from these alone. Inside cuda/ only.
#pragma once

#include "stages/gaussian.hpp"

namespace specklescope::cuda {

inline constexpr int kBlockSamples = 32;
/// A line's blocks are put together in so many parts at once.
inline constexpr int kLineSegments = 16;

struct Matrix3 {
    double m[3][3] = {};
};

/// States (w, d, e) as in RecursiveGaussian, of a block whose neighbours are 0: Σ weight·x.
struct BlockWeights {
    float forward[3][kBlockSamples] = {};  ///< after its last sample
    float backward[3][kBlockSamples] = {}; ///< after its first, backward over the forward result
    float mirrored[3][kBlockSamples] = {}; ///< after its first, where the samples are read backward
};

/// Everything that depends on the filter, the length of the line and the border (crop: as replicate; omit: as
/// zero). In pairs: for whole blocks, and for the last one, whose weights are 0 where it has no samples.
struct LineFilter {
    int size = 0;
    int blocks = 0;
    int segment_blocks = 0; ///< of every segment but the last
    int segments = 0;
    Border border = Border::replicate;
    float gain = 0, slope = 0, curve = 0;
    BlockWeights weights[2];
    Matrix3 power[2];   ///< a state through a block of zeros
    Matrix3 segment[2]; ///< a state through a segment of zeros
    Matrix3 through[2]; ///< a forward state before a block → its part of the backward state there
    Matrix3 line;       ///< a state through a line of zeros
    Matrix3 begin;      ///< reflect, wrap: forward state before the line from one period begun at 0
    Matrix3 turn;       ///< backward state after the line from the forward state there; wrap: as `begin`
};

LineFilter make_line_filter(const RecursiveGaussian& filter, int size, Border border);

} // namespace specklescope::cuda
