// Statistics over regions, on the host and on the GPU, compared with sums in long double over the result's
// pixels.
#include "analysis/region.hpp"

#include "tests/support/executors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace specklescope::region_values_test {

using test::TestImage;

struct Truth {
    std::vector<long double> valid;
    std::uint64_t infinite = 0, undefined = 0;

    void add(double v) {
        if (std::isnan(v))
            ++undefined;
        else if (std::isinf(v))
            ++infinite;
        else
            valid.push_back(v);
    }
    template <class F> long double mean(F&& of) const {
        long double sum = 0;
        for (const long double v : valid)
            sum += of(v);
        return sum / static_cast<long double>(valid.size());
    }
    double plain() const {
        return static_cast<double>(mean([](long double v) { return v; }));
    }
    double std() const {
        const long double m = mean([](long double v) { return v; });
        const long double n = static_cast<long double>(valid.size());
        return static_cast<double>(
            sqrtl(mean([m](long double v) { return (v - m) * (v - m); }) * n / (n - 1)));
    }
    double median() {
        std::sort(valid.begin(), valid.end());
        const std::size_t n = valid.size();
        return n == 0 ? NAN : static_cast<double>((valid[(n - 1) / 2] + valid[n / 2]) / 2);
    }
};

void expect_near(double is, double wanted, const std::string& what) {
    if (std::isnan(wanted))
        EXPECT_TRUE(std::isnan(is)) << what << " is " << is;
    else if (std::isinf(wanted))
        EXPECT_EQ(is, wanted) << what;
    else
        EXPECT_NEAR(is, wanted, 1e-6 * std::abs(wanted)) << what;
}

/// Regions of every shape and size, some beyond the image.
std::vector<Region> some_regions(std::mt19937_64& random, int width, int height) {
    std::vector<Region> regions = {
        {"whole", RegionShape::rectangle, {{0, 0}, {width - 1.0, height - 1.0}}, "", false},
        {"pixel", RegionShape::rectangle, {{3, 2}, {3, 2}}, "", false},
        {"outside", RegionShape::rectangle, {{-9, -9}, {-8, -8}}, "", false},
        {"two", RegionShape::line, {{4, 4}, {5, 4}}, "", false}};
    std::uniform_real_distribution<double> x(-5, width + 5), y(-5, height + 5);
    for (int i = 0; i < 20; ++i) {
        const auto shape = static_cast<RegionShape>(i % 5);
        const bool corners = shape == RegionShape::polygon || shape == RegionShape::freehand;
        Region region{"r" + std::to_string(i), shape, {}, "", false};
        for (int k = 0; k < (corners ? 5 : 2); ++k)
            region.points.push_back({x(random), y(random)});
        regions.push_back(region);
    }
    return regions;
}

/// Compares with the result's own pixels. `value`: contribution of the pixel at (x, y).
template <class F> void check_values(const Result& result, const std::vector<Region>& regions,
                                     RegionMean kind, bool medians, F&& value) {
    ASSERT_TRUE(result.regions);
    EXPECT_EQ(result.regions->mean, kind);
    ASSERT_EQ(result.regions->statistics.size(), regions.size());
    for (std::size_t i = 0; i < regions.size(); ++i) {
        std::vector<RowSpan> spans;
        const Shape& shape = result.shape();
        region_spans(regions[i], shape.width, shape.height, spans);
        Truth truth;
        for (const RowSpan& span : spans)
            for (int x = span.x; x < span.x + span.length; ++x)
                truth.add(value(x, span.y));
        const RegionStatistics& is = result.regions->statistics[i];
        const std::string what = regions[i].name + " ";
        EXPECT_EQ(is.valid, truth.valid.size()) << what;
        EXPECT_EQ(is.infinite, truth.infinite) << what;
        EXPECT_EQ(is.undefined, truth.undefined) << what;
        EXPECT_EQ(is.pixels, truth.valid.size() + truth.infinite + truth.undefined) << what;
        const bool any = !truth.valid.empty();
        expect_near(is.mean_of_map, any ? truth.plain() : NAN, what + "mean_of_map");
        expect_near(is.std, truth.valid.size() > 1 ? truth.std() : NAN, what + "std");
        expect_near(is.min,
                    any ? static_cast<double>(*std::min_element(truth.valid.begin(), truth.valid.end()))
                        : NAN,
                    what + "min");
        expect_near(is.max,
                    any ? static_cast<double>(*std::max_element(truth.valid.begin(), truth.valid.end()))
                        : NAN,
                    what + "max");
        expect_near(is.median, medians ? truth.median() : NAN, what + "median");
        double mean = any ? truth.plain() : NAN;
        if (kind == RegionMean::of_squares && any)
            mean = static_cast<double>(sqrtl(truth.mean([](long double v) { return v * v; })));
        if (kind == RegionMean::of_inverses) { // an infinite flow is K² = 0
            long double sum = 0;
            for (const long double v : truth.valid)
                sum += 1 / v;
            const auto count = static_cast<long double>(truth.valid.size() + truth.infinite);
            mean = count > 0 ? static_cast<double>(count / sum) : NAN;
        }
        expect_near(is.mean, mean, what + "mean");
    }
}

