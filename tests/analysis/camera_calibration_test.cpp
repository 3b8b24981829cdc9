// Photon transfer, bad pixels and static speckle, from simulated sensors whose values are known.
#include "analysis/camera_calibration.hpp"
#include "base/error.hpp"
#include "base/round_pupil.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <fftw3.h>
#include <functional>
#include <numbers>

namespace specklescope::camera_calibration_test {

using test::test_random;

constexpr int kSide = 128;
constexpr double kFull = 4095;

struct Sensor {
    double gain = 0.37, read_noise = 2.1, black = 64;
};

/// A recording of `frames` frames with these electrons a pixel.
CalibrationRecording recorded(const Sensor& sensor,
                              const std::function<double(int x, int y, int frame)>& electrons, int frames,
                              std::mt19937_64& random, int side = kSide) {
    CalibrationRecording recording("simulated");
    std::normal_distribution<double> read(0, sensor.read_noise);
    test::TestImage<std::uint16_t> image(side, side);
    for (int frame = 0; frame < frames; ++frame) {
        for (int y = 0; y < side; ++y)
            for (int x = 0; x < side; ++x) {
                const double mean = electrons(x, y, frame);
                const auto caught =
                    mean > 0 ? static_cast<double>(std::poisson_distribution<int>(mean)(random)) : 0.0;
                image.at(x, y) = static_cast<std::uint16_t>(
                    std::clamp(std::round(caught * sensor.gain + sensor.black + read(random)), 0.0, kFull));
            }
        recording.add(image.view(), kFull);
    }
    return recording;
}

std::function<double(int, int, int)> uneven(double electrons) {
    return [electrons](int x, int y, int) {
        return electrons * (0.7 + 0.6 * x / kSide + 0.01 * ((x * 7 + y * 3) % 5));
    };
}

/// Intensity of the static speckle of a round pupil, with this width at half maximum and mean 1.
std::vector<double> speckle(int side, double size, std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    const double radius = 1.61634 / (std::numbers::pi * size); // cycles/px
    std::vector<std::complex<float>> field(static_cast<std::size_t>(side) * static_cast<std::size_t>(side));
    for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) {
            const double fx = (x < side / 2 ? x : x - side) / static_cast<double>(side);
            const double fy = (y < side / 2 ? y : y - side) / static_cast<double>(side);
            if (fx * fx + fy * fy < radius * radius)
                field[static_cast<std::size_t>(y * side + x)] = {static_cast<float>(normal(random)),
                                                                 static_cast<float>(normal(random))};
        }
    auto* data = reinterpret_cast<fftwf_complex*>(field.data());
    const fftwf_plan plan = fftwf_plan_dft_2d(side, side, data, data, FFTW_BACKWARD, FFTW_ESTIMATE);
    fftwf_execute(plan);
    fftwf_destroy_plan(plan);
    std::vector<double> intensity;
    double sum = 0;
    for (const std::complex<float>& one : field) {
        intensity.push_back(std::norm(one));
        sum += intensity.back();
    }
    for (double& value : intensity)
        value *= static_cast<double>(intensity.size()) / sum;
    return intensity;
}

TEST(PhotonTransfer, FindsGainReadNoiseAndBlackLevel) {
    auto random = test_random(4100);
    for (const Sensor sensor : {Sensor{0.37, 2.1, 64}, Sensor{1.9, 6, 200}, Sensor{0.08, 1.2, 20}}) {
        std::vector<CalibrationRecording> lit;
        for (const double electrons : {0.05, 0.2, 0.5})
            lit.push_back(recorded(sensor, uneven(electrons * 0.5 * kFull / sensor.gain), 16, random));
        const CalibrationRecording dark = recorded(sensor, uneven(0), 16, random);
        const PhotonTransfer found = photon_transfer(lit, &dark, {});
        EXPECT_NEAR(found.gain / sensor.gain, 1, 0.01);
        EXPECT_NEAR(found.read_noise / sensor.read_noise, 1, 0.02);
        EXPECT_NEAR(found.offset, sensor.black, 0.05);
        EXPECT_LT(found.residual, 0.02);
        EXPECT_LT(std::abs(found.gain - sensor.gain), 5 * found.gain_error + 1e-3 * sensor.gain);
    }
}

/// Static speckle in the light is no noise: differences of frames leave it out.
TEST(PhotonTransfer, IsNotMisledBySpeckle) {
    auto random = test_random(4101);
    const std::vector<double> pattern = speckle(kSide, 3, random);
    const auto lit_by = [&](double electrons) {
        return [&pattern, electrons](int x, int y, int) {
            return electrons * std::min(3.0, pattern[static_cast<std::size_t>(y * kSide + x)]);
        };
    };
    const Sensor sensor;
    std::vector<CalibrationRecording> lit;
    lit.push_back(recorded(sensor, lit_by(300), 16, random));
    lit.push_back(recorded(sensor, lit_by(2500), 16, random));
    EXPECT_NEAR(photon_transfer(lit, nullptr, {}).gain / sensor.gain, 1, 0.02);
    EXPECT_TRUE(std::isnan(photon_transfer(lit, nullptr, {}).read_noise)) << "there is no dark recording";
}

