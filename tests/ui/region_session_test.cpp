// Edited regions without the window: edits that reach the pipeline, other sources, files.
#include "session/session.hpp"
#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"
#include "ui/regions/region_tools.hpp"

#include <gtest/gtest.h>

namespace specklescope::region_session_test {

using test::eventually;

class RegionSessionTest : public testing::Test {
protected:
    static void ignore() {}
    static Settings settings_of(const std::string& source) {
        Settings settings;
        settings.source = source;
        settings.chain.add("speckle");
        return settings;
    }
    /// Polls as the window does; true if a result has these regions.
    static bool measured(Session& session, const std::vector<std::string>& names, Result* last = nullptr) {
        return eventually([&] {
            session.poll();
            Result result;
            if (!session.pipeline()->mailbox().take(result))
                return false;
            std::vector<std::string> found;
            if (result.regions)
                for (const PlacedRegion& region : result.regions->placed->regions)
                    found.push_back(region.name);
            if (last)
                *last = result;
            return found == names;
        });
    }
    static bool told(const Session& session, const std::string& text) {
        return std::any_of(session.notices().list().begin(), session.notices().list().end(),
                           [&](const Note& note) { return note.text.find(text) != std::string::npos; });
    }
    TemporaryFolder folder_;
};

TEST_F(RegionSessionTest, OfSeveralChangesBetweenTwoFramesTheLastIsHandedOn) {
    Session session(settings_of("synthetic:uniform?width=64&height=48"));
    session.start(ignore);
    Result result;
    ASSERT_TRUE(measured(session, {}, &result));
    const std::uint64_t before = result.info.version;
    session.regions.set_picture(64, 48);
    session.regions.add(RegionShape::rectangle, {{2, 2}, {11, 6}});
    session.regions.add(RegionShape::line, {{0, 0}, {9, 9}});
    ASSERT_TRUE(session.regions.begin_drag({RegionGrip::Part::inside, 0, 0}, {5, 5}));
    for (int i = 0; i < 30; ++i)
        session.regions.drag({5.0 + i, 5}, false);
    session.regions.end_drag();
    ASSERT_TRUE(measured(session, {"region 1", "region 2"}, &result));
    EXPECT_EQ(result.info.version, before + 1);
    EXPECT_EQ(result.regions->statistics[0].pixels, 50U);
    for (int i = 0; i < 20; ++i)
        session.poll(); // no change
    session.undo();
    ASSERT_TRUE(measured(session, {}, &result));
    EXPECT_EQ(result.info.version, before + 2);
    EXPECT_EQ(session.pipeline()->regions(), nullptr);
}

TEST_F(RegionSessionTest, TheyGoWithTheWindowToAnotherSourceAndAreMarkedThere) {
    write_text(folder_ / "r.json", R"({"regions":[{"name":"in","shape":"rectangle","points":[[2,2],[9,9]]},
{"name":"out","shape":"rectangle","points":[[40,2],[49,9]]}]})");
    Settings settings = settings_of("synthetic:uniform?width=64&height=48");
    settings.regions_path = folder_ / "r.json";
    Session session(settings);
    session.start(ignore);
    ASSERT_EQ(session.regions.regions().size(), 2U);
    EXPECT_FALSE(session.history().can_undo());
    ASSERT_TRUE(measured(session, {"in", "out"}));
    session.open("synthetic:uniform?width=32&height=32");
    ASSERT_TRUE(eventually([&] {
        session.poll();
        return !session.opening();
    }));
    ASSERT_FALSE(session.open_error()) << *session.open_error();
    Result result;
    ASSERT_TRUE(measured(session, {"in", "out"}, &result));
    EXPECT_EQ(result.shape().width, 32);
    EXPECT_EQ(result.regions->placed->regions[0].fit, RegionFit::whole);
    EXPECT_EQ(result.regions->placed->regions[1].fit, RegionFit::outside);
    EXPECT_EQ(result.info.version, 0U) << "it began with them";
    EXPECT_TRUE(eventually([&] {
        session.poll();
        return told(session, "Region 'out' lies wholly outside the image of 32×32");
    }));
    session.regions.rename(0, "here"); // it can be edited all the same
    EXPECT_TRUE(measured(session, {"here", "out"}));
}

