// Stage equalize on the host, run on one image.
#pragma once

#include "tests/stages/equalize/equalize_cases.hpp"

#include <gtest/gtest.h>

namespace specklescope::test {

template <class T>
TestImage<T> run_host(const TestImage<T>& image, const EqualizeParams& values, double full_scale = 0) {
    Params params(*find_stage("equalize").table);
    params.as<EqualizeParams>() = values;
    const std::unique_ptr<HostStage> stage = find_stage("equalize").make_host(params);
    const Shape shape = stage->prepare(image.shape());
    EXPECT_EQ(shape, image.shape());
    TestImage<T> result(shape.width, shape.height, 2, shape.channels);
    FrameInfo info;
    info.full_scale = full_scale;
    PixelCounts counts;
    TestImage<T> first(shape.width, shape.height, 0, shape.channels);
    stage->run(image.view(), first.view(), {info, counts});
    stage->run(image.view(), result.view(), {info, counts}); // independent of the previous run
    for (int y = 0; y < shape.height; ++y)
        EXPECT_EQ(std::memcmp(&first.at(0, y), &result.at(0, y), shape.row_bytes()), 0);
    return result;
}

/// Number of samples that differ by more than `ulps` units in the last place of f32.
template <class T> int differences(const TestImage<T>& a, const TestImage<T>& b, double ulps = 0) {
    int count = 0;
    for (int y = 0; y < a.shape().height; ++y)
        for (int x = 0; x < a.shape().width * a.shape().channels; ++x) {
            const auto p = static_cast<double>(a.at(x, y));
            const auto q = static_cast<double>(b.at(x, y));
            const bool same = p == q || (std::isnan(p) && std::isnan(q)) ||
                              std::abs(p - q) <= ulps * 1.2e-7 * std::max(std::abs(p), std::abs(q));
            count += same ? 0 : 1;
        }
    return count;
}

} // namespace specklescope::test
