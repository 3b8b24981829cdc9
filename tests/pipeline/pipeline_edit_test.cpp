// Edits between frames, versions on results.
#include "pipeline/chain_text.hpp"
#include "tests/support/contrast_reference.hpp"
#include "tests/support/running.hpp"

#include <gtest/gtest.h>

#include <map>

namespace specklescope::pipeline_edit_test {

using test::chain_of;
using test::eventually;
using test::options;
using test::WatchingSink;
using Status = Source::Status;

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();

const SpeckleParams& params_of(const Result& result) {
    return result.chain->stages().at(0).params.as<SpeckleParams>();
}

TEST(PipelineEdits, TakeEffectBetweenFramesAndEachResultNamesTheOneThatMadeIt) {
    for (const bool live : {false, true}) {
        Pipeline pipeline(live ? test::camera_of(kEndless) : test::file_of(kEndless),
                          chain_of("speckle:radius=1"), options());
        const auto sink = std::make_shared<WatchingSink>();
        std::map<std::uint64_t, SpeckleParams> made_with; // by version; only read after stop
        std::atomic<std::uint64_t> newest{0};
        std::atomic<int> wrong{0};
        sink->on_push = [&](const Result& result) {
            wrong += !test::agrees(result) || result.image.info().version != result.info.version;
            wrong += made_with.contains(result.info.version) &&
                     (made_with[result.info.version].radius != params_of(result).radius ||
                      made_with[result.info.version].exposure_ms != params_of(result).exposure_ms);
            made_with[result.info.version] = params_of(result);
            newest = result.info.version;
        };
        pipeline.add_sink(sink);
        pipeline.start();
        ASSERT_TRUE(eventually([&] { return sink->count() > 0; }));
        std::map<std::uint64_t, std::pair<int, double>> asked{{0, {1, 10.0}}};
        int radius = 1;
        double exposure = 10;
        for (int i = 1; i <= 40; ++i) {
            std::uint64_t version = 0;
            if (i % 2 == 0) {
                radius = 1 + i % 7;
                version = pipeline.edit(0, "radius", std::int64_t{radius});
            } else {
                exposure = 0.5 * i;
                version = pipeline.edit(0, "exposure", exposure);
            }
            asked[version] = {radius, exposure};
            ASSERT_TRUE(eventually([&] { return newest == version; }));
        }
        pipeline.stop();
        EXPECT_EQ(wrong, 0);
        ASSERT_EQ(made_with.size(), asked.size());
        for (const auto& [version, params] : made_with) {
            EXPECT_EQ(params.radius, asked[version].first) << version;
            EXPECT_EQ(params.exposure_ms, asked[version].second) << version;
        }
        EXPECT_EQ(pipeline.stats().drops.failed, 0U);
        EXPECT_EQ(pipeline.chain().stages()[0].params.as<SpeckleParams>().radius, radius);
    }
}

TEST(PipelineEdits, OfAChainThatDoesNotRunChangesNone) {
    Pipeline pipeline(test::camera_of(kEndless), chain_from_text("average:frames=4 | flip"), options());
    pipeline.start();
    Result result;
    const auto made_by = [&](std::uint64_t version) {
        return test::wait_result(pipeline, result,
                                 [&](const Result& r) { return r.info.version == version; });
    };
    const auto frames_of = [](const Chain& chain) {
        return std::get<std::int64_t>(chain.stages().at(0).params.get("frames"));
    };
    // The same parameter of another stage in that place, and of the same stage in that place.
    for (const char* other : {"temporal:frames=25", "average:frames=25"}) {
        const ChainInEffect runs = pipeline.chain_in_effect();
        const std::uint64_t refused = pipeline.set_chain(
            chain_from_text(std::string(other) + " | background:dark=file,dark_file=/nowhere/dark.tiff"));
        const std::uint64_t for_it = pipeline.edit(0, "frames", std::int64_t{16}, refused);
        const std::uint64_t whichever = pipeline.edit(1, "direction", std::string("vertical"));
        ASSERT_TRUE(made_by(whichever));
        EXPECT_EQ(frames_of(*result.chain), 4) << other;
        const std::vector<RefusedEdit> told = pipeline.refused(refused - 1);
        ASSERT_EQ(told.size(), 2U);
        EXPECT_EQ(told[0].version, refused);
        EXPECT_NE(told[0].why.find("/nowhere/dark.tiff"), std::string::npos) << told[0].why;
        EXPECT_EQ(told[1].version, for_it);
        EXPECT_NE(told[1].why.find("refused or replaced"), std::string::npos) << told[1].why;
        EXPECT_FALSE(told[0].of_regions);
        EXPECT_EQ(pipeline.refused(refused).size(), 1U);
        EXPECT_EQ(pipeline.chain_in_effect().stages_of, runs.stages_of);
    }
    const std::uint64_t before = pipeline.chain_in_effect().stages_of;
    const std::uint64_t taken = pipeline.set_chain(chain_from_text("average:frames=8"));
    ASSERT_TRUE(made_by(pipeline.edit(0, "frames", std::int64_t{9}, taken)));
    EXPECT_EQ(frames_of(*result.chain), 9);
    const std::uint64_t late = pipeline.edit(0, "frames", std::int64_t{10}, before);
    ASSERT_TRUE(eventually([&] { return pipeline.refused(late - 1).size() == 1; }));
    EXPECT_EQ(frames_of(pipeline.chain()), 9);
    for (std::size_t i = 0; i < 2 * Pipeline::kRefused; ++i)
        (void)pipeline.edit(7, "frames", std::int64_t{10});
    EXPECT_TRUE(eventually([&] {
        const auto told = pipeline.refused();
        return told.size() == Pipeline::kRefused && told.back().version == late + 2 * Pipeline::kRefused;
    })) << "they take no more and more memory";
}

TEST(PipelineEdits, AWholeChainCanBeExchanged) {
    Pipeline pipeline(test::file_of(kEndless), chain_of("speckle:radius=1"), options());
    pipeline.start();
    Result result;
    const auto made_by = [&](std::uint64_t version) {
        return test::wait_result(pipeline, result,
                                 [&](const Result& r) { return r.info.version == version; });
    };
    ASSERT_TRUE(made_by(pipeline.set_chain(Chain())));
    EXPECT_EQ(result.quantity.unit, "DN");
    EXPECT_EQ(result.image.shape(), test::kSmall);
    EXPECT_TRUE(test::shows(result.image.host(), result.info.sequence));
    ASSERT_TRUE(made_by(pipeline.set_chain(chain_of("speckle:radius=2,border=crop,output=contrast2"))));
    EXPECT_EQ(result.quantity.symbol, "K²");
    EXPECT_EQ(result.image.shape(), (Shape{20, 13, 1, PixelType::f32}));
    EXPECT_NEAR(result.image.host().as<float>().row(3)[4] / test::contrast2_at(result.raw.host(), 2, 6, 5), 1,
                1e-5);
    Chain two = chain_of("speckle:radius=1,output=contrast2");
    two.add("speckle:radius=2,output=contrast2");
    ASSERT_TRUE(made_by(pipeline.set_chain(two)));
    EXPECT_EQ(result.image.shape(), (Shape{24, 17, 1, PixelType::f32}));
}

TEST(PipelineEdits, AFreeOneThatALaterStageCannotTakeIsRefused) {
    Chain chain = chain_of("speckle:radius=1,output=contrast2");
    chain.add("flow");
    Pipeline pipeline(test::file_of(kEndless), chain, options());
    test::Listener listener(pipeline);
    pipeline.start();
    pipeline.edit(0, "output", std::string("sfi"));
    const std::uint64_t good = pipeline.edit(0, "output", std::string("contrast"));
    Result result;
    ASSERT_TRUE(test::wait_result(pipeline, result, [&](const Result& r) { return r.info.version == good; }));
    EXPECT_EQ(listener.heard("stage flow: input = auto needs K or K²"), 1) << listener.all();
    EXPECT_NEAR(result.image.host().as<float>().row(3)[4] * 0.02 *
                    test::contrast2_at(result.raw.host(), 1, 4, 3),
                1, 1e-5);
    pipeline.stop();
    Pipeline bare(test::file_of(kEndless), chain_of("flow"), options());
    EXPECT_THROW(bare.start(), UsageError);
}

TEST(PipelineEdits, WhatAChainMakesOfMeansIsSaidOnceAndAgainWhenItComesBack) {
    const Chain good = chain_of("speckle");
    Chain averaged = good;
    averaged.add("average");
    Pipeline pipeline(test::file_of(kEndless), averaged, options());
    test::Listener listener(pipeline);
    pipeline.start();
    Result result;
    const auto wait = [&](std::uint64_t version) {
        ASSERT_TRUE(
            test::wait_result(pipeline, result, [&](const Result& r) { return r.info.version == version; }));
    };
    wait(pipeline.edit(0, "radius", std::int64_t{2}));
    EXPECT_EQ(listener.heard("the mean of a flow index is too high"), 1);
    ASSERT_TRUE(result.notes);
    EXPECT_NE(result.notes->at(1).find("the mean of a flow index is too high"), std::string::npos);
    wait(pipeline.set_chain(good));
    wait(pipeline.set_chain(averaged));
    EXPECT_EQ(listener.heard("the mean of a flow index is too high"), 2);
}

TEST(PipelineEdits, AFailingOneKeepsTheOldValueAndSaysWhy) {
    const Shape flat{40, 9, 1, PixelType::u8};
    Pipeline pipeline(test::file_of(kEndless, flat), chain_of("speckle:radius=2"), options());
    test::Listener listener(pipeline);
    pipeline.start();
    const std::uint64_t good = pipeline.edit(0, "radius", std::int64_t{4});
    Result result;
    ASSERT_TRUE(test::wait_result(pipeline, result, [&](const Result& r) { return r.info.version == good; }));
    pipeline.edit(0, "radius", std::int64_t{99});
    pipeline.edit(0, "exposure", std::numeric_limits<double>::quiet_NaN());
    pipeline.edit(0, "output", std::string("speed"));
    pipeline.edit(0, "no_such", 1.0);
    pipeline.edit(7, "radius", std::int64_t{3});
    pipeline.edit(0, "radius", std::int64_t{10}); // in the declared range, larger than the image
    pipeline.set_chain(chain_of("speckle:radius=12"));
    ASSERT_TRUE(eventually([&] { return listener.heard("radius = 12") == 1; })) << listener.all();
    for (const char* said : {"radius = 99 is not possible; allowed: a whole number, 1…15 px",
                             "exposure = nan", "allowed: sfi, contrast", "has no key 'no_such'",
                             "no stage number 8", "radius = 10 is too large for an image of 40×9 pixels"})
        EXPECT_EQ(listener.heard(said), 1) << said << "\n" << listener.all();
    const std::uint64_t seen = pipeline.stats().processed;
    ASSERT_TRUE(eventually([&] { return pipeline.stats().processed > seen + 20; }));
    while (pipeline.mailbox().take(result))
        ;
    ASSERT_TRUE(test::wait_result(pipeline, result, [](const Result&) { return true; }));
    EXPECT_EQ(result.info.version, good);
    EXPECT_EQ(params_of(result).radius, 4);
    EXPECT_TRUE(test::agrees(result));
    EXPECT_EQ(pipeline.stats().drops.failed, 0U);
    const std::uint64_t better = pipeline.edit(0, "radius", std::int64_t{5});
    ASSERT_TRUE(
        test::wait_result(pipeline, result, [&](const Result& r) { return r.info.version == better; }));
    EXPECT_TRUE(test::agrees(result));
}

TEST(PipelineEdits, FromTwoThreadsTheNewestVersionIsTheOneThatStays) {
    Pipeline pipeline(test::file_of(kEndless), chain_of("speckle:radius=1"), options());
    pipeline.start();
    std::vector<std::thread> editors;
    for (int i = 0; i < 2; ++i)
        editors.emplace_back([&] {
            for (int k = 1; k <= 2000; ++k)
                pipeline.edit(0, "exposure", 0.01 * k);
        });
    for (std::thread& editor : editors)
        editor.join();
    Result result;
    std::uint64_t last = 0;
    EXPECT_TRUE(test::wait_result(pipeline, result, [&](const Result& r) {
        EXPECT_GE(r.info.version, last);
        last = r.info.version;
        return last == 4000;
    }));
}

TEST(PipelineEdits, WhenTheSizeNoLongerFitsAnEditMendsIt) {
    // From frame 5 on the image is too small for the radius; a smaller radius brings the picture back, and
    // then a radius that only the new size allows is judged by the new size.
    std::atomic<std::uint64_t> allowed{10};
    auto source = std::make_unique<test::ScriptedSource>(
        test::file_info({30, 6, 1, PixelType::u8}), [&](test::ScriptedSource& self, FramePort& port) {
            if (self.offered >= allowed)
                return test::nothing();
            self.offer(port, {30, self.offered < 5 ? 6 : self.offered < 20 ? 3 : 20, 1, PixelType::u8});
            return Status::frame;
        });
    Pipeline pipeline(std::move(source), chain_of("speckle:radius=5"), options());
    test::Listener listener(pipeline);
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return pipeline.stats().drops.failed == 5; }));
    EXPECT_EQ(pipeline.stats().processed, 5U);
    EXPECT_EQ(listener.heard("radius = 5 is too large for an image of 30×3 pixels"), 1)
        << "once, not per frame";
    pipeline.edit(0, "radius", std::int64_t{4}); // fits the old size alone: refused
    ASSERT_TRUE(eventually([&] { return listener.heard("radius = 4 is too large") == 1; })) << listener.all();
    const std::uint64_t version = pipeline.edit(0, "radius", std::int64_t{2});
    allowed = 20;
    Result result;
    ASSERT_TRUE(test::wait_result(pipeline, result, [&](const Result& r) { return r.info.sequence == 19; }));
    EXPECT_EQ(result.info.version, version);
    EXPECT_TRUE(test::agrees(result));
    EXPECT_EQ(pipeline.stats().drops.failed, 5U);
    EXPECT_EQ(pipeline.stats().processed, 15U);
}

