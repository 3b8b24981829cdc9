// F₀ of every pixel and the change relative to it, compared with numpy: intensities, K and a flow index.
#include "analysis/baseline_image.hpp"
#include "pipeline/chain.hpp"
#include "tests/support/file_tools.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace specklescope::baseline_image_test {

constexpr int kWidth = 37, kHeight = 41, kFrames = 9;

/// f32, frame by frame: positive values, some undefined, some infinite, one pixel of zeros and one always
/// undefined.
std::vector<float> stack(unsigned seed) {
    std::mt19937 random(seed);
    std::lognormal_distribution<float> value(1, 0.8F);
    std::vector<float> stack(std::size_t{kWidth} * kHeight * kFrames);
    for (std::size_t i = 0; i < stack.size(); ++i) {
        const std::size_t pixel = i % (std::size_t{kWidth} * kHeight), kind = random() % 40;
        stack[i] = kind == 0   ? std::numeric_limits<float>::quiet_NaN()
                   : kind == 1 ? std::numeric_limits<float>::infinity()
                               : value(random);
        if (pixel == 5)
            stack[i] = 0;
        if (pixel == 6)
            stack[i] = std::numeric_limits<float>::quiet_NaN();
        if (pixel == 7)
            stack[i] = std::numeric_limits<float>::infinity();
    }
    return stack;
}

constexpr const char* kNumpy = R"py(
import sys, warnings
import numpy as np
warnings.simplefilter("ignore")
v = np.fromfile("stack.f32", np.float32).astype(float).reshape(9, 41, 37)
finite = np.where(np.isfinite(v), v, np.nan)
with np.errstate(all="ignore"):
    means = {
        "plain": np.nanmean(finite, 0),
        "of_squares": np.sqrt(np.nanmean(finite**2, 0)),
        "of_inverses": 1 / np.nanmean(1 / v, 0),  # 1/inf is 0 and takes part
    }
    for name, mean in means.items():
        mean = mean.astype(np.float32).astype(float)
        change = 100 * (v[-1] / mean - 1)
        change[~np.isfinite(mean) | (mean == 0)] = np.nan
        mean.astype(np.float32).tofile(name + ".f32")
        change.astype(np.float32).tofile(name + "_change.f32")
)py";

std::vector<float> floats(const std::string& path) {
    const std::string bytes = test::read_file(path);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
    return values;
}

void expect_same(const std::vector<float>& seen, const std::vector<float>& wanted, const std::string& what) {
    ASSERT_EQ(seen.size(), wanted.size()) << what;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        const double a = static_cast<double>(seen[i]), b = static_cast<double>(wanted[i]);
        const bool same = std::isnan(b)   ? std::isnan(a)
                          : std::isinf(b) ? a == b
                                          : std::abs(a - b) <= 2e-5 + 1e-6 * std::abs(b);
        ASSERT_TRUE(same) << what << ", pixel " << i << ": " << a << " and " << b;
    }
}

ConstHostView frame(const std::vector<float>& stack, int index) {
    const Shape shape{kWidth, kHeight, 1, PixelType::f32};
    return {reinterpret_cast<const std::byte*>(stack.data()) +
                static_cast<std::size_t>(index) * shape.bytes(),
            shape};
}

