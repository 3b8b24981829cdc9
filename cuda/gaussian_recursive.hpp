// The recursive Gaussian on the device. Inside cuda/ only.
#pragma once

#include "cuda/gaussian_blocks.hpp"
#include "cuda/gaussian_launch.hpp"

namespace specklescope::cuda {

struct RecursiveArgs {
    BlurImages images;
    float* between;    ///< width × height samples after the columns
    int between_pitch; ///< floats
    float* states;     ///< recursive_states() floats, of columns and then of rows
};

/// Floats for what the blocks of all lines hand on.
std::size_t recursive_states(const Shape& input, Border border);
/// Columns, then rows; `columns` and `rows` for the input's height and width.
void launch_recursive(const RecursiveArgs& args, const Shape& input, const LineFilter& columns,
                      const LineFilter& rows, cudaStream_t stream);

} // namespace specklescope::cuda
