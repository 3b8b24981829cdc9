// Motion correction against scenes of known motion: sums of plane waves, which have a value at every
// position.
#include "pipeline/executor.hpp"
#include "stages/border.hpp"
#include "tests/support/random.hpp"
#include "tests/support/stage_runner.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace specklescope::test::register_test {

/// A texture without an end: mean 0, standard deviation 1, wavelengths 5 … 60 px.
class Texture {
public:
    explicit Texture(std::mt19937_64& random, int waves = 300) {
        std::uniform_real_distribution<double> part(0, 1);
        for (int i = 0; i < waves; ++i) {
            const double length = 5 * std::pow(12.0, part(random));
            const double angle = 2 * std::numbers::pi * part(random);
            const double k = 2 * std::numbers::pi / length;
            waves_.push_back({k * std::cos(angle), k * std::sin(angle), 2 * std::numbers::pi * part(random)});
        }
    }
    /// The window of width × height pixels of the scene that has moved by (dx, dy).
    std::vector<double> window(int width, int height, double dx, double dy) const {
        std::vector<double> values(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 0);
        const double scale = std::sqrt(2.0 / static_cast<double>(waves_.size()));
        for (const auto& [kx, ky, phase] : waves_) // e^(i(kx·x)) by repeated turns
            for (int y = 0; y < height; ++y) {
                double c = scale * std::cos(ky * (y - dy) - kx * dx + phase);
                double s = scale * std::sin(ky * (y - dy) - kx * dx + phase);
                const double step_c = std::cos(kx);
                const double step_s = std::sin(kx);
                double* const row =
                    values.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(width);
                for (int x = 0; x < width; ++x) {
                    row[x] += c;
                    const double next = c * step_c - s * step_s;
                    s = s * step_c + c * step_s;
                    c = next;
                }
            }
        return values;
    }

private:
    std::vector<std::array<double, 3>> waves_;
};

/// Light of a laser spot that stays where it is, 0.3 … 1.3.
double light_at(int x, int y, int width, int height) {
    const double a = (x - 0.4 * width) / (0.3 * width);
    const double b = (y - 0.6 * height) / (0.3 * height);
    return 0.3 + std::exp(-0.5 * (a * a + b * b));
}

template <class T> TestImage<T> picture(const Texture& texture, int width, int height, double dx, double dy,
                                        double mean, std::mt19937_64* noise = nullptr, bool lit = false) {
    const std::vector<double> values = texture.window(width, height, dx, dy);
    TestImage<T> image(width, height, 3);
    std::normal_distribution<double> normal;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            double v = mean * (1 + 0.3 * values[static_cast<std::size_t>(y * width + x)]);
            v = std::max(0.1 * mean, v) * (lit ? light_at(x, y, width, height) : 1);
            if (noise)
                v += std::sqrt(v) * normal(*noise);
            if constexpr (std::is_integral_v<T>)
                v = std::clamp(std::nearbyint(v), 0.0, static_cast<double>(std::numeric_limits<T>::max()));
            image.at(x, y) = static_cast<T>(v);
        }
    return image;
}

/// The stage, with an output of its own type.
template <class T> class Registered {
public:
    Registered(const std::vector<std::string>& texts, int width, int height)
        : output(width, height, 5), stage_(find_stage("register").make_host(params_of("register", texts))) {
        stage_->prepare({width, height, 1, pixel_type_of<T>()});
    }
    FrameMotion run(const TestImage<T>& frame) {
        PixelCounts counts;
        FrameInfo info;
        stage_->run(frame.view(), output.view(), {.info = info, .counts = counts});
        stage_->describe(info);
        return info.motion.value();
    }
    HostStage& stage() { return *stage_; }
    TestImage<T> output;

private:
    std::unique_ptr<HostStage> stage_;
};

