// Chains as text, and the conversions that executors insert between stages.
#include "base/error.hpp"
#include "pipeline/chain.hpp"
#include "pipeline/convert.hpp"
#include "stages/speckle/speckle.hpp"

#include "tests/support/running.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

namespace specklescope::chain_test {

std::string refusal(const std::string& text) {
    Chain chain;
    try {
        chain.add(text);
    } catch (const UsageError& error) {
        EXPECT_TRUE(chain.stages().empty()) << "refused, yet added";
        return error.what();
    }
    return "";
}

TEST(Chain, ABypassedStageKeepsItsPlaceAndIsNotComputed) {
    Chain chain;
    chain.add("speckle:radius=2,output=contrast2");
    chain.add("gaussian:bypass=true,sigma=2");
    chain.add("temporal:bypass=true");
    chain.add("flow:bypass=false");
    const auto& stages = chain.stages();
    EXPECT_FALSE(stages[0].bypassed);
    EXPECT_TRUE(stages[1].bypassed);
    EXPECT_FALSE(stages[3].bypassed);
    EXPECT_TRUE(to_string(stages[1]).starts_with("gaussian:bypass=true,")) << to_string(stages[1]);
    EXPECT_EQ(to_string(stages[3]).find("bypass"), std::string::npos);
    EXPECT_EQ(text_in_effect(chain).find("gaussian"), std::string::npos);
    Chain again;
    for (const ChainStage& stage : stages)
        again.add(to_string(stage));
    EXPECT_EQ(to_string(again), to_string(chain));
    EXPECT_EQ(active(chain).stages().size(), 2U);
    EXPECT_EQ(chain.quantity().name, active(chain).quantity().name);
    EXPECT_FALSE(chain.stateful()) << "temporal is bypassed";
    EXPECT_EQ(chain.history(), 0U);
    EXPECT_EQ(advice(chain), (std::vector<std::string>(4))) << "nothing smooths K² before flow";
    Chain computed = chain;
    computed.stages()[1].bypassed = false;
    EXPECT_FALSE(differs_in_free_only(computed, chain));
    EXPECT_EQ(refusal("gaussian:bypass=perhaps"),
              "stage gaussian: bypass = perhaps is not possible; allowed: true, false.");
}

TEST(Chain, ReadsStageText) {
    Chain chain;
    chain.add("speckle");
    chain.add("speckle:radius=2,output=contrast");
    chain.add("speckle:exposure=2.5");
    ASSERT_EQ(chain.stages().size(), 3U);
    const auto params = [&](std::size_t i) { return chain.stages()[i].params.as<SpeckleParams>(); };
    EXPECT_EQ(params(0).radius, SpeckleParams{}.radius);
    EXPECT_EQ(params(1).radius, 2);
    EXPECT_EQ(params(1).output, SpeckleParams::Output::contrast);
    EXPECT_EQ(params(2).exposure_ms, 2.5);
    EXPECT_EQ(chain.quantity().symbol, "SFI");
}

TEST(Chain, EveryStageSurvivesConversionToText) {
    for (const StageType& type : stage_types()) {
        ChainStage stage{&type, Params(*type.table)};
        for (const ParamDecl& decl : type.table->decls()) { // different from every default
            if (decl.kind == ParamKind::choice)
                stage.params.set(decl.name, decl.choices.back());
            if (decl.kind == ParamKind::integer)
                stage.params.set(decl.name, static_cast<std::int64_t>(decl.max));
            if (decl.kind == ParamKind::real)
                stage.params.set(decl.name, decl.min + (decl.max - decl.min) / 3);
        }
        Chain chain;
        chain.add(to_string(stage));
        ASSERT_EQ(chain.stages().size(), 1U);
        for (const ParamDecl& decl : type.table->decls())
            EXPECT_EQ(chain.stages()[0].params.get(decl.name), stage.params.get(decl.name))
                << type.name << " " << decl.name;
        EXPECT_EQ(to_string(chain.stages()[0]), to_string(stage));
    }
}

TEST(Chain, QuotedTextContainsAnything) {
    Chain chain;
    chain.add(R"(convolve:kernel=file,file="a,b \"c\" | d\\.png",normalize=false)");
    const Params& params = chain.stages()[0].params;
    EXPECT_EQ(std::get<std::string>(params.get("file")), R"(a,b "c" | d\.png)");
    EXPECT_FALSE(std::get<bool>(params.get("normalize"))) << "what follows the quotes is read too";
    for (const std::string text : {R"(a,b "c".png)",
                                   R"(")",
                                   R"(\)",
                                   R"(\\)",
                                   R"(\")",
                                   R"("\)",
                                   ",",
                                   "|",
                                   " | ",
                                   "a=b",
                                   "a:b",
                                   "=",
                                   "",
                                   " ",
                                   " a ",
                                   "a\tb",
                                   "µ.tif",
                                   R"(C:\new,folder\k.npy)",
                                   R"("quoted")",
                                   R"(ends with \)",
                                   R"(ends with ,\)",
                                   "'",
                                   "a\nb"}) {
        ChainStage stage{&find_stage("convolve"), Params(*find_stage("convolve").table)};
        stage.params.set("file", text);
        Chain back;
        back.add(to_string(stage));
        EXPECT_EQ(std::get<std::string>(back.stages()[0].params.get("file")), text) << to_string(stage);
        EXPECT_EQ(to_string(back.stages()[0]), to_string(stage));
    }
    for (const std::string text : {R"(convolve:file="a)", R"(convolve:file="a\")", R"(convolve:file="a"b)",
                                   R"(convolve:file="a" ,border=zero)", R"(convolve:file=")"})
        EXPECT_NE(refusal(text).find("do not close"), std::string::npos) << text << ": " << refusal(text);
}