TEST(BaselineImage, MatchesNumpy) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::vector<float> values = stack(seed);
    const TemporaryFolder folder;
    test::write_file(folder / "stack.f32",
                     {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
    ASSERT_TRUE(test::python(folder, kNumpy)) << test::read_file(folder / "python.log");
    for (const auto& [name, mean] : {std::pair{"plain", RegionMean::plain},
                                     {"of_squares", RegionMean::of_squares},
                                     {"of_inverses", RegionMean::of_inverses}}) {
        BaselineSums sums;
        for (int i = 0; i < kFrames; i += 2) { // two at a time, and the last alone
            const std::array images{frame(values, i), frame(values, std::min(i + 1, kFrames - 1))};
            sums.add({images.data(), i + 1 < kFrames ? 2U : 1U}, mean);
        }
        EXPECT_EQ(sums.frames(), static_cast<std::uint64_t>(kFrames));
        const std::vector<float> f0 = sums.means();
        expect_same(f0, floats(folder / (std::string(name) + ".f32")), std::string(name) + ", F0");
        const BaselineImage baseline({kWidth, kHeight, 1, PixelType::f32}, {}, f0, kFrames, 1);
        std::vector<float> change(f0.size());
        baseline.change(frame(values, kFrames - 1), HostView(reinterpret_cast<std::byte*>(change.data()),
                                                             {kWidth, kHeight, 1, PixelType::f32}));
        expect_same(change, floats(folder / (std::string(name) + "_change.f32")), name);
        for (const std::size_t pixel : {5U, 6U, 7U}) // zeros, always undefined, always infinite
            EXPECT_TRUE(std::isnan(change[pixel])) << name << " " << pixel;
    }
}

TEST(BaselineImage, OfIntegersIsExact) {
    std::mt19937 random(7);
    const auto check = [&]<class T>(T, PixelType type) {
        const Shape shape{kWidth, kHeight, 1, type};
        std::array<std::vector<T>, 3> images;
        std::vector<ConstHostView> views;
        for (std::vector<T>& image : images) {
            std::generate_n(std::back_inserter(image), shape.pixels(),
                            [&] { return static_cast<T>(random()); });
            views.emplace_back(reinterpret_cast<const std::byte*>(image.data()), shape);
        }
        BaselineSums sums;
        sums.add({views.data(), 2}, RegionMean::plain);
        sums.add({&views[2], 1}, RegionMean::plain);
        const std::vector<float> means = sums.means();
        for (std::size_t i = 0; i < means.size(); ++i)
            EXPECT_EQ(means[i], static_cast<float>((images[0][i] + images[1][i] + images[2][i]) / 3.0)) << i;
    };
    check(std::uint8_t{}, PixelType::u8);
    check(std::uint16_t{}, PixelType::u16);
}

/// Results at intervals of 10 ms, whose values are their number.
struct Film {
    FrameRing ring{{4, 3, 1, PixelType::f32}, 2, host_memory()};
    Quantity quantity{"speckle contrast squared", "K²", "1", Measure::contrast2};
    Result frame(int number, std::int64_t capture_ms) {
        Result result;
        result.image = ring.try_acquire();
        result.info.capture_ns = capture_ms * 1'000'000;
        result.quantity = quantity;
        const View<float> pixels = result.image.host().as<float>();
        for (int y = 0; y < 3; ++y)
            std::fill_n(pixels.row(y), 4, static_cast<float>(number));
        return result;
    }
};

TEST(BaselineCollector, CollectsTheFramesOfTheGivenTime) {
    Film film;
    BaselineCollector collector(0.1);
    EXPECT_TRUE(collector.wants_host_image());
    EXPECT_EQ(collector.progress(), 0);
    for (int i = 0; i < 10; ++i) {
        collector.push(film.frame(i, 500 + 10 * i), false);
        EXPECT_FALSE(collector.taken());
    }
    EXPECT_NEAR(collector.progress(), 0.9, 1e-9);
    collector.push(film.frame(1000, 600), false); // 0.1 s after the first: not included
    ASSERT_TRUE(collector.taken());
    EXPECT_EQ(collector.taken()->frames(), 10U);
    EXPECT_EQ(collector.taken()->at(2, 1), 4.5);
    EXPECT_FALSE(collector.wants_host_image());
    const MadeWith* unknown = nullptr;
    EXPECT_EQ(collector.taken()->misfit({4, 3, 1, PixelType::f32}, film.quantity, unknown), "");
    EXPECT_NE(collector.taken()->misfit({4, 4, 1, PixelType::f32}, film.quantity, unknown), "");
    EXPECT_NE(collector.taken()->misfit({4, 3, 1, PixelType::f32}, Quantity{}, unknown), "");
}

TEST(BaselineCollector, RestartsWhenSettingsChange) {
    Film film;
    BaselineCollector collector(0.02);
    const auto frame = [&](int number, const std::string& chain) {
        Result result = film.frame(number, 10 * number);
        result.chain = std::make_shared<const Chain>(chain_from_text(chain));
        return result;
    };
    for (int i = 0; i < 4; ++i) // an edit during the collection
        collector.push(frame(i, i < 1 ? "speckle:radius=3" : "speckle:radius=6"), false);
    ASSERT_TRUE(collector.taken());
    EXPECT_EQ(collector.taken()->at(0, 0), 1.5);
    EXPECT_EQ(collector.taken()->misfit(frame(9, "speckle:radius=6")), "");
    EXPECT_NE(collector.taken()->misfit(frame(9, "speckle:radius=3")).find("radius 6, now 3"),
              std::string::npos);
}

TEST(BaselineCollector, RestartsWithAnotherQuantityAndWhenTheClockGoesBack) {
    Film film;
    BaselineCollector collector(0.05);
    collector.push(film.frame(100, 0), false);
    film.quantity.unit = "1/s";
    collector.push(film.frame(200, 10), false);
    collector.push(film.frame(3, 5), false); // the clock went back
    collector.push(film.frame(5, 15), false);
    Result repeated = film.frame(99, 20);
    repeated.repeated = true;
    collector.push(repeated, false);
    repeated = {};
    collector.finish();
    ASSERT_TRUE(collector.taken());
    EXPECT_EQ(collector.taken()->frames(), 2U);
    EXPECT_EQ(collector.taken()->at(0, 0), 4);
}

TEST(BaselineCollector, SkipsWarmUpFrames) {
    Film film;
    BaselineCollector collector(0.05);
    for (int i = 0; i < 5; ++i) {
        Result result = film.frame(1000, 10 * i);
        if (i % 2 == 0)
            result.warmup = {"temporal", i, 25};
        else
            result.info.recorded_in_warmup = true;
        collector.push(result, false);
    }
    EXPECT_EQ(collector.progress(), 0) << "the seconds begin with the first complete one";
    for (int i = 0; i < 6; ++i) {
        collector.push(film.frame(i, 50 + 10 * i), false);
        EXPECT_EQ(collector.taken() != nullptr, i == 5);
    }
    EXPECT_EQ(collector.taken()->frames(), 5U);
    EXPECT_EQ(collector.taken()->at(2, 1), 2);
    BaselineCollector none(0.05);
    for (int i = 0; i < 7; ++i) {
        Result result = film.frame(1, 10 * i);
        result.warmup = {"temporal", i, 25};
        none.push(result, false);
    }
    none.finish();
    EXPECT_FALSE(none.taken());
    EXPECT_EQ(none.error().find("All frames were warm-up or capture frames"), 0U) << none.error();
}

TEST(BaselineCollector, ReportsWhyThereIsNoBaseline) {
    BaselineCollector nothing(1);
    nothing.finish();
    EXPECT_FALSE(nothing.taken());
    EXPECT_NE(nothing.error(), "");
}

} // namespace specklescope::baseline_image_test