TEST(Register, FindsPartsOfAPixelInNoiseAndUnevenLight) {
    auto random = test_random(32001);
    const Texture texture(random);
    std::uniform_real_distribution<double> place(-6, 6);
    for (const std::string reference : {"fixed", "running"}) {
        Registered<std::uint16_t> stage({"reference=" + reference}, 330, 300);
        stage.run(picture<std::uint16_t>(texture, 330, 300, 0, 0, 1000, &random, true));
        for (int i = 0; i < 12; ++i) {
            const double dx = place(random);
            const double dy = place(random);
            const FrameMotion motion =
                stage.run(picture<std::uint16_t>(texture, 330, 300, dx, dy, 1000, &random, true));
            EXPECT_TRUE(motion.moved);
            EXPECT_NEAR(motion.x, dx, 0.05) << reference << i;
            EXPECT_NEAR(motion.y, dy, 0.05) << reference << i;
        }
    }
}

TEST(Register, FollowsADriftFartherThanTheComparedPart) {
    auto random = test_random(32002);
    const Texture texture(random, 100);
    Registered<std::uint8_t> stage({"size=64", "max_shift=400"}, 400, 96);
    for (int i = 0; i < 40; ++i) {
        const FrameMotion motion =
            stage.run(picture<std::uint8_t>(texture, 400, 96, 3.0 * i, 0, 80, &random));
        ASSERT_NEAR(motion.x, 3.0 * i, 0.4) << i;
        ASSERT_NEAR(motion.y, 0, 0.4) << i;
    }
}

/// Whole shifts move samples unchanged; outside, the border rule holds.
template <class T> void expect_whole_shifts(const Texture& texture, double mean) {
    constexpr int kWidth = 150, kHeight = 131;
    const std::vector<std::pair<std::string, Border>> borders = {{"replicate", Border::replicate},
                                                                 {"reflect", Border::reflect},
                                                                 {"wrap", Border::wrap},
                                                                 {"zero", Border::zero}};
    for (const auto& [name, border] : borders) {
        Registered<T> stage({"border=" + name}, kWidth, kHeight);
        stage.run(picture<T>(texture, kWidth, kHeight, 0, 0, mean));
        for (const auto& [dx, dy] : {std::pair{7, -4}, std::pair{-3, 9}}) {
            const TestImage<T> frame = picture<T>(texture, kWidth, kHeight, dx, dy, mean);
            stage.run(frame);
            for (int y = 0; y < kHeight; ++y)
                for (int x = 0; x < kWidth; ++x) {
                    const int i = border_index(x + dx, kWidth, border);
                    const int j = border_index(y + dy, kHeight, border);
                    ASSERT_EQ(stage.output.at(x, y), i < 0 || j < 0 ? T{} : frame.at(i, j))
                        << name << " " << x << "," << y;
                }
        }
    }
}

TEST(Register, MovesWholePixelsWithoutChangingThem) {
    auto random = test_random(32003);
    const Texture texture(random, 100);
    expect_whole_shifts<std::uint8_t>(texture, 80);
    expect_whole_shifts<std::uint16_t>(texture, 20000);
    expect_whole_shifts<float>(texture, 1);
}

TEST(Register, InterpolatesBetweenPixels) {
    auto random = test_random(32004);
    const Texture texture(random, 100);
    Registered<std::uint16_t> stage({"interpolate=linear"}, 200, 180);
    const auto still = picture<std::uint16_t>(texture, 200, 180, 0, 0, 20000);
    stage.run(still);
    const auto frame = picture<std::uint16_t>(texture, 200, 180, 2.25, -3.5, 20000);
    const FrameMotion motion = stage.run(frame);
    const double x0 = std::round(256 * motion.x) / 256;
    const double y0 = std::round(256 * motion.y) / 256;
    for (int y = 20; y < 160; ++y)
        for (int x = 20; x < 180; ++x) {
            const int i = static_cast<int>(std::floor(x + x0));
            const int j = static_cast<int>(std::floor(y + y0));
            const double a = x + x0 - i;
            const double b = y + y0 - j;
            const double expected = (1 - b) * ((1 - a) * frame.at(i, j) + a * frame.at(i + 1, j)) +
                                    b * ((1 - a) * frame.at(i, j + 1) + a * frame.at(i + 1, j + 1));
            ASSERT_NEAR(stage.output.at(x, y), expected, 0.51) << x << "," << y;
        }
}

