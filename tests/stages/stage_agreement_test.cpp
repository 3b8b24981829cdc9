// Every stage of the registry, host compared with device, and the host with itself: with other numbers of
// threads, other pitches, other memory contents. No stage is named here.
//
// SPECKLESCOPE_AGREEMENT_FILE=FILE.json writes the comparisons and the worst differences;
// tests/stages/agreement_page.py makes docs/agreement.md from it.
#include "tests/stages/agreement.hpp"
#include "tests/stages/stage_run.hpp"
#include "tests/support/gpu.hpp"

#include "tests/support/child.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

namespace specklescope::stage_agreement_test {

using namespace test;
using Clock = std::chrono::steady_clock;

class StageWalk : public testing::TestWithParam<const StageType*> {
protected:
    std::vector<StageCase> cases() {
        return CaseMaker(*GetParam(),
                         [this](int width, int height) {
                             const std::string path =
                                 folder_ / (std::to_string(width) + "x" + std::to_string(height) + ".tif");
                             if (!std::filesystem::exists(path))
                                 write_text(path, tiff_bytes({.width = static_cast<std::uint32_t>(width),
                                                              .height = static_cast<std::uint32_t>(height)}));
                             return path;
                         })
            .make();
    }

    TemporaryFolder folder_;
};

/// Fills malloc's memory, so that results that depend on uninitialised memory differ between runs.
class Perturbed {
public:
    explicit Perturbed(int byte) { mallopt(M_PERTURB, byte); }
    Perturbed(const Perturbed&) = delete;
    Perturbed& operator=(const Perturbed&) = delete;
    ~Perturbed() { mallopt(M_PERTURB, 0); }
};

/// A sample with enough digits to distinguish it from its neighbours.
std::string value_text(const Shot& shot, std::size_t sample) {
    return dispatch(shot.shape.type, [&](auto zero) {
        std::array<char, 32> text{};
        std::snprintf(
            text.data(), text.size(), "%.9g",
            static_cast<double>(reinterpret_cast<const decltype(zero)*>(shot.pixels.data())[sample]));
        return std::string(text.data());
    });
}

/// Empty if they are equal to the last bit; otherwise the first difference.
std::string first_difference(const Shot& a, const Shot& b) {
    if (a.shape != b.shape)
        return "shape " + to_string(a.shape) + " and " + to_string(b.shape);
    for (std::size_t i = 0; i < a.pixels.size(); ++i)
        if (a.pixels[i] != b.pixels[i]) {
            const std::size_t row = a.shape.row_bytes();
            const std::size_t sample = i / pixel_bytes(a.shape.type);
            return "row " + std::to_string(i / row) + ", sample " +
                   std::to_string(i % row / pixel_bytes(a.shape.type)) + ": " + value_text(a, sample) +
                   " and " + value_text(b, sample);
        }
    for (std::size_t i = 0; i < a.also.size(); ++i)
        if (const std::string text = first_difference(a.also[i], b.also.at(i)); !text.empty())
            return "named output " + std::to_string(i) + ", " + text;
    if (a.counts != b.counts)
        return "the counts of undefined, infinite or saturated pixels";
    if (!same_warmup(a.warmup, b.warmup))
        return "the warm-up";
    return "";
}

void expect_same(const Outcome& a, const Outcome& b, const std::string& what) {
    ASSERT_EQ(a.refused, b.refused) << what << ": " << a.why << b.why;
    ASSERT_EQ(a.shots.size(), b.shots.size()) << what;
    for (std::size_t i = 0; i < a.shots.size(); ++i)
        ASSERT_EQ(first_difference(a.shots[i], b.shots[i]), "") << what << ", turn " << i;
}

/// Undefined and infinite pixels must be counted.
void expect_counted(const Outcome& outcome) {
    for (const Shot& shot : outcome.shots) {
        if (shot.shape.type != PixelType::f32)
            continue;
        PixelCounts seen;
        const auto* samples = reinterpret_cast<const float*>(shot.pixels.data());
        for (std::size_t i = 0; i < shot.shape.pixels(); ++i, samples += shot.shape.channels) {
            const auto any = [&](auto&& is) {
                return std::any_of(samples, samples + shot.shape.channels, [&](float v) { return is(v); });
            };
            seen.undefined += any([](float v) { return std::isnan(v); }) ? 1 : 0;
            seen.infinite += any([](float v) { return std::isinf(v); }) ? 1 : 0;
        }
        ASSERT_EQ(seen.undefined, shot.counts.undefined) << "undefined pixels";
        ASSERT_EQ(seen.infinite, shot.counts.infinite) << "infinite pixels";
    }
}

Outcome without_again(const Outcome& outcome, const Script& script) {
    Outcome rest = outcome;
    rest.shots.clear();
    for (std::size_t i = 0; i < outcome.shots.size(); ++i)
        if (!script[i].again)
            rest.shots.push_back(outcome.shots[i]);
    return rest;
}

void check_history(const StageCase& test, Scene& scene, const Script& script, const Outcome& reference) {
    // A capture belongs to the camera: once complete, it survives a gap.
    const bool button =
        std::any_of(test.stage.params.table().decls().begin(), test.stage.params.table().decls().end(),
                    [](const ParamDecl& decl) { return decl.kind == ParamKind::action; });
    Script plain, tail, seamless = script;
    Outcome after;
    for (std::size_t i = 0; i < script.size(); ++i) {
        if (!script[i].again)
            plain.push_back(script[i]);
        if (script[i].discontinuity && i > 2) {
            tail.assign(script.begin() + static_cast<std::ptrdiff_t>(i), script.end());
            after.shots.assign(reference.shots.begin() + static_cast<std::ptrdiff_t>(i),
                               reference.shots.end());
            seamless[i].discontinuity = !reference.shots[i - 1].warmup.done();
        }
        if (i > 0 && script[i].again) {
            ASSERT_EQ(first_difference(reference.shots[i], reference.shots[i - 1]), "")
                << "turn " << i << " shows the frame before once more";
        }
    }
    expect_same(without_again(reference, script), run_script(*make_host_executor(1), test, scene, plain),
                "a frame shown again leaves no trace");
    if (button)
        expect_same(reference, run_script(*make_host_executor(1), test, scene, seamless),
                    "a complete capture outlives a gap");
    else if (!tail.empty())
        expect_same(after, run_script(*make_host_executor(1), test, scene, tail),
                    "after a gap as from the start");
}

/// The cases that run in every variation, the same on every machine: all cases of a stage with few, a fixed
/// choice for a stage with many, the first two of the large ones.
class Varied {
public:
    explicit Varied(std::size_t cases) : share_(std::min(1.0, 120.0 / static_cast<double>(cases))) {}
    bool operator()(const StageCase& test) {
        const bool chosen = std::uniform_real_distribution<double>()(random_) < share_;
        return test.large ? large_++ < 2 : chosen;
    }

private:
    double share_;
    int large_ = 0;
    std::mt19937_64 random_{20110301};
};

TEST_P(StageWalk, HostIsTheSameForAnyThreadsPitchAndMemory) {
    int ran = 0, refused = 0, varied = 0;
    const std::vector<StageCase> all = cases();
    Varied vary(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const StageCase& test = all[i];
        SCOPED_TRACE(test.name());
        Scene scene(test.shape, i);
        const Script script = script_for(test, scene);
        const Outcome reference = run_script(*make_host_executor(1), test, scene, script);
        const bool chosen = vary(test);
        ++ran;
        refused += reference.refused ? 1 : 0;
        if (reference.refused) {
            EXPECT_NE(reference.why.find("stage " + std::string(GetParam()->name)), std::string::npos)
                << reference.why;
            continue;
        }
        expect_counted(reference);
        if (HasFatalFailure() || !chosen)
            continue;
        ++varied;
        bool padding_kept = true;
        {
            const Perturbed memory(0x5a);
            expect_same(reference,
                        run_script(*make_host_executor(2 + static_cast<int>(i % 2)), test, scene, script),
                        "other number of threads");
            if (const auto alone = run_alone(test, scene, script, std::byte{0xff}, &padding_kept))
                expect_same(reference, *alone, "odd pitch");
        }
        EXPECT_TRUE(padding_kept) << "wrote between the rows of its output";
        if (!test.large)
            check_history(test, scene, script, reference);
        if (HasFailure())
            break; // the rest would be the same
    }
    std::printf("%s: %d cases, %d refused with a sentence, %d in every variation\n",
                std::string(GetParam()->name).c_str(), ran, refused, varied);
}

TEST_P(StageWalk, HostHandlesNonFiniteSamples) {
    const StageType& type = *GetParam();
    for (const PixelType pixel : type.types) {
        if (pixel != PixelType::f32)
            continue;
        for (const int channels : type.channels) {
            const Shape shape{37, 29, channels, PixelType::f32};
            TestImage<float> image(shape.width, shape.height, 0, channels);
            auto random = test_random(99);
            constexpr float kInf = std::numeric_limits<float>::infinity();
            const std::array<float, 9> odd = {kInf,   -kInf,  std::nanf(""), 3e38F, -3e38F,
                                              1e-45F, -1e-3F, 0.0F,          -0.0F};
            image.fill([&] { return random() % 5 == 0 ? odd[random() % odd.size()] : 0.5F; });
            StageCase test;
            test.stage = {&type, Params(*type.table)};
            const auto stage = type.make_host(test.stage.params);
            Shape out;
            try {
                out = stage->prepare(shape);
            } catch (const UsageError&) {
                continue;
            }
            std::vector<std::byte> output(out.bytes());
            FrameInfo info;
            for (int i = 0; i < 40; ++i) {
                PixelCounts counts;
                stage->run(image.view(), HostView(output.data(), out), {.info = info, .counts = counts});
                if (i % 13 == 12) // good frames replace bad ones in any window
                    image.fill([&] { return static_cast<float>(random() % 1000); });
            }
        }
    }
}

// --- host against device ---

double peak_of(ConstHostView image) {
    double peak = 0;
    if (image.shape.type == PixelType::f32)
        for (int y = 0; y < image.shape.height; ++y)
            for (int i = 0; i < image.shape.width * image.shape.channels; ++i)
                peak = std::max(peak, std::abs(static_cast<double>(image.as<float>().row(y)[i])));
    return peak;
}

TEST_P(StageWalk, HostAndDeviceAgree) {
    const StageType& type = *GetParam();
    if (!needs_gpu())
        return;
    ASSERT_NE(type.make_device, nullptr) << "stage " << type.name << " has no device side";
    Row& row = rows()[std::string(type.name)];
    const auto begin = Clock::now();
    int failures = 0;
    const std::vector<StageCase> all = cases();
    for (std::size_t i = 0; i < all.size() && failures < 12; ++i) {
        const StageCase& test = all[i];
        SCOPED_TRACE(test.name());
        Scene scene(test.shape, i);
        const Script script = script_for(test, scene);
        // An executor evaluates a chain by the frames it has seen: each case has its own.
        const Outcome host = run_script(*make_host_executor(0), test, scene, script);
        const Outcome device = run_script(*cuda_executor(), test, scene, script);
        ++row.cases;
        row.frames += static_cast<int>(host.shots.size());
        row.refused += host.refused ? 1 : 0;
        EXPECT_EQ(host.refused, device.refused) << host.why << device.why;
        if (host.refused || device.refused) {
            failures += host.refused != device.refused ? 1 : 0;
            continue;
        }
        // If a stage chooses its method by measured times, host and device may differ: each method is
        // compared in its own cases.
        if (host.note != device.note && test.name().find("=auto") != std::string::npos) {
            ++row.chosen_otherwise;
            continue;
        }
        Comparison comparison(type, row);
        double peak = 0;
        for (std::size_t k = 0; k < script.size(); ++k) {
            peak = std::max(peak, peak_of(scene.frame(script[k].frame)));
            const std::string difference = comparison.compare(host.shots[k], device.shots[k], peak);
            if (comparison.worst_here_)
                row.worst_case = test.name();
            EXPECT_EQ(difference, "") << "turn " << k;
            if (!difference.empty()) {
                ++failures;
                break;
            }
        }
    }
    row.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::printf("%-16s %5d cases %5d refused %6d frames  tolerance %8.2g  worst %9.3g  levels %d  %.1f s\n",
                std::string(type.name).c_str(), row.cases, row.refused, row.frames, type.tolerance, row.worst,
                row.steps, row.seconds);
}

INSTANTIATE_TEST_SUITE_P(Every, StageWalk, testing::ValuesIn([] {
                             std::vector<const StageType*> types;
                             for (const StageType& type : stage_types())
                                 types.push_back(&type);
                             return types;
                         }()),
                         [](const auto& tested) { return std::string(tested.param->name); });

[[maybe_unused]] const auto* const kPage = testing::AddGlobalTestEnvironment(new PageWriter);

} // namespace specklescope::stage_agreement_test
