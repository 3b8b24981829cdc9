// Stage flow with a model, against the closed forms of the literature in long double.
#include "stages/flow/flow.hpp"
#include "tests/stages/flow/closed_forms.hpp"
#include "tests/support/executors.hpp"
#include "tests/support/stage_runner.hpp"

#include <array>
#include <cmath>
#include <set>

namespace specklescope::test::flow_model_test {

class FlowModelOn : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Backend, FlowModelOn, testing::Values("cpu", "cuda"), backend_name);

/// x is found from the float K² that the stage gets. An error of K² changes x the more, the flatter the
/// model: that part is allowed as well.
TEST_P(FlowModelOn, InvertsTheClosedFormOverSevenDecades) {
    constexpr int kPoints = 701;
    constexpr double kExposure = 5e-3;
    for (const Model& model : kModels)
        for (const Real dynamic : {Real(1), Real(0.6L), Real(0.1L)}) {
            if (!model.fixed && dynamic < 1)
                continue;
            for (const double beta : {1.0, 0.4}) {
                SCOPED_TRACE(std::string(model.key) + ", dynamic " +
                             std::to_string(static_cast<double>(dynamic)) + ", beta " + std::to_string(beta));
                TestImage<float> image(kPoints, 1);
                std::vector<Real> truth;
                for (int i = 0; i < kPoints; ++i) {
                    truth.push_back(std::pow(Real(10), Real(-3) + Real(i) / 100));
                    image.at(i, 0) = static_cast<float>(beta * model.contrast2(truth.back(), dynamic));
                }
                std::string stage = std::string("flow:input=contrast2,exposure=5,model=") + model.key +
                                    ",beta=" + std::to_string(beta);
                if (model.fixed)
                    stage += ",static=" + std::to_string(1 - static_cast<double>(dynamic));
                const Result index = last_result<float>(*executor, {stage}, {image});
                const Result tau = last_result<float>(*executor, {stage + ",output=tau"}, {image});
                int exact = 0;
                for (int i = 0; i < kPoints; ++i) {
                    const Real x = truth[static_cast<std::size_t>(i)];
                    const Real y = model.contrast2(x, dynamic);
                    const Real slope = (model.contrast2(x * 1.0001L, dynamic) - y) / 1e-4L; // dy by d ln x
                    const double allowed = 4e-6 + static_cast<double>(std::abs(2.5e-7L * y / slope));
                    exact += allowed < 1e-4 ? 1 : 0;
                    const double got = static_cast<double>(index.image.host().as<float>().row(0)[i]);
                    const double time = static_cast<double>(tau.image.host().as<float>().row(0)[i]);
                    if (allowed > 0.3) // K² in float does not tell it from β or from the static part
                        continue;
                    ASSERT_NEAR(got * kExposure / static_cast<double>(x), 1, allowed) << "x = " << x;
                    ASSERT_NEAR(time * got, 1, 1e-6) << "x = " << x;
                }
                EXPECT_GT(exact, 250) << "within 1e-4 where float K² resolves it";
            }
        }
}

TEST_P(FlowModelOn, BeyondItsReachThereIsNoNumberAndItIsCounted) {
    const std::array<float, 6> samples = {0, 0.25F, 0.5F, 0.75F, -0.1F, std::nanf("")};
    TestImage<float> image(6, 1);
    std::copy(samples.begin(), samples.end(), &image.at(0, 0));
    for (const Model& model : kModels) {
        SCOPED_TRACE(model.key);
        const std::string stage = std::string("flow:input=contrast2,beta=0.5,model=") + model.key;
        const Result result = last_result<float>(*executor, {stage}, {image});
        const float* got = result.image.host().as<float>().row(0);
        EXPECT_EQ(got[0], std::numeric_limits<float>::infinity()) << "K = 0: nothing is static";
        EXPECT_GT(got[1], 0);
        for (const int i : {2, 3, 4, 5})
            EXPECT_TRUE(std::isnan(got[i])) << i << ": " << got[i];
        EXPECT_EQ(result.counts.undefined, 4U);
        EXPECT_EQ(result.counts.infinite, 1U);
        EXPECT_EQ(last_result<float>(*executor, {stage + ",output=tau"}, {image})
                      .image.host()
                      .as<float>()
                      .row(0)[0],
                  0);
        if (!model.fixed)
            continue;
        const Result mixed = last_result<float>(*executor, {stage + ",static=0.8"}, {image});
        EXPECT_TRUE(std::isnan(mixed.image.host().as<float>().row(0)[1])) << "0.25 is below 0.5·0.8²";
        EXPECT_EQ(mixed.counts.undefined, 6U);
    }
}