TEST(Register, ReportsNoShiftOfBlankImages) {
    auto random = test_random(32005);
    const Texture texture(random, 60);
    Registered<std::uint8_t> stage({}, 128, 128);
    TestImage<std::uint8_t> blank(128, 128);
    blank.fill([] { return 90; });
    for (int i = 0; i < 2; ++i) { // before there is a reference, and after
        const FrameMotion motion = stage.run(blank);
        EXPECT_TRUE(std::isnan(motion.x) && std::isnan(motion.y));
        EXPECT_FALSE(motion.moved);
        EXPECT_FALSE(motion.left_out); // not asked for
        EXPECT_NE(stage.stage().note().find("blank"), std::string::npos);
        EXPECT_EQ(stage.output.at(5, 7), 90);
        EXPECT_TRUE(stage.run(picture<std::uint8_t>(texture, 128, 128, 0, 0, 80)).moved);
    }
}

TEST(Register, FindsNothingInImagesThatHaveNothingInCommon) {
    auto random = test_random(32006);
    int found = 0;
    for (const auto& [width, height] : {std::pair{256, 256}, std::pair{64, 64}, std::pair{512, 1}}) {
        Registered<std::uint8_t> stage({"frames=1"}, width, height);
        stage.run(uniform_image<std::uint8_t>(width, height, 0, 255, random));
        for (int i = 0; i < 60; ++i)
            found += stage.run(uniform_image<std::uint8_t>(width, height, 0, 255, random)).moved ? 1 : 0;
    }
    EXPECT_LE(found, 5);
}

TEST(Register, TakesThinTinyAndColourImagesAndUndefinedSamples) {
    auto random = test_random(32007);
    const Texture texture(random, 60);
    Registered<std::uint16_t> line({"size=1024"}, 1024, 1);
    line.run(picture<std::uint16_t>(texture, 1024, 1, 0, 0, 20000));
    const FrameMotion along = line.run(picture<std::uint16_t>(texture, 1024, 1, 2.3, 0, 20000));
    EXPECT_NEAR(along.x, 2.3, 0.1);
    EXPECT_EQ(along.y, 0);

    Registered<std::uint8_t> pixel({}, 1, 1);
    TestImage<std::uint8_t> one(1, 1);
    one.at(0, 0) = 17;
    EXPECT_FALSE(pixel.run(one).moved);
    EXPECT_EQ(pixel.output.at(0, 0), 17);

    Registered<float> real({}, 200, 160);
    real.run(picture<float>(texture, 200, 160, 0, 0, 1));
    auto holed = picture<float>(texture, 200, 160, 3, -2, 1);
    holed.at(100, 80) = std::nanf("");
    holed.at(60, 70) = std::numeric_limits<float>::infinity();
    const FrameMotion motion = real.run(holed);
    EXPECT_NEAR(motion.x, 3, 0.2);
    EXPECT_NEAR(motion.y, -2, 0.2);
    EXPECT_TRUE(std::isnan(real.output.at(97, 82)));

    const auto stage = find_stage("register").make_host(params_of("register", {}));
    const Shape colour{160, 140, 3, PixelType::u8};
    stage->prepare(colour);
    TestImage<std::uint8_t> output(160, 140, 0, 3);
    FrameInfo info;
    PixelCounts counts;
    for (const int dx : {0, 5}) {
        const auto grey = picture<std::uint8_t>(texture, 160, 140, dx, 0, 80);
        TestImage<std::uint8_t> image(160, 140, 0, 3);
        for (int y = 0; y < 140; ++y)
            for (int x = 0; x < 160; ++x)
                for (int c = 0; c < 3; ++c)
                    image.at(3 * x + c, y) = static_cast<std::uint8_t>(grey.at(x, y) / (c + 1));
        stage->run(image.view(), output.view(), {.info = info, .counts = counts});
        stage->describe(info);
        EXPECT_NEAR(info.motion->x, dx, 0.1);
        if (dx > 0) {
            EXPECT_EQ(output.at(3 * 40 + 2, 30), image.at(3 * (40 + dx) + 2, 30));
        }
    }
}

