// The recursive Gaussian on the device. Inside cuda/ only.
#pragma once

#include "cuda/gaussian/gaussian_blocks.hpp"
#include "cuda/gaussian/gaussian_launch.hpp"
#include "cuda/sequence.hpp"

namespace specklescope::cuda {

struct RecursivePlan {
    std::size_t memory = 0; ///< floats: contributions of all blocks, and both ends of the rows
    bool overlaps = false;  ///< see Sequence
};

struct RecursiveArgs {
    BlurImages images;
    float* memory; ///< size from RecursivePlan
};

/// For the current GPU; `border` as in LineFilter.
RecursivePlan plan_recursive(const Shape& input, Border border);
/// Columns, then rows; `columns` and `rows` are for the input's height and width.
void launch_recursive(const RecursiveArgs& args, const Shape& input, const LineFilter& columns,
                      const LineFilter& rows, const Sequence& sequence);

} // namespace specklescope::cuda