TEST_F(RegionSessionTest, ThoseOfTheCommandLineAreRefusedOutsideThePicture) {
    write_text(folder_ / "r.json", R"({"regions":[{"name":"out","shape":"line","points":[[70,2],[80,9]]}]})");
    Settings settings = settings_of("synthetic:uniform?width=64&height=48");
    settings.regions_path = folder_ / "r.json";
    Session session(settings);
    EXPECT_THROW(session.start(ignore), UsageError);
}

TEST_F(RegionSessionTest, AFileIsReadWholeOrNotAtAll) {
    Session session(settings_of("synthetic:uniform?width=64&height=48"));
    session.start(ignore);
    session.regions.set_picture(64, 48);
    session.regions.add(RegionShape::ellipse, {{2, 2}, {11, 6.5}});
    session.regions.lock(0, true);
    const std::vector<Region> drawn = session.regions.regions();
    session.save_regions_file(folder_ / "r.json");
    EXPECT_EQ(session.regions_path, folder_ / "r.json");
    write_text(folder_ / "bad.json",
               "{\"regions\":[{\"name\":\"a\",\"shape\":\"line\",\"points\":[[1,1],[2,2]]},\n{]}");
    EXPECT_THROW(session.load_regions_file(folder_ / "bad.json"), UsageError);
    EXPECT_THROW(session.load_regions_file(folder_ / "none.json"), RunError);
    EXPECT_EQ(session.regions.regions(), drawn);
    EXPECT_EQ(session.regions_path, folder_ / "r.json");
    session.regions.lock(0, false);
    EXPECT_TRUE(session.regions.remove(0));
    session.record_edits();
    session.load_regions_file(folder_ / "r.json");
    EXPECT_EQ(session.regions.regions(), drawn);
    session.undo();
    EXPECT_TRUE(session.regions.regions().empty());
    EXPECT_THROW(session.save_regions_file(folder_ / "no/folder/r.json"), RunError);
}

TEST_F(RegionSessionTest, AFileThatIsDroppedIsReadOrItsErrorSaidAndOthersAreLeftToSources) {
    write_text(folder_ / "r.json", R"({"regions":[{"name":"a","shape":"line","points":[[1,1],[2,2]]},
{"name":"b","shape":"rectangle","points":[[3,4],[9,8]]}]})");
    write_text(folder_ / "bad.json", "{\"regions\":[\n{\"name\":\"a\"}]}");
    Session session(settings_of("synthetic:uniform?width=64&height=48"));
    session.start(ignore);
    EXPECT_FALSE(take_region_file(folder_ / "film.raw", session));
    EXPECT_FALSE(take_region_file(folder_ / "r.json.tif", session));
    EXPECT_TRUE(session.regions.regions().empty());
    EXPECT_TRUE(take_region_file(folder_ / "r.json", session));
    ASSERT_EQ(session.regions.regions().size(), 2U);
    EXPECT_EQ(session.regions.regions()[1].name, "b");
    EXPECT_TRUE(measured(session, {"a", "b"})) << "the pipeline has them too";
    EXPECT_TRUE(take_region_file(folder_ / "bad.json", session));
    EXPECT_TRUE(told(session, "bad.json, line 2"));
    EXPECT_EQ(session.regions.regions().size(), 2U);
}

TEST_F(RegionSessionTest, RememberedOnesGoWithASourceThatIsGone) {
    Settings remembered = settings_of("gone.tif");
    remembered.source_remembered = true;
    remembered.regions = {{"a", RegionShape::line, {{1, 1}, {2, 2}}, "", false}};
    Session session(remembered);
    session.start(ignore);
    EXPECT_TRUE(session.regions.regions().empty());
    EXPECT_EQ(session.pipeline()->regions(), nullptr);
}

} // namespace specklescope::region_session_test
