// Edits between frames, versions of results.
#include "analysis/region.hpp"
#include "pipeline/chain.hpp"
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

TEST(PipelineEdits, TakeEffectBetweenFramesAndAreNamedInEachResult) {
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
        EXPECT_EQ(pipeline.chain()->stages()[0].params.as<SpeckleParams>().radius, radius);
    }
}

TEST(PipelineEdits, TheRequestedChainIsVisibleImmediatelyUntilItIsRefused) {
    Pipeline pipeline(test::camera_of(kEndless), chain_from_text("average:frames=4 | flip"), options());
    pipeline.start();
    Result result;
    const auto made_by = [&](std::uint64_t version) {
        return test::wait_result(pipeline, result,
                                 [&](const Result& r) { return r.info.version == version; });
    };
    const auto text = [&] { return to_string(*pipeline.chain()); };
    const std::string before = text();
    std::uint64_t last = 0;
    for (int i = 0; i < 3; ++i) {
        const std::uint64_t refused =
            pipeline.set_chain(chain_from_text("background:dark=file,dark_file=/nowhere/dark.tiff"));
        ASSERT_TRUE(eventually([&] { return text() == before; }));
        const std::vector<RefusedEdit> told = pipeline.refused(refused - 1);
        ASSERT_EQ(told.size(), 1U);
        EXPECT_EQ(told[0].version, refused);
        EXPECT_NE(told[0].why.find("/nowhere/dark.tiff"), std::string::npos) << told[0].why;
        EXPECT_FALSE(told[0].of_regions);
        EXPECT_EQ(pipeline.effective(refused), last);
        EXPECT_TRUE(pipeline.refused(refused).empty());
        if (i == 1) {
            last = pipeline.edit(1, "direction", std::string("vertical"));
            EXPECT_NE(text(), before);
            ASSERT_TRUE(made_by(last));
            EXPECT_EQ(to_string(*result.chain), text());
            pipeline.edit(1, "direction", std::string("horizontal"));
            last = pipeline.version();
            EXPECT_EQ(text(), before);
        }
    }
    const std::uint64_t version = pipeline.version();
    EXPECT_THROW(pipeline.edit(7, "frames", std::int64_t{10}), UsageError);
    EXPECT_THROW(
        pipeline.edit([](Chain& chain) { chain.stages().at(0).params.set("frames", std::string("x")); }),
        UsageError);
    EXPECT_EQ(pipeline.version(), version);
    EXPECT_EQ(text(), before);
}