TEST(PhotonTransfer, RefusesWhatIsUnsuitable) {
    auto random = test_random(4102);
    const Sensor sensor;
    const auto one = [&](const std::function<double(int, int, int)>& electrons, int frames = 8) {
        std::vector<CalibrationRecording> lit;
        lit.push_back(recorded(sensor, uneven(500), 8, random));
        lit.push_back(recorded(sensor, electrons, frames, random));
        return lit;
    };
    EXPECT_NO_THROW((void)photon_transfer(one(uneven(4000)), nullptr, {}));
    EXPECT_THROW((void)photon_transfer(one(uneven(600)), nullptr, {}), UsageError) << "levels too close";
    EXPECT_THROW((void)photon_transfer(one(uneven(40000)), nullptr, {}), UsageError) << "saturated";
    EXPECT_THROW((void)photon_transfer(one(uneven(4000), 1), nullptr, {}), UsageError) << "one frame";
    EXPECT_THROW((void)photon_transfer(
                     one([](int, int, int frame) { return frame % 2 == 0 ? 4000.0 : 3000.0; }), nullptr, {}),
                 UsageError)
        << "flickers";
    EXPECT_THROW((void)photon_transfer(
                     one([](int x, int, int frame) { return 4000 + 2000 * std::sin((x + 3 * frame) * 0.2); }),
                     nullptr, {}),
                 UsageError)
        << "moves";
    EXPECT_THROW((void)photon_transfer({}, nullptr, {}), UsageError) << "nothing";
}

TEST(BadPixels, AreThoseThatWerePutIn) {
    auto random = test_random(4103);
    const Sensor sensor;
    const auto odd = [](int x, int y) { return (x == 20 && y == 30) || (x == 100 && y == 7); };
    const auto dead = [](int x, int y) { return x == 64 && y == 64; };
    std::vector<CalibrationRecording> lit;
    lit.push_back(recorded(
        sensor, [&](int x, int y, int) { return dead(x, y)  ? 100.0
                                                : odd(x, y) ? 6000.0
                                                            : 4000.0; }, 16,
        random));
    const CalibrationRecording dark = recorded(
        sensor, [&](int x, int y, int) { return odd(x, y) ? 900.0 : 0.0; }, 16, random);
    const std::vector<std::uint8_t> bad = bad_pixels(lit, &dark);
    for (int y = 0; y < kSide; ++y)
        for (int x = 0; x < kSide; ++x)
            EXPECT_EQ(bad[static_cast<std::size_t>(y * kSide + x)] != 0, odd(x, y) || dead(x, y))
                << x << ", " << y;
}

TEST(StaticScatterer, FindsContrastAndSizeOfItsSpeckle) {
    auto random = test_random(4104);
    constexpr int kWide = 512;
    for (const double size : {1.5, 2.0, 3.0}) {
        const std::vector<double> pattern = speckle(kWide, size, random);
        double squares = 0;
        for (const double value : pattern)
            squares += value * value;
        const double contrast2 = squares / static_cast<double>(pattern.size()) - 1; // of this realisation
        const Sensor sensor;
        const CalibrationRecording still = recorded(
            sensor,
            [&](int x, int y, int) {
                return 300 * pattern[static_cast<std::size_t>(y * kWide + x)] * (1 + 0.4 * x / kWide);
            },
            6, random, kWide);
        const StaticScatterer found = static_scatterer(still, sensor.black, {});
        EXPECT_NEAR(found.beta / contrast2, 1, 0.02) << size;
        EXPECT_NEAR(found.speckle_size / size, 1, 0.02) << size;
        EXPECT_GT(found.steadiness, 0.99);
        EXPECT_LT(found.residual, 0.01) << "a round pupil";
    }
}

TEST(StaticScatterer, RefusesMotionAndEvenLight) {
    auto random = test_random(4105);
    const std::vector<double> pattern = speckle(kSide, 2, random);
    const Sensor sensor;
    EXPECT_THROW((void)static_scatterer(
                     recorded(
                         sensor,
                         [&](int x, int y, int frame) {
                             return 1000 * pattern[static_cast<std::size_t>(y * kSide + (x + frame) % kSide)];
                         },
                         6, random),
                     sensor.black, {}),
                 UsageError);
    EXPECT_THROW((void)static_scatterer(recorded(sensor, uneven(3000), 6, random), sensor.black, {}),
                 UsageError);
}

TEST(RoundPupil, HasTheStatedWidth) {
    EXPECT_DOUBLE_EQ(round_pupil_covariance(0, 2), 1);
    EXPECT_NEAR(round_pupil_covariance(1, 2), 0.5, 1e-6);
    EXPECT_NEAR(round_pupil_covariance(1.5, 3), 0.5, 1e-6);
}

} // namespace specklescope::camera_calibration_test
