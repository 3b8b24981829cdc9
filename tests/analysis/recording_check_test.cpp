// The check of a recording: clean simulated speckle has no finding, one fault of known size is the one
// finding. tests/check/check.py does this for hundreds of scenes with a simulation of its own.
#include "analysis/recording_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace specklescope::recording_check_test {

constexpr int kSide = 128, kFrames = 12, kSize = 3;
constexpr double kLevel = 0.1 * 4095;

/// Speckle of a static and of a moving field, each smoothed by a box of kSize pixels; 12 bits.
struct Scene {
    std::vector<std::vector<std::uint16_t>> frames;
    std::vector<FrameInfo> infos;
    double full_scale = 4095;
    explicit Scene(int shift_per_frame = 0) {
        std::mt19937_64 random(7);
        std::normal_distribution<float> normal;
        const auto field = [&] {
            std::vector<float> noise(std::size_t{kSide} * kSide * 2);
            for (float& value : noise)
                value = normal(random);
            std::vector<float> smooth(noise.size());
            for (int y = 0; y < kSide; ++y)
                for (int x = 0; x < kSide; ++x)
                    for (int j = 0; j < kSize; ++j)
                        for (int i = 0; i < kSize; ++i)
                            for (int part = 0; part < 2; ++part)
                                smooth[at(x, y, part)] +=
                                    noise[at((x + i) % kSide, (y + j) % kSide, part)] / kSize;
            return smooth;
        };
        const std::vector<float> still = field();
        for (int n = 0; n < kFrames; ++n) {
            std::vector<double> light(std::size_t{kSide} * kSide);
            for (int step = 0; step < 4; ++step) {
                const std::vector<float> moving = field();
                for (int y = 0; y < kSide; ++y)
                    for (int x = 0; x < kSide; ++x)
                        for (int part = 0; part < 2; ++part) {
                            const int from = (x + n * shift_per_frame) % kSide;
                            const float sum = still[at(from, y, part)] + moving[at(x, y, part)];
                            light[at(x, y, 0) / 2] += sum * sum / 16;
                        }
            }
            std::vector<std::uint16_t> frame;
            for (const double value : light)
                frame.push_back(static_cast<std::uint16_t>(
                    std::clamp(kLevel * value + 2 * normal(random) + 8, 0.0, 4095.0)));
            frames.push_back(std::move(frame));
            infos.emplace_back();
            infos.back().sequence = static_cast<std::uint64_t>(n);
            infos.back().capture_ns = n * 10'000'000;
        }
    }
    CheckReport report(int bursts = 2) const {
        RecordingCheck check;
        for (std::size_t i = 0; i < frames.size(); ++i) {
            if (i % (frames.size() / static_cast<std::size_t>(bursts)) == 0)
                check.begin_burst();
            std::vector<std::uint16_t> pixels = frames[i];
            FrameInfo info = infos[i];
            info.full_scale = full_scale;
            check.add(
                HostView(reinterpret_cast<std::byte*>(pixels.data()), Shape{kSide, kSide, 1, PixelType::u16}),
                info, 1);
        }
        return check.report("");
    }
    void each(const std::function<double(double value, std::size_t frame)>& change) {
        for (std::size_t i = 0; i < frames.size(); ++i)
            for (std::uint16_t& value : frames[i])
                value = static_cast<std::uint16_t>(std::min(change(value, i), 65535.0));
    }

private:
    static std::size_t at(int x, int y, int part) {
        return (static_cast<std::size_t>(y) * kSide + static_cast<std::size_t>(x)) * 2 +
               static_cast<std::size_t>(part);
    }
};

std::set<std::string> found(const CheckReport& report) {
    std::set<std::string> all;
    for (const Finding& finding : report.findings) {
        all.insert(finding.what);
        EXPECT_TRUE(std::isfinite(finding.value)) << finding.what;
        EXPECT_FALSE(finding.text.empty() || finding.effect.empty() || finding.advice.empty());
    }
    return all;
}
using Names = std::set<std::string>;

TEST(RecordingCheck, FindsNothingInCleanFramesAndMeasuresThem) {
    const CheckReport report = Scene().report();
    EXPECT_EQ(found(report), Names());
    EXPECT_EQ(report.facts.frames, kFrames);
    EXPECT_EQ(report.facts.bits, 12);
    EXPECT_NEAR(report.facts.rate_hz, 100, 1e-6);
    EXPECT_NEAR(report.facts.speckle_px, 2 * kSize * (1 - std::sqrt(0.5)), 0.4); // of a triangle squared
}