TEST(Chain, TextNamesEveryParameter) {
    Chain chain;
    EXPECT_EQ(to_string(chain), "none");
    chain.add("speckle");
    const std::string rest = ",also=,gain=0,read_noise=0,black=0,speckle_size=0";
    EXPECT_EQ(to_string(chain), "speckle:radius=3,exposure=10,output=sfi,border=replicate" + rest);
    chain.add("speckle:radius=1");
    EXPECT_EQ(to_string(chain), "speckle:radius=3,exposure=10,output=sfi,border=replicate" + rest +
                                    " | speckle:radius=1,exposure=10,output=sfi,border=replicate" + rest);
}

TEST(Chain, TextInEffectOmitsParametersWithoutEffect) {
    Chain chain;
    EXPECT_EQ(text_in_effect(chain), "none");
    chain.add("background:black=64,dark_file=d.tif");
    EXPECT_EQ(text_in_effect(chain), "background:dark=none,black=64,flat=none");
    chain.add("background:black=64,dark=file,dark_file=d.tif");
    EXPECT_EQ(text_in_effect(chain), "background:dark=none,black=64,flat=none | "
                                     "background:dark=file,dark_file=d.tif,flat=none");
}

std::string advice_on(const std::vector<std::string>& stages) {
    Chain chain;
    for (const std::string& stage : stages)
        chain.add(stage);
    std::string text;
    for (const std::string& line : advice_lines(chain))
        text += line + "\n";
    EXPECT_EQ(advice(chain).size(), stages.size());
    return text;
}

TEST(Chain, WarnsOfMisleadingMeans) {
    struct Case {
        std::vector<std::string> stages;
        std::string place, remedy; ///< stage that the warning names, and the remedy
    };
    for (const Case& one :
         {Case{{"speckle", "average"}, "stage average", "speckle:output=contrast2 | average | flow"},
          Case{{"temporal:output=contrast2", "average", "flow", "flip", "gaussian"},
               "stage gaussian",
               "temporal:output=contrast2 | gaussian | flow"},
          Case{{"gaussian", "crop", "speckle"}, "stage speckle", "gaussian"},
          Case{{"speckle:output=contrast", "average", "flow"}, "stage flow", "output=contrast2"}}) {
        const std::string warning = advice_on(one.stages);
        EXPECT_TRUE(warning.starts_with(one.place)) << warning;
        EXPECT_NE(warning.find(one.remedy), std::string::npos) << warning;
        EXPECT_EQ(std::count(warning.begin(), warning.end(), '\n'), 1) << warning;
    }
    for (const char* mixing : {"average", "gaussian", "convolve", "downsample"}) {
        EXPECT_NE(advice_on({mixing, "spatiotemporal:output=contrast2"}), "") << mixing;
        EXPECT_NE(advice_on({"spatiotemporal:output=bfi", mixing}), "") << mixing;
    }
}