/// In the limit of long exposures each model is a constant times the simplified one.
TEST_P(FlowModelOn, LongExposuresGiveTheLimitOfEachModel) {
    const double pi = std::acos(-1);
    TestImage<float> image(1, 1);
    image.at(0, 0) = 1e-5F;
    const auto index = [&](const std::string& model) {
        const Result result = last_result<float>(*executor, {"flow:input=contrast2,model=" + model}, {image});
        return static_cast<double>(result.image.host().as<float>().row(0)[0]);
    };
    const double simplified = index("simplified");
    EXPECT_NEAR(index("lorentzian") / simplified, 2, 1e-4);
    EXPECT_NEAR(index("gaussian") / simplified, 2 * std::sqrt(pi / 2), 1e-4);
    EXPECT_NEAR(index("sqrt") / simplified, 2, 1e-4);
    EXPECT_NEAR(index("velocity") / simplified, 1, 1e-4);
}

/// docs/science.md, Standard errors.
double error_of_square(double k2, double speckles) {
    return std::sqrt(2 * (1 + k2) / speckles) / (1 + 4 * k2 / speckles);
}

TEST(FlowModel, TheErrorFollowsTheSlopeOfTheModel) {
    constexpr int kPoints = 200;
    constexpr double kSpeckles = 20;
    for (const Model& model : kModels) {
        SCOPED_TRACE(model.key);
        Params params = params_of("flow", {"input=contrast2", "output=error", "beta=0.7",
                                           std::string("model=") + model.key,
                                           std::string("static=") + (model.fixed ? "0.2" : "0")});
        params.as<FlowParams>().speckles = kSpeckles;
        const Real dynamic = model.fixed ? 0.8L : 1;
        TestImage<float> image(kPoints, 1), result(kPoints, 1);
        std::vector<double> expected;
        for (int i = 0; i < kPoints; ++i) {
            const Real x = 0.3L * std::pow(Real(10), Real(i) / 100);
            const Real y = model.contrast2(x, dynamic);
            const Real slope =
                y * 2e-4L / (model.contrast2(x * 0.9999L, dynamic) - model.contrast2(x * 1.0001L, dynamic));
            image.at(i, 0) = static_cast<float>(0.7L * y);
            expected.push_back(static_cast<double>(slope) *
                               error_of_square(static_cast<double>(0.7L * y), kSpeckles));
        }
        const auto stage = find_stage("flow").make_host(params);
        (void)stage->prepare(image.shape());
        PixelCounts counts;
        stage->run(image.view(), result.view(), {.info = {}, .counts = counts});
        for (int i = 0; i < kPoints; ++i)
            EXPECT_NEAR(result.at(i, 0) / expected[static_cast<std::size_t>(i)], 1, 2e-3) << i;
    }
}

