// Plain loops, compiled for every instruction set (Highway); the best one of the processor is called.
#include "stages/contrast_finish.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stages/contrast_row.cpp"
#include "base/vector_targets.hpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace specklescope {
namespace HWY_NAMESPACE {

template <ContrastForm kForm, class Real>
void write_image(const ContrastFinish& finish, double c, const Real* s, const Real* d, int width, float* to) {
    const ContrastFinish f = finish; // local copy: no store can change it
    for (int x = 0; x < width; ++x) {
        if constexpr (sizeof(Real) == sizeof(float))
            to[x] = finished(f, kForm, static_cast<float>(c), f.samples, s[x], d[x]);
        else
            to[x] = finished(f, kForm, c, f.samples, {s[x], d[x]});
    }
}

template <class Real>
void write_images(const ContrastFinish& finish, const Real* s, const Real* d, int width, int x, int y) {
    for (int i = 0; i < finish.count; ++i) {
        float* const to = finish.row(i, y) + x;
        const double c = finish.images[i].c;
        switch (finish.images[i].form) {
        case ContrastForm::inverse:
            write_image<ContrastForm::inverse>(finish, c, s, d, width, to);
            break;
        case ContrastForm::square:
            write_image<ContrastForm::square>(finish, c, s, d, width, to);
            break;
        case ContrastForm::root:
            write_image<ContrastForm::root>(finish, c, s, d, width, to);
            break;
        case ContrastForm::mean:
            write_image<ContrastForm::mean>(finish, c, s, d, width, to);
            break;
        case ContrastForm::error:
            write_image<ContrastForm::error>(finish, c, s, d, width, to);
            break;
        }
    }
}

void FinishFloats(const ContrastFinish& finish, float* s, float* d, int width, int x, int y) {
    write_images(finish, s, d, width, x, y);
}

void FinishDoubles(const ContrastFinish& finish, double* s, double* d, int width, int x, int y) {
    if (finish.corrects) {
        const ContrastFinish f = finish;
        for (int i = 0; i < width; ++i) {
            const WindowSums sums = corrected(f, f.samples, {s[i], d[i]});
            s[i] = sums.s;
            d[i] = sums.d;
        }
    }
    write_images(finish, s, d, width, x, y);
}

} // namespace HWY_NAMESPACE
} // namespace specklescope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace specklescope {

HWY_EXPORT(FinishFloats);
HWY_EXPORT(FinishDoubles);

void finish_contrast_row(const ContrastFinish& finish, float* s, float* d, int width, int x, int y) {
    HWY_DYNAMIC_DISPATCH(FinishFloats)(finish, s, d, width, x, y);
}

void finish_contrast_row(const ContrastFinish& finish, double* s, double* d, int width, int x, int y) {
    HWY_DYNAMIC_DISPATCH(FinishDoubles)(finish, s, d, width, x, y);
}

} // namespace specklescope
#endif