/// A refused edit of the regions keeps the new chain, and vice versa.
TEST(PipelineEdits, ChainAndRegionsAreRefusedSeparately) {
    Pipeline pipeline(test::camera_of(kEndless), chain_from_text("flip"), options());
    pipeline.start();
    Result result;
    ASSERT_TRUE(test::wait_result(pipeline, result, [](const Result&) { return true; }));
    const std::vector<Region> inside{{"inside", RegionShape::rectangle, {{2, 2}, {8, 8}}, "", false}},
        outside{{"outside", RegionShape::rectangle, {{900, 900}, {950, 950}}, "", false}};
    for (const bool bad_chain : {false, true}) {
        (void)pipeline.set_regions(make_outlines(bad_chain ? inside : outside, false));
        const std::uint64_t last = pipeline.set_chain(
            chain_from_text(bad_chain ? "background:dark=file,dark_file=/nowhere/dark.tiff" : "rotate90"));
        EXPECT_TRUE(eventually([&] {
            return pipeline.chain()->stages()[0].type->name == "rotate90" &&
                   (pipeline.regions() != nullptr) == bad_chain;
        }));
        ASSERT_EQ(pipeline.refused(last - 2).size(), 1U);
        EXPECT_EQ(pipeline.refused(last - 2)[0].of_regions, !bad_chain);
        EXPECT_EQ(pipeline.effective(last), bad_chain ? last - 1 : last);
        EXPECT_EQ(pipeline.effective(last - 1), bad_chain ? last - 1 : last - 2);
    }
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

TEST(PipelineEdits, AFreeEditThatALaterStageCannotUseIsRefused) {
    Chain chain = chain_of("speckle:radius=1,output=contrast2");
    chain.add("flow");
    Pipeline pipeline(test::file_of(kEndless), chain, options());
    pipeline.start();
    try {
        pipeline.edit(0, "output", std::string("sfi"));
        ADD_FAILURE() << "was taken";
    } catch (const UsageError& error) {
        EXPECT_NE(std::string(error.what()).find("stage flow: input = auto needs K or K²"),
                  std::string::npos);
    }
    const std::uint64_t good = pipeline.edit(0, "output", std::string("contrast"));
    Result result;
    ASSERT_TRUE(test::wait_result(pipeline, result, [&](const Result& r) { return r.info.version == good; }));
    EXPECT_NEAR(result.image.host().as<float>().row(3)[4] * 0.02 *
                    test::contrast2_at(result.raw.host(), 1, 4, 3),
                1, 1e-5);
    pipeline.stop();
    Pipeline bare(test::file_of(kEndless), chain_of("flow"), options());
    EXPECT_THROW(bare.start(), UsageError);
}

TEST(PipelineEdits, WarningsOfAChainAreLoggedOnceAndAgainAfterTheyReturn) {
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

TEST(PipelineEdits, AFailingEditKeepsTheOldValueAndReportsTheReason) {
    const Shape flat{40, 9, 1, PixelType::u8};
    Pipeline pipeline(test::file_of(kEndless, flat), chain_of("speckle:radius=2"), options());
    test::Listener listener(pipeline);
    pipeline.start();
    const std::uint64_t good = pipeline.edit(0, "radius", std::int64_t{4});
    Result result;
    ASSERT_TRUE(test::wait_result(pipeline, result, [&](const Result& r) { return r.info.version == good; }));
    const auto refusal = [&](std::size_t stage, const std::string& key, const ParamValue& value) {
        try {
            pipeline.edit(stage, key, value);
        } catch (const UsageError& error) {
            return std::string(error.what());
        }
        return std::string("taken");
    };
    EXPECT_NE(refusal(0, "radius", std::int64_t{99}).find("1…15 px"), std::string::npos);
    EXPECT_NE(refusal(0, "exposure", std::numeric_limits<double>::quiet_NaN()).find("nan"),
              std::string::npos);
    EXPECT_NE(refusal(0, "output", std::string("speed")).find("sfi, contrast"), std::string::npos);
    EXPECT_NE(refusal(0, "no_such", 1.0).find("'no_such'"), std::string::npos);
    EXPECT_NE(refusal(7, "radius", std::int64_t{3}).find('8'), std::string::npos);
    pipeline.edit(0, "radius", std::int64_t{10}); // in the declared range, but larger than the image
    ASSERT_TRUE(eventually([&] { return listener.heard("radius = 10 is too large") == 1; }))
        << listener.all();
    pipeline.set_chain(chain_of("speckle:radius=12"));
    ASSERT_TRUE(eventually([&] { return listener.heard("radius = 12") == 1; })) << listener.all();
    const std::uint64_t seen = pipeline.stats().frames.processed;
    ASSERT_TRUE(eventually([&] { return pipeline.stats().frames.processed > seen + 20; }));
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

TEST(PipelineEdits, TheNewestVersionOfTwoThreadsStays) {
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

TEST(PipelineEdits, AnEditRepairsAChainThatNoLongerFitsTheSize) {
    // From frame 5 on the image is too small for the radius; a smaller radius restores the image, and then a
    // radius is checked against the new size.
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
    EXPECT_EQ(pipeline.stats().frames.processed, 5U);
    EXPECT_EQ(listener.heard("radius = 5 is too large for an image of 30×3 pixels"), 1)
        << "once, not per frame";
    pipeline.edit(0, "radius", std::int64_t{4}); // fits only the old size: refused
    ASSERT_TRUE(eventually([&] { return listener.heard("radius = 4 is too large") == 1; })) << listener.all();
    const std::uint64_t version = pipeline.edit(0, "radius", std::int64_t{2});
    allowed = 20;
    Result result;
    ASSERT_TRUE(test::wait_result(pipeline, result, [&](const Result& r) { return r.info.sequence == 19; }));
    EXPECT_EQ(result.info.version, version);
    EXPECT_TRUE(test::agrees(result));
    EXPECT_EQ(pipeline.stats().drops.failed, 5U);
    EXPECT_EQ(pipeline.stats().frames.processed, 15U);
}

/// A source with its own option.
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

TEST(PipelineEdits, ReachTheSourceAndReportFailures) {
    Pipeline pipeline(std::make_unique<Tunable>(), Chain(), options());
    EXPECT_EQ(pipeline.source_params().as<Tunable::Options>().gain, 1);
    pipeline.start();
    pipeline.edit_source("gain", 6.0);
    ASSERT_TRUE(eventually([&] { return pipeline.source_params().as<Tunable::Options>().gain == 6; }));
    try {
        pipeline.edit_source("gain", 60.0);
        ADD_FAILURE() << "was taken";
    } catch (const UsageError& error) {
        EXPECT_NE(std::string(error.what()).find("0…24"), std::string::npos) << error.what();
    }
    EXPECT_EQ(pipeline.source_params().as<Tunable::Options>().gain, 6);
    EXPECT_EQ(pipeline.status().state, RunState::running);
}

} // namespace specklescope::pipeline_edit_test