TEST(RecordingCheck, FindsFaultsOfValues) {
    Scene bright;
    bright.each([](double value, std::size_t) { return std::min(4 * value, 4095.0); });
    EXPECT_TRUE(found(bright.report()).contains("saturation"));
    Scene shifted;
    shifted.each([](double value, std::size_t) { return 16 * value; });
    shifted.full_scale = 65520;
    EXPECT_EQ(found(shifted.report()), Names{"alignment"});
    Scene offset;
    offset.each([](double value, std::size_t) { return value + 2 * kLevel; });
    EXPECT_EQ(found(offset.report()), Names{"black"});
    Scene coarse;
    coarse.each([](double value, std::size_t) { return std::floor(value / 400); });
    EXPECT_TRUE(found(coarse.report()).contains("levels"));
    Scene empty;
    empty.each([](double, std::size_t) { return 100; });
    EXPECT_TRUE(found(empty.report()).contains("empty"));
}

TEST(RecordingCheck, FindsFaultsOfTime) {
    Scene repeated;
    repeated.frames[4] = repeated.frames[3];
    EXPECT_EQ(found(repeated.report()), Names{"repeated"});
    Scene missing;
    for (std::size_t i = 3; i < missing.infos.size(); ++i)
        missing.infos[i].capture_ns += 20'000'000;
    const CheckReport report = missing.report();
    ASSERT_EQ(found(report), Names{"missing"});
    EXPECT_EQ(report.findings[0].value, 2);
    Scene unsteady;
    for (std::size_t i = 0; i < unsteady.infos.size(); i += 2)
        unsteady.infos[i].capture_ns += 1'500'000;
    EXPECT_EQ(found(unsteady.report()), Names{"clock"});
    Scene back;
    back.infos[4].capture_ns = 0;
    EXPECT_TRUE(found(back.report()).contains("clock"));
}

TEST(RecordingCheck, FindsFaultsOfLight) {
    Scene exposures;
    exposures.infos[5].exposure_ms = 5;
    exposures.infos[6].exposure_ms = 10;
    EXPECT_EQ(found(exposures.report()), Names{"exposure"});
    Scene step;
    step.each([](double value, std::size_t frame) { return frame < 7 ? value : 1.3 * value; });
    EXPECT_TRUE(found(step.report()).contains("exposure"));
    Scene flicker;
    flicker.each([](double value, std::size_t frame) { return frame % 2 == 0 ? value : 1.1 * value; });
    EXPECT_TRUE(found(flicker.report()).contains("flicker"));
}

TEST(RecordingCheck, FindsMotion) {
    const CheckReport report = Scene(1).report();
    ASSERT_TRUE(found(report).contains("drift"));
    const CheckReport whole = Scene(0).report();
    EXPECT_FALSE(found(whole).contains("shake"));
}

TEST(RecordingCheck, MeasuresAShiftToAPartOfAPixel) {
    RecordingCheck::Excerpt a{.width = 96, .height = 96, .values = std::vector<float>(96 * 96)}, b = a;
    const auto wave = [](double x, double y) {
        double sum = 0;
        for (int k = 1; k < 8; ++k)
            sum += std::sin(0.09 * k * x + 0.01 * k * k * y + k) + std::cos(0.11 * k * y - 0.012 * k * k * x);
        return static_cast<float>(sum);
    };
    for (int y = 0; y < 96; ++y)
        for (int x = 0; x < 96; ++x) {
            a.values[static_cast<std::size_t>(y * 96 + x)] = wave(x, y);
            b.values[static_cast<std::size_t>(y * 96 + x)] = wave(x - 2.3, y + 1.2);
        }
    const RecordingCheck::Shift shift = find_shift(a, b);
    EXPECT_NEAR(shift.x, 2.3, 0.1);
    EXPECT_NEAR(shift.y, -1.2, 0.1);
}

TEST(RecordingCheck, TakesSmallAndFloatFrames) {
    for (const Shape shape :
         {Shape{1, 1, 1, PixelType::u8}, Shape{7, 5, 3, PixelType::u8}, Shape{64, 2, 1, PixelType::f32}}) {
        std::vector<std::byte> pixels(shape.bytes());
        RecordingCheck check;
        for (int i = 0; i < 3; ++i)
            check.add(HostView(pixels.data(), shape), {}, 1);
        const CheckReport report = check.report("");
        EXPECT_EQ(report.facts.frames, 3);
        EXPECT_TRUE(found(report).contains("empty"));
        EXPECT_TRUE(found(report).contains("still"));
    }
    EXPECT_TRUE(RecordingCheck().report("").findings.empty());
}

} // namespace specklescope::recording_check_test
