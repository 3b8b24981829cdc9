// Plain loops, compiled for every instruction set (Highway); the best one of the processor is called.
#include "pipeline/counts.hpp"
#include "stages/flow/flow.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/flow/simd/flow_row.cpp"
#include "base/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

void RunRow(const float* input, int width, const FlowScale& scale, const float* fixed, float* output,
            PixelCounts& counts) {
    const FlowScale s = scale; // local copy: no store can change it
    if (fixed)
        for (int x = 0; x < width; ++x)
            output[x] = flow_value(input[x], s, fixed[x]);
    else
        for (int x = 0; x < width; ++x)
            output[x] = flow_value(input[x], s);
    count_undefined(output, width, 1, counts);
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(RunRow);

void run_flow_row(const float* input, int width, const FlowScale& scale, const float* fixed, float* output,
                  PixelCounts& counts) {
    HWY_DYNAMIC_DISPATCH(RunRow)(input, width, scale, fixed, output, counts);
}

} // namespace specklescope
#endif