TEST(Chain, GivesNoWarningForAGoodChain) {
    EXPECT_EQ(advice_on({}), "");
    EXPECT_EQ(advice_on({"background", "speckle:output=contrast2", "average", "gaussian", "flow"}), "");
    EXPECT_EQ(advice_on({"speckle:output=contrast", "flow"}), "");
    EXPECT_EQ(advice_on({"speckle:output=contrast", "average"}), "");
    EXPECT_EQ(advice_on({"speckle:output=tau", "average"}), "") << "proportional to K²";
    EXPECT_EQ(advice_on({"average", "gaussian", "convolve", "equalize"}), "");
    EXPECT_EQ(advice_on({"crop", "flip", "downsample:method=nearest", "average:frames=1", "speckle"}), "");
}

TEST(Chain, RefusesInvalidChains) {
    EXPECT_NE(refusal("spekle").find("There is no stage 'spekle'; allowed: speckle"), std::string::npos);
    EXPECT_NE(refusal("").find("There is no stage ''"), std::string::npos);
    EXPECT_NE(refusal("speckle:radius").find("'radius' is not of the form key=value"), std::string::npos);
    EXPECT_NE(refusal("speckle:radius=99").find("allowed: a whole number, 1…15 px"), std::string::npos);
    EXPECT_NE(refusal("speckle:radius=nan").find("allowed: a whole number, 1…15 px"), std::string::npos);
    EXPECT_NE(refusal("speckle:colour=red").find("stage speckle has no key 'colour'; allowed: radius"),
              std::string::npos);
    Chain chain;
    for (int i = 0; i < kMaxStages; ++i)
        chain.add("speckle");
    EXPECT_THROW(chain.add("speckle"), UsageError);
    EXPECT_EQ(chain.stages().size(), static_cast<std::size_t>(kMaxStages));
}

TEST(Chain, AnEditThatDecidesWhetherAStagePassesNeedsPreparation) {
    const auto stage = [](const char* text) {
        Chain chain;
        chain.add(text);
        return chain.stages()[0];
    };
    EXPECT_TRUE(passes(stage("background")));
    EXPECT_FALSE(passes(stage("background:black=1")));
    EXPECT_FALSE(passes(stage("background:flat=capture")));
    EXPECT_FALSE(passes(stage("speckle")));
    EXPECT_FALSE(differs_in_free_only(stage("background"), stage("background:black=1")));
    EXPECT_TRUE(differs_in_free_only(stage("background:black=2"), stage("background:black=1")));
    EXPECT_TRUE(differs_in_free_only(stage("background:frames=2"), stage("background")));
}

TEST(Chain, KnowsWhichEditsNeedNoPreparation) {
    Chain a;
    a.add("speckle:radius=3,exposure=10");
    Chain b = a;
    EXPECT_TRUE(differs_in_free_only(a, b));
    b.stages()[0].params.set("exposure", 20.0);
    b.stages()[0].params.set("output", std::string("tau"));
    EXPECT_TRUE(differs_in_free_only(a, b));
    b.stages()[0].params.set("radius", std::int64_t{4});
    EXPECT_FALSE(differs_in_free_only(a, b));
    b = a;
    b.add("speckle");
    EXPECT_FALSE(differs_in_free_only(a, b));
    EXPECT_FALSE(differs_in_free_only(b, a));
    EXPECT_FALSE(differs_in_free_only(a, Chain()));
}

/// Pixels with row padding, which must not change.
struct Padded {
    Padded(const Shape& size, std::size_t padding)
        : shape(size), pitch(size.row_bytes() + padding * pixel_bytes(size.type)),
          bytes(pitch * static_cast<std::size_t>(size.height), std::byte{0xA5}) {}
    HostView view() { return {bytes.data(), shape, pitch}; }
    bool padding_untouched() const {
        for (int y = 0; y < shape.height; ++y)
            for (std::size_t i = shape.row_bytes(); i < pitch; ++i)
                if (bytes[static_cast<std::size_t>(y) * pitch + i] != std::byte{0xA5})
                    return false;
        return true;
    }
    Shape shape;
    std::size_t pitch;
    std::vector<std::byte> bytes;
};

double bt601(double r, double g, double b) { return 0.299 * r + 0.587 * g + 0.114 * b; }

double exact_grey(GreyChannel channel, double r, double g, double b) {
    switch (channel) {
    case GreyChannel::red:
        return r;
    case GreyChannel::green:
        return g;
    case GreyChannel::blue:
        return b;
    case GreyChannel::mean:
        return (r + g + b) / 3;
    case GreyChannel::luma:
        break;
    }
    return bt601(r, g, b);
}

