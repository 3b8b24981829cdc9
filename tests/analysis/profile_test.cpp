// Profiles along lines: scipy's interpolation of the same images, and undefined samples.
#include "analysis/profile.hpp"

#include "analysis/region.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

namespace specklescope::profile_test {

using test::TestImage;

std::vector<double> measured(const LineProfile& profile, const ProfileInput& input) {
    std::vector<double> averages;
    profile.measure(input, averages);
    return averages;
}

TEST(Profile, HasASampleAtBothEndsAndAtStepsOfAboutAPixel) {
    EXPECT_EQ(LineProfile({0, 0, 10.4, 0}, 1).samples(), 11U);
    EXPECT_DOUBLE_EQ(LineProfile({0, 0, 10.4, 0}, 1).spacing(), 1.04);
    EXPECT_EQ(LineProfile({2, 3, 5, 7}, 1).samples(), 6U);
    EXPECT_DOUBLE_EQ(LineProfile({2, 3, 5, 7}, 1).spacing(), 1);
    EXPECT_EQ(LineProfile({2, 3, 2.2, 3}, 1).samples(), 2U);
    EXPECT_EQ(LineProfile({2, 3, 2, 3}, 5).samples(), 1U);
    EXPECT_EQ(LineProfile({2, 3, 2, 3}, 5).spacing(), 0);
}

/// Bilinear interpolation reproduces a plane at every position.
TEST(Profile, ReproducesAPlane) {
    TestImage<float> plane(40, 30, 3);
    for (int y = 0; y < 30; ++y)
        for (int x = 0; x < 40; ++x)
            plane.at(x, y) = static_cast<float>(2 * x - 3 * y + 100);
    const LineProfile profile({5.25, 20.5, 31.75, 8.125}, 7);
    const std::vector<double> values = measured(profile, {plane.view()});
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double part = static_cast<double>(i) / static_cast<double>(values.size() - 1);
        EXPECT_NEAR(values[i], 2 * (5.25 + part * 26.5) - 3 * (20.5 - part * 12.375) + 100, 1e-10) << i;
    }
}

TEST(Profile, EndsWithThePixelsOfItsLine) {
    TestImage<float> image(12, 5);
    image.fill([] { return 7; });
    for (double end = -1.25; end < 13; end += 0.25) {
        const LineEnds line{6, 2, end, 2};
        std::vector<RowSpan> spans;
        Region region;
        region.name = "line";
        region.shape = RegionShape::line;
        region.points = {{line.x0, line.y0}, {line.x1, line.y1}};
        (void)region_spans(region, 12, 5, spans);
        const double pixel = std::floor(end + 0.5);
        bool has = false;
        for (const RowSpan& span : spans)
            has = has || (span.x <= pixel && pixel < span.x + span.length);
        const std::vector<double> values = measured(LineProfile(line, 1), {image.view()});
        EXPECT_EQ(!std::isnan(values.back()), has) << end;
        if (has) {
            EXPECT_NEAR(values.back(), 7, 1e-12) << end;
        }
    }
}

/// Weighted mean of the finite pixels, computed by scipy.
constexpr const char* kOracle = R"py(
import numpy as np
from scipy.ndimage import map_coordinates

def profile(image, mean, line, band):
    x0, y0, x1, y1 = line
    length = np.hypot(x1 - x0, y1 - y0)
    steps = max(1, int(np.floor(length + 0.5))) if length > 0 else 0
    along = np.arange(steps + 1) / max(1, steps)
    nx, ny = (-(y1 - y0) / length, (x1 - x0) / length) if length > 0 else (0, 1)
    with np.errstate(all="ignore"):
        if mean == 2:
            valid = ~np.isnan(image); v = 1 / image
        else:
            valid = np.isfinite(image); v = image**2 if mean == 1 else image
    v = np.where(valid, v, 0)
    top, bottom = 0, 0
    for k in range(band):
        off = k - (band - 1) / 2
        at = np.array([y0 + along * (y1 - y0) + off * ny, x0 + along * (x1 - x0) + off * nx])
        inside = np.all((at >= -0.5) & (at < np.array(image.shape)[:, None] - 0.5), axis=0)
        top = top + inside * map_coordinates(v, at, order=1, mode="nearest")
        bottom = bottom + inside * map_coordinates(valid.astype(float), at, order=1, mode="nearest")
    with np.errstate(all="ignore"):
        return np.where(bottom > 1e-12, top / bottom, np.nan), bottom

undefined = left_out = compared = 0
for line in open("cases.txt"):
    words = line.split()
    number, kind, w, h, mean, band = words[0], words[1], *map(int, words[2:6])
    ends = list(map(float.fromhex, words[6:10]))
    is_ = np.array(list(map(float, words[10:])))
    image = np.fromfile(number + ".raw", kind).reshape(h, w).astype(np.float64)
    wanted, weight = profile(image, mean, ends, band)
    assert is_.shape == wanted.shape, (line[:80], is_.shape, wanted.shape)
    undefined += np.isnan(wanted).sum()
    compared += wanted.size
    assert (np.isnan(is_) == np.isnan(wanted)).all(), (line[:80], is_, wanted)
    good = ~np.isnan(wanted)
    # Of the largest sample: beside it a sample of 0 is what is rounded of its place.
    error = np.abs(is_ - wanted)[good] / np.maximum(np.abs(wanted[good]).max(initial=0), 1e-30)
    error *= np.minimum(weight[good], 1)  # where hardly a pixel counts, what is rounded of places counts the more
    # A place within 1e-9 of a centre is taken for it.
    assert error.size == 0 or (error.max() < 2e-9 and np.median(error) < 1e-12), (line[:80], error.max())
