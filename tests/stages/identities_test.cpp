// Identities of grey levels, contrast and geometry for any image, without stored results.
#include "tests/stages/identities.hpp"

#include <map>

namespace specklescope::identities_test {

// --- histograms ---

TEST_P(Identities, EqualisingTwiceIsEqualisingOnce) {
    for (const int channels : {1}) {
        const auto image = levels<std::uint8_t>(93, 70, channels);
        const Picture once = run("equalize:bins=256", image);
        EXPECT_EQ(apart(once, run("equalize:bins=256 | equalize:bins=256", image)), 0);
        EXPECT_GT(apart(once, picture_of(image.view())), 0);
    }
    const auto deep = levels<std::uint16_t>(93, 70);
    EXPECT_EQ(apart(run("equalize:bins=65536", deep), run("equalize:bins=65536 | equalize:bins=65536", deep)),
              0);
}

TEST_P(Identities, ZeroStrengthChangesNothing) {
    const auto image = levels<std::uint8_t>(93, 70, 3);
    EXPECT_EQ(apart(run("equalize:strength=0", image), picture_of(image.view())), 0);
}

TEST_P(Identities, EqualisingKeepsTheOrderOfGreyLevels) {
    const auto image = levels<std::uint16_t>(120, 80);
    for (const char* stage :
         {"equalize", "equalize:scaling=minmax", "equalize:bins=16", "equalize:strength=0.5"}) {
        const Picture made = run(stage, image);
        std::map<int, double> seen;
        for (int y = 0; y < 80; ++y)
            for (int x = 0; x < 120; ++x) {
                const auto [at, fresh] = seen.emplace(image.at(x, y), made.at(x, y));
                ASSERT_TRUE(fresh || at->second == made.at(x, y)) << "one level, two results: " << stage;
            }
        double last = -1;
        for (const auto& [level, value] : seen) {
            ASSERT_GE(value, last) << stage << " at level " << level;
            last = value;
        }
    }
}

TEST_P(Identities, OneTileWithoutALimitIsGlobalEqualisation) {
    const auto image = levels<std::uint8_t>(96, 64);
    const Picture local = run("clahe:tiles=1,clip=0,bins=256", image);
    const Picture global = run("equalize:bins=256", image);
    EXPECT_LE(apart(local, global), 2);
}

// --- time ---

TEST_P(Identities, AStillSceneHasNoTemporalContrastAndInfiniteFlow) {
    for (int count : {2, 5, 25, 60}) {
        const auto image = levels<std::uint16_t>(45, 31);
        const auto real = noise(45, 31);
        auto lit = image; // no black pixel, which would be undefined
        for (int y = 0; y < 31; ++y)
            for (int x = 0; x < 45; ++x)
                lit.at(x, y) = std::max<std::uint16_t>(1, lit.at(x, y));
        const std::vector<const TestImage<std::uint16_t>*> still(static_cast<std::size_t>(count), &lit);
        const std::vector<const TestImage<float>*> still_real(static_cast<std::size_t>(count), &real);
        for (const double value : run<std::uint16_t>("temporal:output=contrast", still).samples)
            ASSERT_EQ(value, 0) << count;
        for (const double value : run<float>("temporal:output=contrast", still_real).samples)
            ASSERT_EQ(value, 0) << count;
        for (const double value : run<std::uint16_t>("temporal:output=sfi", still).samples)
            ASSERT_EQ(value, std::numeric_limits<double>::infinity()) << count;
    }
}

TEST_P(Identities, TemporalContrastIsIndependentOfBrightnessAndOldFrames) {
    std::vector<TestImage<float>> frames, brighter;
    for (std::uint64_t i = 0; i < 12; ++i) {
        frames.push_back(noise(45, 31, 1, 100 + i));
        brighter.push_back(frames.back());
        for (int y = 0; y < 31; ++y)
            for (int x = 0; x < 45; ++x)
                brighter.back().at(x, y) *= 4;
    }
    const auto all = [](const std::vector<TestImage<float>>& from, std::size_t first) {
        std::vector<const TestImage<float>*> list;
        for (std::size_t i = first; i < from.size(); ++i)
            list.push_back(&from[i]);
        return list;
    };
    const std::string stage = "temporal:frames=7,output=contrast";
    const Picture twelve = run<float>(stage, all(frames, 0));
    EXPECT_LE(apart(twelve, run<float>(stage, all(brighter, 0))), 1e-6);
    EXPECT_LE(apart(twelve, run<float>(stage, all(frames, 5))), 1e-6) << "the last seven alone";
}

// --- geometry ---

TEST_P(Identities, FourQuarterTurnsAndTwoMirrorsAreNothing) {
    const auto check = [&](const auto& image) {
        const Picture was = picture_of(image.view());
        EXPECT_EQ(apart(run("rotate90 | rotate90 | rotate90 | rotate90", image), was), 0);
        EXPECT_EQ(apart(run("rotate90:turns=1 | rotate90:turns=3", image), was), 0);
        EXPECT_EQ(apart(run("rotate90 | rotate90", image), run("rotate90:turns=2", image)), 0);
        EXPECT_EQ(apart(run("rotate90:turns=2", image), run("flip:direction=both", image)), 0);
        for (const char* way : {"horizontal", "vertical", "both"})
            EXPECT_EQ(
                apart(run(std::string("flip:direction=") + way + " | flip:direction=" + way, image), was), 0);
        EXPECT_EQ(apart(run("flip | flip:direction=vertical", image), run("flip:direction=both", image)), 0);
        EXPECT_GT(apart(run("rotate90:turns=2", image), was), 0);
    };
    check(levels<std::uint8_t>(131, 67, 3));
    check(levels<std::uint16_t>(64, 1));
    check(noise(1, 45, 3));
    check(levels<std::uint16_t>(130, 129));
    // clockwise: the left column moves to the top
    const Picture turned = run("rotate90", levels<std::uint8_t>(5, 3));
    const auto image = levels<std::uint8_t>(5, 3);
    for (int y = 0; y < 5; ++y)
        for (int x = 0; x < 3; ++x)
            EXPECT_EQ(turned.at(x, y), image.at(y, 2 - x));
}

TEST_P(Identities, ACropIsAPartOfTheImage) {
    const auto check = [&](const auto& image) {
        const Picture was = picture_of(image.view());
        EXPECT_EQ(apart(run("crop", image), was), 0);
        EXPECT_EQ(apart(run("crop:x=3,y=2,width=50,height=31", image), part(was, 3, 2, 50, 31)), 0);
        EXPECT_EQ(
            apart(run("crop:x=7,y=11", image), part(was, 7, 11, was.shape.width - 7, was.shape.height - 11)),
            0);
        EXPECT_EQ(apart(run("crop:x=3,y=2 | crop:x=4,y=9", image), run("crop:x=7,y=11", image)), 0);
    };
    check(levels<std::uint8_t>(77, 59, 3));
    check(levels<std::uint16_t>(77, 59));
    check(noise(77, 59, 3));
}

TEST_P(Identities, BorderCropIsTheInteriorOfAnyOtherBorder) {
    const auto image = levels<std::uint16_t>(77, 59);
    struct Case {
        std::string stage;
        double apart; // the last bit of K, if a column moves within its vector; rounding after an FFT
    };
    for (const Case& test :
         {Case{"speckle:radius=4,output=contrast", 1.2e-7}, Case{"gaussian:method=direct,sigma=1", 0},
          Case{"gaussian:method=fft,sigma=1", 1}, Case{"gaussian:method=binomial5", 0}}) {
        const Picture inside = run(test.stage + ",border=crop", image);
        const int margin = (77 - inside.shape.width) / 2;
        EXPECT_GT(margin, 0);
        for (const char* border : {"replicate", "reflect", "zero"}) {
            const Picture whole = run(test.stage + ",border=" + border, image);
            EXPECT_LE(apart(inside, part(whole, margin, margin, inside.shape.width, inside.shape.height)),
                      test.apart)
                << test.stage << ", " << border;
        }
    }
}

TEST_P(Identities, DownsamplingKeepsMeansAndNestsWithoutAveraging) {
    for (const double value : run("downsample:factor=4", flat<std::uint16_t>(75, 50, 1234, 3)).samples)
        EXPECT_EQ(value, 1234);
    const auto image = levels<std::uint16_t>(96, 64, 3);
    EXPECT_EQ(apart(run("downsample:method=nearest,factor=2 | downsample:method=nearest,factor=3", image),
                    run("downsample:method=nearest,factor=6", image)),
              0);
    const auto real = noise(96, 64, 1, 3);
    EXPECT_LE(apart(run("downsample:factor=2 | downsample:factor=2", real), run("downsample:factor=4", real)),
              1e-6);
}

TEST_P(Identities, SpeckleContrastIsIndependentOfBrightness) {
    auto image = levels<std::uint16_t>(77, 59);
    const Picture one = run("speckle:output=contrast", image);
    for (int y = 0; y < 59; ++y)
        for (int x = 0; x < 77; ++x)
            image.at(x, y) = static_cast<std::uint16_t>(image.at(x, y) * 8);
    EXPECT_LE(apart(one, run("speckle:output=contrast", image)), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(On, Identities, testing::ValuesIn(backends()), backend_name);

} // namespace specklescope::identities_test