/// The number of speckles comes from the contrast stage and the frames averaged after it.
TEST_P(FlowModelOn, NamedOutputsAndErrorsInAChain) {
    std::mt19937_64 random = test_random(2);
    std::vector<TestImage<std::uint8_t>> frames;
    for (int i = 0; i < 4; ++i)
        frames.push_back(uniform_image<std::uint8_t>(40, 30, 20, 200, random));
    const auto run = [&](const std::vector<std::string>& chain) {
        return last_result<std::uint8_t>(*executor, chain, frames);
    };
    const std::string speckle = "speckle:output=contrast2,radius=2", average = "average:frames=4,kind=window";
    const Result k2 = run({speckle, average});
    const Result result = run({speckle, average, "flow:also=error+tau,model=lorentzian"});
    ASSERT_TRUE(result.also);
    ASSERT_EQ(result.also->size(), 2);
    EXPECT_EQ((*result.also)[0].name, "tau");
    const Result tau = run({speckle, average, "flow:output=tau,model=lorentzian"});
    const Result error = run({speckle, average, "flow:also=error"}); // the simplified model has slope 1
    for (int y = 0; y < 30; ++y)
        for (int x = 0; x < 40; ++x) {
            EXPECT_EQ((*result.also)[0].image.host().as<float>().row(y)[x],
                      tau.image.host().as<float>().row(y)[x]);
            EXPECT_NEAR((*error.also)[0].image.host().as<float>().row(y)[x] /
                            error_of_square(k2.image.host().as<float>().row(y)[x], 4 * 24),
                        1, 1e-5);
            EXPECT_GE((*result.also)[1].image.host().as<float>().row(y)[x],
                      (*error.also)[0].image.host().as<float>().row(y)[x] * 0.999F);
        }
    EXPECT_THROW(run({"flow:input=contrast2,output=error"}), UsageError);
}

TEST(FlowModel, BetaScalesTheSimplifiedIndexAndNamesTheQuantity) {
    StageRunner run("flow", {"input=contrast2", "exposure=500", "beta=0.25"}, {1, 1, 1, PixelType::f32});
    TestImage<float> image(1, 1);
    image.at(0, 0) = 0.5F;
    run.run(image);
    EXPECT_EQ(run.output.at(0, 0), 0.5F);
    run.set({"input=contrast2", "exposure=500", "beta=0.25", "output=bfi"});
    run.run(image);
    EXPECT_EQ(run.output.at(0, 0), 2) << "1/K² has no β";
    const auto name = [](const std::string& stage) {
        Chain chain;
        chain.add(stage);
        return chain.quantity().name;
    };
    EXPECT_EQ(name("flow:input=contrast"), contrast_quantity(ContrastOutput::sfi).name);
    std::set<std::string> names;
    for (const char* model : {"simplified", "lorentzian", "gaussian", "sqrt", "velocity"})
        for (const char* more : {"", ",beta=0.5", ",static=0.2"})
            names.insert(name(std::string("flow:input=contrast,model=") + model + more));
    EXPECT_EQ(names.size(), 13U) << "simplified and velocity have no static part";
    EXPECT_EQ(name("flow:input=contrast,output=bfi,model=gaussian,beta=0.5"),
              contrast_quantity(ContrastOutput::bfi).name);
}

/// A table belongs to its model: edits of free parameters keep it, edits of the model replace it.
TEST_P(FlowModelOn, EditsTakeEffectOnTheNextFrame) {
    TestImage<float> image(1, 1);
    image.at(0, 0) = 0.3F;
    const auto at = [&](const std::string& stage) {
        return last_result<float>(*executor, {stage}, {image}).image.host().as<float>().row(0)[0];
    };
    const std::string lorentzian = "flow:input=contrast2,model=lorentzian";
    const float first = at(lorentzian);
    EXPECT_EQ(at(lorentzian + ",output=bfi"), 1 / 0.3F);
    EXPECT_EQ(at(lorentzian), first);
    EXPECT_NE(at("flow:input=contrast2,model=gaussian"), first);
    EXPECT_GT(at(lorentzian + ",static=0.3"), first);
    EXPECT_LT(at(lorentzian + ",beta=0.9"), first);
    EXPECT_EQ(at(lorentzian), first);
}

} // namespace specklescope::test::flow_model_test