// --- chains ---

class Chained {
public:
    Chained(const std::vector<std::pair<std::string, std::vector<std::string>>>& stages, int width,
            int height)
        : executor_(make_host_executor(2)),
          ring_({width, height, 1, PixelType::u16}, 3, executor_->slot_memory()) {
        auto chain = std::make_shared<Chain>();
        for (const auto& [name, texts] : stages)
            chain->add({&find_stage(name), params_of(name, texts)});
        executor_->set_chain(std::move(chain), 1);
    }
    Result run(const TestImage<std::uint16_t>& image) {
        Frame frame = ring_.acquire(std::chrono::seconds(10));
        copy_pixels(image.view(), frame.host());
        frame.info() = FrameInfo();
        executor_->submit(std::move(frame), true);
        return executor_->collect(true).value();
    }

private:
    std::unique_ptr<Executor> executor_;
    FrameRing ring_;
};

double mean_of(const Result& result, int margin) {
    const auto view = result.image.host().as<float>();
    double total = 0;
    for (int y = margin; y < view.height - margin; ++y)
        for (int x = margin; x < view.width - margin; ++x)
            total += view.row(y)[x];
    return total / (view.width - 2 * margin) / (view.height - 2 * margin);
}

TEST(Register, ADriftingSceneHasTheTemporalContrastOfAStillOne) {
    constexpr int kFrames = 25, kMargin = 30;
    const auto contrast = [](double speed, bool corrected) {
        auto random = test_random(32008);
        const Texture texture(random, 100);
        std::vector<std::pair<std::string, std::vector<std::string>>> stages = {
            {"temporal", {"frames=25", "output=contrast"}}};
        if (corrected)
            stages.insert(stages.begin(), {"register", {}});
        Chained chain(stages, 200, 180);
        double k = 0;
        for (int i = 0; i < kFrames; ++i) // a contrast of 0.05 by noise
            k = mean_of(chain.run(picture<std::uint16_t>(texture, 200, 180, speed * i, 0, 400, &random)),
                        kMargin);
        return k;
    };
    const double still = contrast(0, false);
    EXPECT_NEAR(contrast(0, true), still, 0.001 * still);
    EXPECT_NEAR(contrast(1, true), still, 0.03 * still);
    EXPECT_GT(contrast(1, false), 3 * still);
}

TEST(Register, LeavesFramesThatMovedTooFarOutOfAverages) {
    auto random = test_random(32009);
    const Texture texture(random, 60);
    const auto still = picture<std::uint16_t>(texture, 128, 128, 0, 0, 20000);
    const auto far = picture<std::uint16_t>(texture, 128, 128, 25, 0, 20000);
    const auto other = uniform_image<std::uint16_t>(128, 128, 0, 40000, random);
    for (const bool skip : {true, false}) {
        Chained chain({{"register", {"max_shift=10", "size=128", skip ? "skip=true" : "skip=false"}},
                       {"average", {"frames=4"}}},
                      128, 128);
        chain.run(still);
        const double mean = mean_of(chain.run(still), 0);
        for (const auto* image : {&far, &other}) {
            const Result result = chain.run(*image);
            ASSERT_TRUE(result.info.motion.has_value());
            EXPECT_FALSE(result.info.motion->moved);
            EXPECT_EQ(result.info.motion->left_out, skip);
            EXPECT_EQ(result.warmup.frames == 2, skip);
            EXPECT_EQ(mean_of(result, 0) == mean, skip);
        }
        EXPECT_TRUE(chain.run(still).info.motion->moved);
    }
}

} // namespace specklescope::test::register_test