class RegionValuesTest : public test::OnBackend {
protected:
    void set(const std::vector<Region>& regions, bool medians) {
        executor->set_regions(make_outlines(regions, medians), 5);
    }
    template <class T>
    Result run(const std::vector<std::string>& chain, const TestImage<T>& image, double full_scale = 0) {
        FrameInfo info;
        info.full_scale = full_scale;
        info.exposure_ms = 5;
        return test::last_result(*executor, chain, std::vector<TestImage<T>>{image}, info);
    }
};

/// A bypassed image with undefined values, and values far from 0 to expose differences.
TEST_P(RegionValuesTest, MatchThePixelsOfAFloatImage) {
    if (!executor)
        return;
    std::mt19937_64 random = test::test_random(0x4E61);
    for (const double offset : {0.0, 1e5, -3e7}) {
        std::normal_distribution<double> value(offset, 1);
        TestImage<float> image(617, 83, 3);
        image.fill([&] {
            const auto kind = random() % 50;
            return kind == 0 ? NAN : kind == 1 ? INFINITY : kind == 2 ? -INFINITY : value(random);
        });
        for (const bool medians : {false, true}) {
            const std::vector<Region> regions = some_regions(random, 617, 83);
            set(regions, medians);
            const Result result = run({}, image);
            check_values(result, regions, RegionMean::plain, medians,
                         [&](int x, int y) { return image.at(x, y); });
            EXPECT_EQ(result.regions->placed->version, 5U);
            EXPECT_EQ(result.regions->statistics[0].saturated, -1); // f32 without a full scale
        }
    }
}

TEST_P(RegionValuesTest, AreUndefinedWithoutDefinedPixels) {
    if (!executor)
        return;
    TestImage<float> image(31, 17);
    image.fill([] { return NAN; });
    std::mt19937_64 random = test::test_random(0x4E62);
    const std::vector<Region> regions = some_regions(random, 31, 17);
    set(regions, true);
    const Result result = run({}, image);
    check_values(result, regions, RegionMean::plain, true, [&](int, int) { return NAN; });
    image.fill([] { return 7.25F; });
    const Result even = run({}, image);
    EXPECT_EQ(even.regions->statistics[0].std, 0.0); // exactly
    EXPECT_EQ(even.regions->statistics[0].mean, 7.25);
}

TEST_P(RegionValuesTest, AverageContrastAndFlowOverK2) {
    if (!executor)
        return;
    std::mt19937_64 random = test::test_random(0x4E63);
    auto image = test::speckle_image<std::uint16_t>(333, 120, 400, 4095, random);
    for (int y = 40; y < 60; ++y)
        for (int x = 50; x < 90; ++x)
            image.at(x, y) = x < 70 ? 0 : 900; // undefined, and an infinite flow
    const std::vector<std::pair<std::vector<std::string>, RegionMean>> chains = {
        {{"speckle:output=contrast2"}, RegionMean::plain},
        {{"speckle:output=contrast"}, RegionMean::of_squares},
        {{"speckle:output=sfi"}, RegionMean::of_inverses},
        {{"speckle:output=bfi"}, RegionMean::of_inverses},
        {{"speckle:output=tau"}, RegionMean::plain},
        {{"gaussian:sigma=1", "speckle:output=contrast2", "flow"}, RegionMean::of_inverses},
        {{"speckle:output=contrast2", "flow:output=tau", "gaussian:sigma=2"}, RegionMean::plain}};
    const std::vector<Region> regions = some_regions(random, 333, 120);
    set(regions, true);
    for (const auto& [chain, kind] : chains) {
        SCOPED_TRACE(chain.back());
        const Result result = run(chain, image, 4095);
        const ConstHostView map = result.image.host();
        check_values(result, regions, kind, true, [&](int x, int y) { return map.as<float>().row(y)[x]; });
    }
}

