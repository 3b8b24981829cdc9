// Stage flow with a map of the static light: against the closed forms of the literature in long double, where
// each pixel has its own static part and its own x.
#include "stages/flow/flow.hpp"
#include "tests/stages/flow/closed_forms.hpp"
#include "tests/support/executors.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/support/stage_runner.hpp"

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace specklescope::test::static_map_test {

constexpr double kExposure = 5e-3;

/// Pages of one size as a stack.
void write_map(const std::string& path, const std::vector<TestImage<float>>& pages) {
    const Shape& shape = pages[0].shape();
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                         std::to_string(pages.size()) + ", " + std::to_string(shape.height) + ", " +
                         std::to_string(shape.width) + "), }";
    header.resize(118, ' ');
    std::string bytes = std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size()) + '\0' + header;
    for (const TestImage<float>& page : pages)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                char value[sizeof(float)];
                const float sample = page.at(x, y);
                std::memcpy(value, &sample, sizeof value);
                bytes.append(value, sizeof value);
            }
    write_file(path, bytes);
}

/// A pixel of known x and static part, with the relative error that one rounding of K² and of the static part
/// makes.
struct Pixel {
    double x, rounding;
};

class StaticMapOn : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Backend, StaticMapOn, testing::Values("cpu", "cuda"), backend_name);

TEST_P(StaticMapOn, InvertsTheClosedFormForEveryStaticPart) {
    constexpr int kWidth = 701, kHeight = 60;
    const TemporaryFolder folder;
    std::mt19937_64 random = test_random(32201);
    std::uniform_real_distribution<double> unit(0, 1);
    for (const Model& model : kModels) {
        if (!model.fixed)
            continue;
        SCOPED_TRACE(model.key);
        const double beta = 0.7;
        TestImage<float> k2(kWidth, kHeight), map(kWidth, kHeight);
        std::vector<Pixel> truth;
        for (int y = 0; y < kHeight; ++y)
            for (int x = 0; x < kWidth; ++x) {
                const double part = y < 10 ? unit(random) / 20 : y == 59 ? 0.99 : unit(random) * 0.99;
                map.at(x, y) = static_cast<float>(part);
                const Real at = std::pow(Real(10), Real(-3) + Real(x) / 100);
                const Real dynamic = 1 - static_cast<Real>(map.at(x, y));
                const Real contrast = model.contrast2(at, dynamic);
                const Real slope = (model.contrast2(at * 1.0001L, dynamic) - contrast) / 1e-4L;
                k2.at(x, y) = static_cast<float>(beta * contrast);
                truth.push_back(
                    {static_cast<double>(at), static_cast<double>(std::abs(3e-7L * contrast / slope))});
            }
        write_map(folder / "map.npy", {map});
        const std::string stage = std::string("flow:input=contrast2,exposure=5,beta=0.7,model=") + model.key +
                                  ",static_from=file,static_file=" + (folder / "map.npy");
        const Result index = last_result<float>(*executor, {stage + ",also=tau"}, {k2});
        double worst = 0;
        int exact = 0;
        for (int y = 0; y < kHeight; ++y)
            for (int x = 0; x < kWidth; ++x) {
                const Pixel& pixel = truth[static_cast<std::size_t>(y * kWidth + x)];
                if (pixel.rounding > 0.2) // K² in float does not tell it from β or from the static part
                    continue;
                const auto got = static_cast<double>(index.image.host().as<float>().row(y)[x]);
                const auto tau = static_cast<double>((*index.also)[0].image.host().as<float>().row(y)[x]);
                const double error = std::fabs(got * kExposure / pixel.x - 1);
                ASSERT_LE(error, 6e-5 + pixel.rounding) << pixel.x << ", static " << map.at(x, y);
                ASSERT_NEAR(tau * got, 1, 1e-6);
                if (pixel.rounding < 1e-6)
                    worst = std::max(worst, error);
                exact += pixel.rounding < 4e-5 ? 1 : 0;
            }
        std::printf("%s: worst error of x %.1e; K² resolves x in %d pixels\n", model.key, worst, exact);
        EXPECT_GT(exact, kWidth * kHeight / 4);
        EXPECT_LT(worst, 6e-5);
    }
}

