// Stage flow: equals a contrast stage's own flow output; the true index after averaging K²; and invalid
// contrast values.
#include "stages/flow/flow.hpp"
#include "tests/support/executors.hpp"
#include "tests/support/stage_runner.hpp"

#include <cmath>

namespace specklescope::test::flow_test {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

bool gives_contrast(const ChainStage& stage) {
    const Measure measure = stage.type->quantity(stage.params, {}).measure;
    return measure == Measure::contrast || measure == Measure::contrast2;
}

/// Calls f(stage) for every stage of the registry with each of its outputs.
template <class F> void for_outputs(F&& f) {
    for (const StageType& type : stage_types()) {
        const ParamDecl* output = type.table->find("output");
        for (const std::string& choice : output ? output->choices : std::vector<std::string>{""}) {
            ChainStage stage{&type, Params(*type.table)};
            if (output)
                stage.params.set("output", choice);
            f(stage);
        }
    }
}

Result computed(Executor& executor, const std::vector<std::string>& chain) {
    std::mt19937_64 random = test_random(31);
    std::vector<TestImage<std::uint16_t>> frames;
    for (int i = 0; i < 30; ++i) {
        frames.push_back(uniform_image<std::uint16_t>(67, 41, 0, 4095, random));
        for (int y = 0; y < 20; ++y) // windows of one value, and of zeros
            for (int x = 0; x < 60; ++x)
                frames.back().at(x, y) = x < 30 ? 0 : 77;
    }
    FrameInfo info;
    info.full_scale = 4095;
    return last_result(executor, chain, frames, info);
}

void expect_rounding_apart(const Result& a, const Result& b) {
    ASSERT_EQ(a.shape(), b.shape());
    EXPECT_EQ(a.counts.undefined, b.counts.undefined);
    EXPECT_EQ(a.counts.infinite, b.counts.infinite);
    EXPECT_GT(a.counts.undefined, 0U);
    EXPECT_GT(a.counts.infinite, 0U);
    for (int y = 0; y < a.shape().height; ++y)
        for (int x = 0; x < a.shape().width; ++x) {
            const float left = a.image.host().as<float>().row(y)[x];
            const float right = b.image.host().as<float>().row(y)[x];
            if (std::isfinite(right)) {
                ASSERT_NEAR(left / right, 1, 6e-7) << x << ", " << y;
            } else {
                ASSERT_EQ(std::isnan(left), std::isnan(right)) << x << ", " << y;
            }
        }
}

class FlowOn : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Backend, FlowOn, testing::Values("cpu", "cuda"), backend_name);

TEST_P(FlowOn, MatchesTheIndexOfEachContrastStage) {
    int pairs = 0;
    for_outputs([&](const ChainStage& stage) {
        if (!gives_contrast(stage))
            return;
        SCOPED_TRACE(to_string(stage));
        ChainStage direct = stage;
        direct.params.set("output", std::string("sfi"));
        expect_rounding_apart(computed(*executor, {to_string(stage), "flow"}),
                              computed(*executor, {to_string(direct)}));
        ++pairs;
    });
    EXPECT_GE(pairs, 6) << "speckle, temporal and spatiotemporal give K and K²";
    expect_rounding_apart(computed(*executor, {"speckle:output=contrast", "flow:output=bfi"}),
                          computed(*executor, {"speckle:output=bfi"}));
}

TEST_P(FlowOn, MatchesTheTauOfEachContrastStage) {
    for (const char* input : {"contrast", "contrast2"}) {
        const Result two =
            computed(*executor, {std::string("speckle:output=") + input, "flow:output=tau,exposure=3"});
        const Result one = computed(*executor, {"speckle:output=tau,exposure=3"});
        EXPECT_EQ(two.counts.undefined, one.counts.undefined);
        EXPECT_EQ(two.quantity.symbol, one.quantity.symbol);
        for (int y = 25; y < 41; ++y)
            for (int x = 0; x < 67; ++x)
                ASSERT_NEAR(two.image.host().as<float>().row(y)[x] / one.image.host().as<float>().row(y)[x],
                            1, 6e-7);
    }
}

TEST(Flow, AutoRefusesOtherQuantitiesOfEveryStage) {
    int refused = 0;
    for_outputs([&](const ChainStage& stage) {
        Chain chain;
        chain.add(stage);
        chain.add("flow");
        if (gives_contrast(stage)) {
            const Chain in_effect = settled(chain);
            const auto& params = in_effect.stages()[1].params.as<FlowParams>();
            const bool root = stage.type->quantity(stage.params, {}).measure == Measure::contrast;
            EXPECT_EQ(params.input, root ? ContrastInput::contrast : ContrastInput::contrast2);
            return;
        }
        try {
            (void)settled(chain);
            ADD_FAILURE() << to_string(chain);
        } catch (const UsageError& error) {
            EXPECT_NE(std::string(error.what()).find(": input = auto needs K or K²"), std::string::npos)
                << error.what();
            ++refused;
        }
    });
    EXPECT_GT(refused, 10);
    Chain equalised;
    for (const char* stage : {"speckle:output=contrast2", "equalize", "flow"})
        equalised.add(stage);
    EXPECT_THROW((void)settled(equalised), UsageError) << "ranks of K² are no K²";
}