/// A source with an option of its own.
class Tunable final : public test::ScriptedSource {
public:
    struct Options {
        double gain = 1;
    };
    Tunable()
        : ScriptedSource(test::camera_info(), [](ScriptedSource& self, FramePort& port) {
              self.offer(port, test::kSmall);
              return Status::frame;
          }) {
        static const ParamTable table =
            Declare<Options>("source tunable").real("gain", &Options::gain, {.min = 0, .max = 24}).table();
        params_ = Params(table);
    }
};

TEST(PipelineEdits, ReachTheSourceAndFailLoudly) {
    Pipeline pipeline(std::make_unique<Tunable>(), Chain(), options());
    test::Listener listener(pipeline);
    EXPECT_EQ(pipeline.source_params().as<Tunable::Options>().gain, 1);
    pipeline.start();
    pipeline.edit_source("gain", 6.0);
    ASSERT_TRUE(eventually([&] { return pipeline.source_params().as<Tunable::Options>().gain == 6; }));
    pipeline.edit_source("gain", 60.0);
    ASSERT_TRUE(eventually(
        [&] { return listener.heard("gain = 60 is not possible; allowed: a number, 0…24") == 1; }));
    EXPECT_EQ(pipeline.source_params().as<Tunable::Options>().gain, 6);
    EXPECT_EQ(pipeline.status().state, RunState::running);
}

} // namespace specklescope::pipeline_edit_test
