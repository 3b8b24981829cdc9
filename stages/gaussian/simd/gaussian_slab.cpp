// Compiled for every instruction set (Highway); the best one of the processor is called.
#include "stages/gaussian/gaussian_slab.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/gaussian/simd/gaussian_slab.cpp"
#include "base/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "stages/gaussian/simd/gaussian_bytes-inl.hpp"
#include "stages/gaussian/simd/gaussian_real-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

void RunSlab(const GaussianSlab& slab, int y0, int y1, std::byte* scratch) {
    switch (slab.input.shape.type) {
    case PixelType::u8:
        if (slab.binomial || slab.fixed)
            return RunBytes(slab, y0, y1, scratch);
        return RealSlab<std::uint8_t>(slab, scratch).run(y0, y1);
    case PixelType::u16:
        return RealSlab<std::uint16_t>(slab, scratch).run(y0, y1);
    case PixelType::f32:
        return RealSlab<float>(slab, scratch).run(y0, y1);
    }
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(RunSlab);

void run_gaussian_slab(const GaussianSlab& slab, int y0, int y1, std::byte* scratch) {
    HWY_DYNAMIC_DISPATCH(RunSlab)(slab, y0, y1, scratch);
}

std::size_t gaussian_slab_bytes(const Shape& input, int radius) {
    const SlabLayout layout(input, radius);
    return layout.bytes();
}

} // namespace specklescope
#endif