TEST(Flow, AutoSeesThroughFiltersAndFollowsEdits) {
    const auto executor = make_host_executor(1);
    std::mt19937_64 random = test_random(32);
    const std::vector<TestImage<std::uint8_t>> frame{uniform_image<std::uint8_t>(33, 21, 10, 200, random)};
    const auto at = [&](const std::vector<std::string>& chain) {
        return last_result(*executor, chain, frame).image.host().as<float>().row(9)[11];
    };
    const float truth = at({"speckle:output=sfi"});
    EXPECT_NEAR(at({"speckle:output=contrast2", "average", "flip", "flip", "flow"}) / truth, 1, 6e-7);
    EXPECT_NEAR(at({"speckle:output=contrast", "average", "flip", "flip", "flow"}) / truth, 1, 6e-7)
        << "the plan of the chain before has the same stages: only a free parameter differs";
    EXPECT_THROW(at({"speckle:output=bfi", "average", "flip", "flip", "flow"}), UsageError);
    EXPECT_NEAR(at({"speckle:output=contrast2", "average", "flip", "flip", "flow"}) / truth, 1, 6e-7);
}

/// Speckle blurred over an exposure has a gamma distribution (Goodman): with shape m, K² is 1/m.
std::vector<TestImage<float>> gamma_frames(int count, int side, double shape, std::mt19937_64& random) {
    std::gamma_distribution<double> value(shape, 1000 / shape);
    std::vector<TestImage<float>> frames;
    for (int i = 0; i < count; ++i)
        frames.push_back(TestImage<float>(side, side).fill([&] { return value(random); }));
    return frames;
}

double mean_of(const Result& result) {
    double sum = 0;
    for (int y = 0; y < result.shape().height; ++y)
        for (int x = 0; x < result.shape().width; ++x)
            sum += static_cast<double>(result.image.host().as<float>().row(y)[x]);
    return sum / static_cast<double>(result.shape().pixels());
}

TEST_P(FlowOn, OfAveragedContrastIsTheTrueIndexAndAnAveragedIndexIsNot) {
    std::mt19937_64 random(33); // constant: the tolerances are five standard errors of these frames
    const double shape = 20;
    const double truth = shape / (2 * 5e-3);
    for (const char* kind : {"window", "exponential"}) {
        SCOPED_TRACE(kind);
        const auto frames = gamma_frames(120, 96, shape, random);
        const std::string average = std::string("average:frames=40,kind=") + kind;
        const auto index = [&](const std::string& radius, bool first) {
            const std::string speckle = "speckle:border=crop,exposure=5,radius=" + radius;
            return mean_of(last_result(
                *executor,
                first ? std::vector<std::string>{speckle + ",output=contrast2", average, "flow:exposure=5"}
                      : std::vector<std::string>{speckle, average},
                frames));
        };
        EXPECT_NEAR(index("3", true) / truth, 1, 0.02);
        EXPECT_NEAR(index("1", true) / truth, 1, 0.04);
        EXPECT_GT(index("3", false) / truth, 1.03);
        EXPECT_GT(index("1", false) / truth, 1.3);
    }
}

TEST_P(FlowOn, InvalidContrasts) {
    const std::array<float, 7> samples = {0.25F, 0, -0.0F, std::nanf(""), kInfinity, -0.5F, -kInfinity};
    TestImage<float> image(7, 1);
    std::copy(samples.begin(), samples.end(), &image.at(0, 0));
    for (const std::string input : {"contrast", "contrast2"}) {
        SCOPED_TRACE(input);
        const float k2 = input == "contrast" ? 0.0625F : 0.25F;
        const auto run = [&](const std::string& output) {
            return last_result<float>(*executor, {"flow:exposure=500,input=" + input + ",output=" + output},
                                      {image});
        };
        const auto expect = [](const Result& result, const std::array<float, 7>& expected) {
            const float* got = result.image.host().as<float>().row(0);
            for (std::size_t i = 0; i < expected.size(); ++i)
                EXPECT_TRUE(got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i])))
                    << i << ": " << got[i] << ", expected " << expected[i];
        };
        const float undefined = std::nanf("");
        for (const char* output : {"index", "bfi"})
            expect(run(output), {1 / k2, kInfinity, kInfinity, undefined, 0, undefined, undefined});
        expect(run("tau"), {k2, 0, 0, undefined, kInfinity, undefined, undefined});
        EXPECT_EQ(run("index").counts.undefined, 3U);
        EXPECT_EQ(run("index").counts.infinite, 2U);
    }
}

TEST(Flow, TheCamerasExposureHasPriority) {
    StageRunner run("flow", {"input=contrast2", "exposure=500"}, {1, 1, 1, PixelType::f32});
    TestImage<float> image(1, 1);
    image.at(0, 0) = 0.5F;
    run.info.exposure_ms = 250;
    run.run(image);
    EXPECT_EQ(run.output.at(0, 0), 4);
    run.set({"input=contrast2", "output=bfi"});
    run.run(image);
    EXPECT_EQ(run.output.at(0, 0), 2);
}

} // namespace specklescope::test::flow_test