/// K² from far below the static light to just below 1; one rounding of K² or of the part is allowed.
TEST_P(StaticMapOn, OfOneValueEqualsThatNumber) {
    const TemporaryFolder folder;
    for (const float part : {0.0F, 0.3F, 0.9F}) {
        SCOPED_TRACE(part);
        const double floor = static_cast<double>(part) * static_cast<double>(part);
        TestImage<float> k2(999, 2), map(999, 2);
        map.fill([&] { return part; });
        for (int x = 0; x < 999; ++x) {
            k2.at(x, 0) = static_cast<float>(floor + (1 - floor) * (x + 1) / 1000);
            k2.at(x, 1) = static_cast<float>(floor * x / 1000 - 1e-6);
        }
        write_map(folder / "map.npy", {map});
        const std::string stage = "flow:input=contrast2,model=lorentzian,also=tau,";
        const Result one = last_result<float>(*executor, {stage + "static=" + std::to_string(part)}, {k2});
        const Result mapped = last_result<float>(
            *executor, {stage + "static_from=file,static_file=" + (folder / "map.npy")}, {k2});
        EXPECT_EQ(one.counts.undefined, 999U);
        EXPECT_EQ(mapped.counts.undefined, 999U);
        EXPECT_NE(one.quantity.name, mapped.quantity.name);
        for (int x = 0; x < 999; ++x) {
            const double k = static_cast<double>(k2.at(x, 0));
            const double allowed = 1e-5 + 3e-7 * k * (1 / (k - floor) + 1 / (1 - k));
            for (const auto& [a, b] : {std::pair(one.image, mapped.image),
                                       std::pair((*one.also)[0].image, (*mapped.also)[0].image)})
                ASSERT_NEAR(static_cast<double>(b.host().as<float>().row(0)[x]) /
                                static_cast<double>(a.host().as<float>().row(0)[x]),
                            1, allowed)
                    << k;
        }
    }
}

TEST(StaticMap, TheErrorHasTheSlopeOfThePixelsModel) {
    const TemporaryFolder folder;
    TestImage<float> k2(60, 1), map(60, 1), mapped(60, 1), one(60, 1);
    map.fill([] { return 0.4F; });
    write_map(folder / "map.npy", {map});
    for (int x = 0; x < 60; ++x)
        k2.at(x, 0) = static_cast<float>(0.7 * lorentzian(std::pow(Real(10), x / Real(30)), 0.6L));
    const auto run = [&](std::vector<std::string> texts, TestImage<float>& result) {
        texts.insert(texts.end(), {"input=contrast2", "output=error", "beta=0.7", "model=lorentzian"});
        Params params = params_of("flow", texts);
        params.as<FlowParams>().speckles = 20;
        const auto stage = find_stage("flow").make_host(params);
        (void)stage->prepare(k2.shape());
        PixelCounts counts;
        stage->run(k2.view(), result.view(), {.info = {}, .counts = counts});
    };
    run({"static=0.4"}, one);
    run({"static_from=file", "static_file=" + (folder / "map.npy")}, mapped);
    for (int x = 0; x < 60; ++x)
        EXPECT_NEAR(mapped.at(x, 0) / one.at(x, 0), 1, 1e-3) << x;
}

/// A pixel without a part from 0 to 1 gives no number and is counted; the last page of a recording counts.
TEST(StaticMap, PixelsWithoutAStaticPartAreUndefined) {
    const TemporaryFolder folder;
    TestImage<float> k2(8, 1), first(8, 1), map(8, 1);
    k2.fill([] { return 0.5F; });
    first.fill([] { return NAN; });
    map.fill([] { return 0.2F; });
    map.at(1, 0) = NAN;
    map.at(2, 0) = 1.2F;
    map.at(3, 0) = -0.1F;
    map.at(4, 0) = 1; // nothing moves
    write_map(folder / "map.npy", {first, map});
    StageRunner run(
        "flow",
        {"input=contrast2", "model=gaussian", "static_from=file", "static_file=" + (folder / "map.npy")},
        k2.shape());
    run.run(k2);
    for (int x = 0; x < 8; ++x)
        EXPECT_EQ(std::isnan(run.output.at(x, 0)), x >= 1 && x <= 4) << x;
    EXPECT_EQ(run.counts.undefined, 4U);
    EXPECT_NE(run.stage().note().find("2 pixels outside"), std::string::npos) << run.stage().note();
    EXPECT_NE(run.stage().note().find("1 without"), std::string::npos) << run.stage().note();
    StageRunner page("flow",
                     {"input=contrast2", "model=gaussian", "static_from=file",
                      "static_file=" + (folder / "map.npy") + "?page=1"},
                     k2.shape());
    page.run(k2);
    EXPECT_EQ(page.counts.undefined, 8U);
}

TEST(StaticMap, UnsuitableFilesAreRefused) {
    const TemporaryFolder folder;
    TestImage<float> map(8, 2);
    map.fill([] { return 30.0F; }); // per cent
    write_map(folder / "map.npy", {map});
    const auto prepare = [&](const std::string& file, const Shape& shape) {
        StageRunner("flow", {"input=contrast2", "model=sqrt", "static_from=file", "static_file=" + file},
                    shape);
    };
    EXPECT_THROW(prepare(folder / "map.npy", map.shape()), UsageError);
    map.fill([] { return 0.3F; });
    write_map(folder / "map.npy", {map});
    prepare(folder / "map.npy", map.shape());
    EXPECT_THROW(prepare(folder / "map.npy", {9, 2, 1, PixelType::f32}), UsageError);
    EXPECT_THROW(prepare(folder / "none.npy", map.shape()), UsageError);
    // a model without static light does not read the file
    StageRunner("flow", {"input=contrast2", "static_from=file", "static_file=" + (folder / "none.npy")},
                map.shape());
}

} // namespace specklescope::test::static_map_test