assert compared > 2000 and 20 < undefined < compared / 2, (compared, undefined)
)py";

template <class T> void write_image(const TestImage<T>& image, const std::string& path) {
    std::string bytes;
    for (int y = 0; y < image.shape().height; ++y)
        bytes.append(reinterpret_cast<const char*>(image.view().row(y)), image.shape().row_bytes());
    test::write_file(path, bytes);
}

TEST(Profile, MatchesScipysInterpolation) {
    auto random = test::test_random(15001);
    const TemporaryFolder folder;
    std::ostringstream cases;
    cases.precision(17);
    const auto uniform = [&](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    const auto add = [&](int number, const char* kind, const auto& image, RegionMean mean) {
        write_image(image, folder / (std::to_string(number) + ".raw"));
        const int w = image.shape().width, h = image.shape().height;
        // Also beyond the image; some along its rows and columns, where weights are 0.
        LineEnds line{uniform(-4, w + 4), uniform(-4, h + 4), uniform(-4, w + 4), uniform(-4, h + 4)};
        if (number % 4 == 0)
            line = {1, static_cast<double>(random() % static_cast<unsigned>(h)), w - 2.0, line.y0};
        if (number % 8 == 0)
            line.y1 = line.y0;
        const int band = number % 3 == 0 ? 1 : static_cast<int>(1 + random() % 9);
        cases << number << ' ' << kind << ' ' << w << ' ' << h << ' ' << static_cast<int>(mean) << ' '
              << band;
        for (const double at : {line.x0, line.y0, line.x1, line.y1}) {
            char text[40];
            std::snprintf(text, sizeof text, " %a", at);
            cases << text;
        }
        for (const double value : measured(LineProfile(line, band), {image.view(), GreyChannel::luma, mean}))
            cases << ' ' << value;
        cases << '\n';
    };
    for (int i = 0; i < 120; ++i) {
        const int w = 1 + static_cast<int>(random() % 60), h = 1 + static_cast<int>(random() % 40);
        if (i % 5 == 0) {
            add(i, "u1", test::uniform_image<std::uint8_t>(w, h, 0, 255, random), RegionMean::plain);
        } else if (i % 5 == 1) {
            add(i, "u2", test::uniform_image<std::uint16_t>(w, h, 0, 65535, random), RegionMean::plain);
        } else {
            TestImage<float> image = test::uniform_image<float>(w, h, 0.01, 2, random);
            for (int k = 0; k < w * h / 6; ++k) // every sixth a NaN or ∞
                image.at(static_cast<int>(random() % static_cast<unsigned>(w)),
                         static_cast<int>(random() % static_cast<unsigned>(h))) =
                    random() % 2 == 0 ? std::numeric_limits<float>::quiet_NaN()
                                      : std::numeric_limits<float>::infinity();
            add(i, "f4", image, static_cast<RegionMean>(i % 3));
        }
    }
    test::write_file(folder / "cases.txt", cases.str());
    EXPECT_TRUE(test::python(folder, kOracle)) << test::read_file(folder / "python.log");
}

TEST(Profile, ConvertsColourLikeTheChain) {
    TestImage<std::uint8_t> colour(8, 3, 0, 3);
    for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 8; ++x)
            for (int c = 0; c < 3; ++c)
                colour.at(3 * x + c, y) = static_cast<std::uint8_t>(10 * (c + 1) + x);
    const LineProfile profile({0, 1, 7, 1}, 1);
    const std::vector<double> green = measured(profile, {colour.view(), GreyChannel::green});
    const std::vector<double> mean = measured(profile, {colour.view(), GreyChannel::mean});
    for (int x = 0; x < 8; ++x) {
        EXPECT_EQ(green[static_cast<std::size_t>(x)], 20 + x);
        EXPECT_NEAR(mean[static_cast<std::size_t>(x)], 20 + x, 1e-5);
    }
}

TEST(Profile, CountsInfiniteFlowAsZeroContrast) {
    TestImage<float> flow(5, 1);
    for (int x = 0; x < 5; ++x)
        flow.at(x, 0) = x == 2 ? std::numeric_limits<float>::infinity() : 4.0F;
    const LineProfile profile({0.5, 0, 3.5, 0}, 1);
    const std::vector<double> k2 =
        measured(profile, {flow.view(), GreyChannel::luma, RegionMean::of_inverses});
    ASSERT_EQ(k2.size(), 4U);
    EXPECT_DOUBLE_EQ(from_average(k2[0], RegionMean::of_inverses), 4);
    EXPECT_DOUBLE_EQ(from_average(k2[1], RegionMean::of_inverses), 8); // half of its K² is 0
    const std::vector<double> plain = measured(profile, {flow.view()});
    EXPECT_DOUBLE_EQ(plain[1], 4); // omitted
    EXPECT_DOUBLE_EQ(
        from_average(measured(profile, {flow.view(), GreyChannel::luma, RegionMean::of_squares})[0],
                     RegionMean::of_squares),
        4);
}

} // namespace specklescope::profile_test
