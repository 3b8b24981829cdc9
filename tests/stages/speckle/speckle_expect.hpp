// Runs the host's speckle stage and compares it with the oracle.
#pragma once

#include "tests/support/oracle.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace specklescope::test {

using Output = SpeckleParams::Output;
inline constexpr Border kBorders[] = {Border::replicate, Border::reflect, Border::crop, Border::zero,
                                      Border::omit};
inline constexpr Output kOutputs[] = {Output::sfi, Output::contrast, Output::contrast2, Output::tau,
                                      Output::bfi};

struct HostResult {
    TestImage<float> image;
    PixelCounts counts;
};

template <class T>
HostResult run_host(const TestImage<T>& image, const SpeckleParams& values, const FrameInfo& info = {}) {
    Params params(*find_stage("speckle").table);
    params.as<SpeckleParams>() = values;
    const std::unique_ptr<HostStage> stage = find_stage("speckle").make_host(params);
    const Shape shape = stage->prepare(image.shape());
    HostResult result{TestImage<float>(shape.width, shape.height, 5), {}};
    constexpr float kUntouched = -77;
    for (int y = 0; y + 1 < shape.height; ++y) // padding of the output must not change
        for (int x = shape.width; x < shape.width + 5; ++x)
            result.image.at(x, y) = kUntouched;
    stage->run(image.view(), result.image.view(), {info, result.counts});
    for (int y = 0; y + 1 < shape.height; ++y)
        for (int x = shape.width; x < shape.width + 5; ++x)
            EXPECT_EQ(result.image.at(x, y), kUntouched) << "written past the end of row " << y;
    return result;
}

/// The error of K relative to the oracle must be within `allowed`, and the counts equal.
template <class T> void expect_result(const TestImage<T>& image, const SpeckleParams& params,
                                      const FrameInfo& info, const OracleResult& expected,
                                      double allowed = 1e-6) {
    const HostResult result = run_host(image, params, info);
    ASSERT_EQ(result.image.shape().width, expected.width);
    ASSERT_EQ(result.image.shape().height, expected.height);
    double worst = 0;
    int worst_x = 0;
    int worst_y = 0;
    for (int y = 0; y < expected.height; ++y)
        for (int x = 0; x < expected.width; ++x) {
            const double error = contrast_error(result.image.at(x, y), expected.at(x, y), params.output);
            if (error > worst) {
                worst = error;
                worst_x = x;
                worst_y = y;
            }
        }
    EXPECT_LE(worst, allowed) << "at column " << worst_x << ", row " << worst_y << ": "
                              << result.image.at(worst_x, worst_y) << ", expected "
                              << expected.at(worst_x, worst_y) << "; " << to_string(image.shape())
                              << ", radius " << params.radius << ", output "
                              << static_cast<int>(params.output) << ", border "
                              << static_cast<int>(params.border);
    EXPECT_EQ(result.counts.undefined, expected.counts.undefined);
    EXPECT_EQ(result.counts.infinite, expected.counts.infinite);
    EXPECT_EQ(result.counts.saturated, expected.counts.saturated)
        << to_string(image.shape()) << ", radius " << params.radius;
}

template <class T> void expect_oracle(const TestImage<T>& image, const SpeckleParams& params,
                                      const FrameInfo& info = {}, double allowed = 1e-6) {
    expect_result(image, params, info, oracle_speckle(image, params, info), allowed);
}

template <class T>
void expect_every_output(const TestImage<T>& image, SpeckleParams params, const FrameInfo& info = {}) {
    const std::vector<OracleWindow> windows = oracle_windows(image, params, info);
    for (const Output output : kOutputs) {
        params.output = output;
        expect_result(image, params, info, oracle_result(windows, image.shape(), params, info));
    }
}

inline SpeckleParams with(int radius, Output output, Border border) { return {radius, 10, output, border}; }

} // namespace specklescope::test