constexpr std::array kChannels = {GreyChannel::luma, GreyChannel::red, GreyChannel::green, GreyChannel::blue,
                                  GreyChannel::mean};

TEST(Convert, LumaIsBt601AndNotRounded) {
    std::set<float> values;
    for (unsigned r = 0; r < 256; r += 3)
        for (unsigned g = 0; g < 256; g += 5)
            for (unsigned b = 0; b < 256; b += 7) {
                const float got = luma<std::uint8_t>(
                    static_cast<std::uint8_t>(r), static_cast<std::uint8_t>(g), static_cast<std::uint8_t>(b));
                // 16-bit weights are off by at most 0.5/65536 each: 0.006 of a level for 8 bits.
                ASSERT_NEAR(got, bt601(r, g, b), 0.006) << r << " " << g << " " << b;
                values.insert(got);
            }
    EXPECT_GT(values.size(), 10'000U) << "levels between the whole ones";
    for (const auto& [r, g, b] :
         {std::array{65535U, 0U, 0U}, {0U, 65535U, 0U}, {0U, 0U, 65535U}, {65535U, 65535U, 1U}}) {
        const double got = luma<std::uint16_t>(static_cast<std::uint16_t>(r), static_cast<std::uint16_t>(g),
                                               static_cast<std::uint16_t>(b));
        EXPECT_NEAR(got, bt601(r, g, b), 1.5) << r << " " << g << " " << b; // 65535 · 1.5/65536
    }
    EXPECT_NEAR(luma(0.25F, 100.F, -3.F), bt601(0.25, 100, -3), 1e-5);
    EXPECT_NEAR(mean_of(0.25F, 100.F, -3.F), 97.25 / 3, 1e-5);
    EXPECT_FLOAT_EQ(mean_of<std::uint16_t>(65535, 65534, 1), 131070.0F / 3);
}

TEST(Convert, GreyRgbStaysExactlyGrey) {
    for (unsigned v = 0; v <= 65535; ++v) {
        const auto wide = static_cast<std::uint16_t>(v);
        const auto narrow = static_cast<std::uint8_t>(v);
        ASSERT_EQ(luma<std::uint16_t>(wide, wide, wide), static_cast<float>(wide));
        ASSERT_EQ(mean_of<std::uint16_t>(wide, wide, wide), static_cast<float>(wide));
        ASSERT_EQ(luma<std::uint8_t>(narrow, narrow, narrow), static_cast<float>(narrow));
        ASSERT_EQ(mean_of<std::uint8_t>(narrow, narrow, narrow), static_cast<float>(narrow));
    }
    int differ = 0;
    for (int i = 0; i < 100'000; ++i) {
        const float v = std::ldexp(1.0F + static_cast<float>(i) * 1e-5F, i % 40 - 20);
        differ += luma(v, v, v) != v || mean_of(v, v, v) != v;
    }
    EXPECT_EQ(differ, 0) << "grey float RGB must come out as it went in";
}

TEST(Convert, EveryChannelRespectsPitchOnBothSides) {
    for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f32})
        for (const auto& [width, height] : {std::pair{1, 1}, {17, 13}, {64, 3}})
            for (const GreyChannel channel : kChannels) {
                Padded colour({width, height, 3, type}, 5);
                test::paint(colour.view(), 1);
                const Shape shape = accepted_shape(find_stage("speckle"), colour.view().shape, channel);
                EXPECT_EQ(shape.channels, 1);
                EXPECT_EQ(shape.type, channel_index(channel) >= 0 ? type : PixelType::f32)
                    << "one channel as it is, a mean unrounded";
                Padded grey(shape, 3);
                convert(colour.view(), grey.view(), channel);
                Padded real({width, height, 3, PixelType::f32}, 7);
                convert(colour.view(), real.view(), channel);
                EXPECT_TRUE(test::shows(real.view(), 1)) << "the same number in f32";
                EXPECT_TRUE(grey.padding_untouched() && real.padding_untouched());
                for (int y = 0; y < height; ++y)
                    for (int x = 0; x < width; ++x) {
                        const double exact = exact_grey(channel, test::pixel(1, x, y, 0),
                                                        test::pixel(1, x, y, 1), test::pixel(1, x, y, 2));
                        const double got = dispatch(shape.type, [&](auto zero) {
                            return static_cast<double>(grey.view().as<decltype(zero)>().row(y)[x]);
                        });
                        EXPECT_NEAR(got, exact, channel_index(channel) >= 0 ? 0 : 0.006);
                    }
            }
}

