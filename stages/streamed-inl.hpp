// Streaming store of a row of results.
#if defined(SPECKLESCOPE_STREAMED_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SPECKLESCOPE_STREAMED_INL
#undef SPECKLESCOPE_STREAMED_INL
#else
#define SPECKLESCOPE_STREAMED_INL
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Copies `count` results past the caches; both pointers are aligned to vectors. Call hwy::FlushStream() at
/// the end.
inline void stream_row(const float* from, int count, float* to) {
    const hn::ScalableTag<float> d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    int x = 0;
    for (; x + lanes <= count; x += lanes)
        hn::Stream(hn::Load(d, from + x), d, to + x);
    for (; x < count; ++x)
        to[x] = from[x];
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#endif