/// The same pixels computed from a recording of K².
TEST_P(RegionValuesTest, FlowIsTheConvertedMeanOfK2) {
    if (!executor)
        return;
    std::mt19937_64 random = test::test_random(0x4E64);
    auto image = test::speckle_image<std::uint16_t>(200, 150, 400, 4095, random);
    for (int y = 10; y < 30; ++y)
        for (int x = 10; x < 30; ++x)
            image.at(x, y) = 900;
    std::vector<Region> regions = some_regions(random, 200, 150);
    set(regions, false);
    const Result squares = run({"gaussian:sigma=1", "speckle:output=contrast2", "average"}, image, 4095);
    const Result contrast = run({"gaussian:sigma=1", "speckle:output=contrast"}, image, 4095);
    const Result index =
        run({"gaussian:sigma=1", "speckle:output=contrast2", "average", "flow:output=index"}, image, 4095);
    const Result tau = run({"gaussian:sigma=1", "speckle:output=contrast2", "flow:output=tau"}, image, 4095);
    for (std::size_t i = 0; i < regions.size(); ++i) {
        const double k2 = squares.regions->statistics[i].mean;
        const std::string& name = regions[i].name;
        expect_near(contrast.regions->statistics[i].mean, std::sqrt(k2), name);
        expect_near(index.regions->statistics[i].mean, 1 / (2 * 0.005 * k2), name);
        expect_near(tau.regions->statistics[i].mean, 2 * 0.005 * k2, name);
    }
    EXPECT_GT(index.regions->statistics[0].infinite, 0U);
    EXPECT_GT(index.regions->statistics[0].mean_of_map, 1.05 * index.regions->statistics[0].mean);
}

TEST_P(RegionValuesTest, ColourUsesTheGreyChannel) {
    if (!executor)
        return;
    std::mt19937_64 random = test::test_random(0x4E65);
    TestImage<std::uint8_t> image(90, 40, 1, 3);
    image.fill([&] { return random() % 256; });
    const std::vector<Region> regions = some_regions(random, 90, 40);
    set(regions, true);
    for (const auto& [channel, weights] : std::vector<std::pair<GreyChannel, std::array<double, 3>>>{
             {GreyChannel::red, {1, 0, 0}},
             {GreyChannel::mean, {1 / 3.0, 1 / 3.0, 1 / 3.0}},
             {GreyChannel::luma, {0.299, 0.587, 0.114}}}) {
        auto chain = std::make_shared<Chain>();
        chain->set_channel(channel);
        executor->set_chain(chain, 6);
        FrameRing ring(image.shape(), 1, executor->slot_memory());
        Frame frame = ring.try_acquire();
        copy_pixels(image.view(), frame.host());
        executor->submit(std::move(frame), true);
        const Result result = *executor->collect(true);
        ASSERT_TRUE(result.regions);
        double sum = 0;
        std::int64_t saturated = 0;
        for (int y = 0; y < 40; ++y)
            for (int x = 0; x < 90; ++x) {
                bool any = false;
                for (int c = 0; c < 3; ++c) {
                    sum += weights[static_cast<std::size_t>(c)] * image.at(3 * x + c, y);
                    any = any || image.at(3 * x + c, y) == 255;
                }
                saturated += any ? 1 : 0;
            }
        EXPECT_NEAR(result.regions->statistics[0].mean, sum / 3600, 1e-3); // weights of 16 bits
        EXPECT_EQ(result.regions->statistics[0].saturated, saturated);
    }
}

TEST_P(RegionValuesTest, CountSaturatedRawSamplesAtTheirPlace) {
    if (!executor)
        return;
    std::mt19937_64 random = test::test_random(0x4E66);
    auto image = test::uniform_image<std::uint16_t>(64, 48, 1, 1000, random);
    for (int y = 20; y < 25; ++y)
        for (int x = 12; x < 16; ++x)
            image.at(x, y) = 1023;
    const std::vector<Region> regions = {{"on", RegionShape::rectangle, {{12, 20}, {15, 24}}, "", false},
                                         {"beside", RegionShape::rectangle, {{16, 0}, {63, 47}}, "", false},
                                         {"half", RegionShape::rectangle, {{14, 20}, {15, 30}}, "", false}};
    set(regions, false);
    const auto counts = [&](const std::vector<std::string>& chain) {
        std::vector<std::int64_t> found;
        const Result result = run(chain, image, 1023);
        for (const RegionStatistics& region : result.regions->statistics)
            found.push_back(region.saturated);
        return found;
    };
    using Found = std::vector<std::int64_t>;
    EXPECT_EQ(counts({}), (Found{20, 0, 10}));
    EXPECT_EQ(counts({"speckle:radius=2"}), (Found{20, 0, 10}));
    EXPECT_EQ(counts({"flip:direction=horizontal"}), (Found{0, 20, 0})); // of the result
    EXPECT_EQ(counts({"flip:direction=horizontal", "speckle"}), (Found{-1, -1, -1}));
    // Cropped border: (0, 0) of the result is (2, 2) of the raw frame.
    const std::vector<Region> moved = {{"on", RegionShape::rectangle, {{10, 18}, {13, 22}}, "", false}};
    set(moved, false);
    EXPECT_EQ(counts({"speckle:radius=2,border=crop"}), (Found{20}));
}