TEST(Convert, AStageGetsWhatItAcceptsOrAnError) {
    const StageType& speckle = find_stage("speckle");
    const Shape grey{8, 6, 1, PixelType::u16};
    EXPECT_EQ(accepted_shape(speckle, grey), grey);
    const Shape rgb{8, 6, 3, PixelType::u8};
    EXPECT_EQ(accepted_shape(speckle, rgb, GreyChannel::luma), (Shape{8, 6, 1, PixelType::f32}));
    EXPECT_EQ(accepted_shape(speckle, rgb, GreyChannel::green), (Shape{8, 6, 1, PixelType::u8}));
    StageType real = speckle;
    real.types = {PixelType::f32};
    EXPECT_EQ(accepted_shape(real, {8, 6, 3, PixelType::u16}), (Shape{8, 6, 1, PixelType::f32}));
    StageType bytes = speckle;
    bytes.types = {PixelType::u8};
    EXPECT_THROW((void)accepted_shape(bytes, grey), UsageError);
    StageType colour = speckle;
    colour.channels = {3};
    EXPECT_THROW((void)accepted_shape(colour, grey), UsageError);
    EXPECT_THROW((void)accepted_shape(speckle, {8, 6, 2, PixelType::u8}), UsageError);
}

TEST(Chain, TheExposureUsedHasItsOrigin) {
    FrameInfo silent;
    FrameInfo camera;
    camera.exposure_ms = 5;
    camera.exposure_origin = ExposureOrigin::camera;
    const auto used = [](const std::string& stage, const FrameInfo& info) {
        return exposure_used(test::chain_of(stage), info);
    };
    EXPECT_EQ(to_string(used("speckle:exposure=10", camera)), "5 ms (camera)");
    camera.exposure_origin = ExposureOrigin::file;
    EXPECT_EQ(to_string(used("speckle", camera)), "5 ms (file)");
    EXPECT_EQ(to_string(used("", camera)), "5 ms (file)") << "known whether it is needed or not";
    EXPECT_EQ(to_string(used("speckle:exposure=10", silent)), "10 ms (parameter)")
        << "said, if as the default";
    EXPECT_EQ(to_string(used("speckle:exposure=2.5", silent)), "2.5 ms (parameter)");
    EXPECT_EQ(used("speckle", silent).origin, ExposureOrigin::assumed);
    EXPECT_EQ(used("speckle", silent).ms, 10);
    EXPECT_EQ(used("temporal:output=tau", silent).origin, ExposureOrigin::assumed);
    for (const char* relative : {"speckle:output=contrast", "speckle:output=bfi,exposure=3", "gaussian", ""})
        EXPECT_FALSE(used(relative, silent).known()) << relative << " needs none";
    EXPECT_EQ(to_string(Exposure()), "");
}

TEST(Image, CopyPixelsRespectsPitch) {
    for (const PixelType type : {PixelType::u8, PixelType::u16, PixelType::f32})
        for (const std::size_t pad : {0U, 5U}) {
            Padded from({17, 13, 3, type}, pad);
            test::paint(from.view(), 3);
            Padded to({17, 13, 3, type}, 5 - pad);
            copy_pixels(from.view(), to.view());
            EXPECT_TRUE(test::shows(to.view(), 3));
            EXPECT_TRUE(to.padding_untouched());
        }
}

TEST(Image, ShapesOutOfBoundsAreRefusedBeforeAnythingIsAllocated) {
    EXPECT_NO_THROW(check_shape({1, 1, 1, PixelType::u8}, "x"));
    EXPECT_NO_THROW(check_shape({kMaxSide, 1, 3, PixelType::f32}, "x"));
    for (const Shape& bad : {Shape{0, 5, 1, PixelType::u8},
                             {5, 0, 1, PixelType::u8},
                             {-1, 5, 1, PixelType::u8},
                             {kMaxSide + 1, 1, 1, PixelType::u8},
                             {100'000, 100'000, 1, PixelType::u8},
                             {kMaxSide, kMaxSide, 3, PixelType::f32}})
        EXPECT_THROW(check_shape(bad, "x"), RunError) << to_string(bad);
    try {
        check_shape({100'000, 100'000, 1, PixelType::u8}, "a.tif");
    } catch (const RunError& error) {
        EXPECT_EQ(std::string(error.what()),
                  "a.tif claims 100000×100000 pixels; at most 65536 a side and 4 GiB in all are allowed.");
    }
}

} // namespace specklescope::chain_test