TEST_P(RegionValuesTest, AnotherImageSizeMarksRegionsThatDoNotFitAndKeepsThem) {
    if (!executor)
        return;
    std::mt19937_64 random = test::test_random(0x4E67);
    const std::vector<Region> regions = {{"a", RegionShape::rectangle, {{0, 0}, {9, 9}}, "", false},
                                         {"b", RegionShape::rectangle, {{50, 30}, {59, 39}}, "", false}};
    set(regions, false);
    const auto fits = [](const Result& result) {
        std::vector<RegionFit> all;
        for (const PlacedRegion& region : result.regions->placed->regions)
            all.push_back(region.fit);
        return all;
    };
    using Fits = std::vector<RegionFit>;
    const auto large = test::uniform_image<std::uint16_t>(60, 40, 1, 1000, random);
    const auto small = test::uniform_image<std::uint16_t>(55, 35, 1, 1000, random);
    const auto tiny = test::uniform_image<std::uint16_t>(20, 5, 1, 1000, random);
    EXPECT_EQ(fits(run({}, large)), (Fits{RegionFit::whole, RegionFit::whole}));
    EXPECT_EQ(fits(run({}, small)), (Fits{RegionFit::whole, RegionFit::clipped}));
    const Result result = run({}, tiny);
    EXPECT_EQ(fits(result), (Fits{RegionFit::clipped, RegionFit::outside}));
    EXPECT_EQ(result.regions->statistics[0].pixels, 50U);
    EXPECT_EQ(result.regions->statistics[1].pixels, 0U);
    EXPECT_TRUE(std::isnan(result.regions->statistics[1].mean));
    EXPECT_EQ(fits(run({}, large)), (Fits{RegionFit::whole, RegionFit::whole}));
    executor->set_regions(nullptr, 9);
    EXPECT_FALSE(run({}, large).regions);
}

/// Hundreds of parts in parallel: every run gives the same bits.
TEST_P(RegionValuesTest, AreTheSameBitsInEveryRun) {
    if (!executor)
        return;
    std::mt19937_64 random = test::test_random(0x4E68);
    const auto image = test::speckle_image<float>(640, 480, 400, 1e9, random);
    std::vector<Region> regions;
    std::uniform_real_distribution<double> x(-5, 645), y(-5, 485);
    for (int i = 0; i < 24; ++i)
        regions.push_back({std::to_string(i),
                           static_cast<RegionShape>(i % 2),
                           {{x(random), y(random)}, {x(random), y(random)}},
                           "",
                           false});
    set(regions, true);
    executor->set_chain(std::make_shared<Chain>(), 1);
    FrameRing ring(image.shape(), 1, executor->slot_memory());
    Frame frame = ring.try_acquire();
    copy_pixels(image.view(), frame.host());
    std::vector<Result> results;
    for (int i = 0; i < 9; ++i) {
        while (executor->in_flight() >= executor->capacity())
            results.push_back(*executor->collect(true));
        executor->submit(frame, false);
    }
    while (executor->in_flight() > 0)
        results.push_back(*executor->collect(true));
    ASSERT_EQ(results.size(), 9U);
    for (const Result& result : results)
        for (std::size_t i = 0; i < regions.size(); ++i) {
            const RegionStatistics &a = results[0].regions->statistics[i], &b = result.regions->statistics[i];
            if (a.valid < 2)
                continue;
            ASSERT_EQ(std::tie(a.mean, a.std, a.min, a.max, a.median, a.valid),
                      std::tie(b.mean, b.std, b.min, b.max, b.median, b.valid))
                << i;
        }
    check_values(results[8], regions, RegionMean::plain, true,
                 [&](int px, int py) { return image.at(px, py); });
}

INSTANTIATE_TEST_SUITE_P(, RegionValuesTest, testing::Values("cpu", "cuda"), test::backend_name);

} // namespace specklescope::region_values_test
