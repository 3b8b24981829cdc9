// The session without the window: sources that open and fail, edits, recordings, messages.
#include "session/session.hpp"

#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"

#include <gtest/gtest.h>

namespace specklescope::session_test {

using test::eventually;

class SessionTest : public testing::Test {
protected:
    static void ignore() {}
    static Settings settings_of(const std::string& source) {
        Settings settings;
        settings.source = source;
        settings.chain.add("speckle");
        return settings;
    }
    /// Polls as the window does, until the condition is true.
    bool until(Session& session, const std::function<bool()>& so) const {
        return eventually([&] {
            session.poll();
            return so();
        });
    }
    static int told(const Session& session, const std::string& text) {
        return static_cast<int>(
            std::count_if(session.notices().list().begin(), session.notices().list().end(),
                          [&](const Note& note) { return note.text.find(text) != std::string::npos; }));
    }
    std::string film(int frames) const {
        std::string pixels;
        for (int i = 0; i < 64 * 48 * frames; ++i)
            pixels += static_cast<char>(40 + (i * 7919 ^ i / 64) % 150);
        write_text(folder_ / "film.raw", pixels);
        return "raw:" + (folder_ / "film.raw") + "?width=64&height=48&format=gray8";
    }
    TemporaryFolder folder_;
};

TEST_F(SessionTest, ASourceThatCannotBeOpenedIsToldOnceAndThePictureStays) {
    Session session(settings_of("synthetic:uniform?width=64&height=48"));
    session.start(ignore);
    const Pipeline* before = session.pipeline();
    session.open("nowhere.tif");
    EXPECT_TRUE(session.opening());
    ASSERT_TRUE(until(session, [&] { return !session.opening(); }));
    ASSERT_TRUE(session.open_error().has_value());
    EXPECT_NE(session.open_error()->find("nowhere.tif"), std::string::npos) << *session.open_error();
    EXPECT_EQ(told(session, "nowhere.tif"), 0)
        << "the dialog tells it; a message beside it would tell it twice";
    EXPECT_EQ(session.pipeline(), before);
    EXPECT_TRUE(session.pipeline()->started());
    session.open("synthetic:static?width=32&height=32");
    EXPECT_FALSE(session.open_error().has_value()) << "another try forgets it";
    ASSERT_TRUE(until(session, [&] { return !session.opening(); }));
    EXPECT_NE(session.pipeline(), before);
    EXPECT_EQ(session.generation(), 2U);
    EXPECT_EQ(told(session, "Opened synthetic:static"), 1);
}

/// F₀ belongs to one source: another scene has no change against it.
TEST_F(SessionTest, ABaselineOfRegionsEndsWithItsSource) {
    Settings settings = settings_of("synthetic:uniform?width=64&height=48");
    Region box;
    box.name = "box";
    box.shape = RegionShape::rectangle;
    box.points = {{10, 10}, {29, 29}};
    settings.regions = std::vector<Region>{box};
    Session session(settings);
    session.start(ignore);
    ASSERT_TRUE(until(session, [&] { return session.baseline.take(session.traces(), 1); }));
    session.open("synthetic:uniform?width=64&height=48&tau=4");
    ASSERT_TRUE(until(session, [&] { return !session.opening(); }));
    EXPECT_FALSE(session.baseline.taken());
    EXPECT_EQ(told(session, "was for the previous source"), 1);
}

TEST_F(SessionTest, RecentSourcesAreTheLastTwelveNewestFirst) {
    Session session(settings_of(""));
    session.start(ignore);
    EXPECT_EQ(session.recent(), std::deque<SourceArgument>{"synthetic"});
    std::deque<SourceArgument> wanted = {"synthetic"};
    for (const int width : {16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 18}) {
        const std::string source = "synthetic:uniform?width=" + std::to_string(width) + "&height=16";
        session.open(source);
        ASSERT_TRUE(until(session, [&] { return !session.opening(); }));
        std::erase(wanted, source);
        wanted.push_front(source);
    }
    wanted.resize(12);
    EXPECT_EQ(session.recent(), wanted);
}

TEST_F(SessionTest, AStageThatWaitsForItsFileHoldsTheChainBack) {
    Session session(settings_of("synthetic:uniform?width=64&height=48"));
    session.start(ignore);
    Chain chain = session.chain();
    chain.add("background:dark=file");
    const std::string before = to_string(session.chain());
    session.set_chain(chain);
    EXPECT_TRUE(waits_for_file(session.chain().stages()[1]));
    EXPECT_FALSE(waits_for_file(session.chain().stages()[0]));
    EXPECT_EQ(to_string(session.chain()), to_string(chain)) << "the controls show what is wanted";
    EXPECT_EQ(to_string(session.running_chain()), before) << "the picture keeps what it has";
    session.edit(0, "radius", std::int64_t{5});
    EXPECT_EQ(to_string(session.running_chain()), before);
    session.set_chain([&] {
        Chain shorter = session.chain();
        shorter.stages().pop_back();
        return shorter;
    }());
    const auto radius = [&] {
        return to_string(session.pipeline()->chain()->stages()[0].params.get("radius"));
    };
    EXPECT_TRUE(eventually([&] { return radius() == "5"; }))
        << "the edit was kept, and is sent with the chain";
}

TEST_F(SessionTest, AnEditReachesThePipelineAndAWrongOneIsTold) {
    Session session(settings_of("synthetic:uniform?width=64&height=48"));
    session.start(ignore);
    session.edit(0, "radius", std::int64_t{4});
    const auto radius = [](const Chain& chain) { return to_string(chain.stages()[0].params.get("radius")); };
    EXPECT_EQ(radius(session.chain()), "4") << "shown at once";
    EXPECT_TRUE(eventually([&] { return radius(*session.pipeline()->chain()) == "4"; }));
    session.edit(0, "radius", std::int64_t{1000});
    EXPECT_EQ(told(session, "radius = 1000"), 1);
    session.edit(7, "radius", std::int64_t{5}); // a stage that was just removed
    EXPECT_EQ(radius(session.chain()), "4");
    session.edit(0, "radius", std::int64_t{10});
    EXPECT_TRUE(eventually([&] { return radius(*session.pipeline()->chain()) == "10"; }));
}

TEST_F(SessionTest, ARecordingIsFinishedBesideAndTold) {
    Settings settings = settings_of(film(30));
    settings.program.set("loop", true);
    Session session(settings);
    session.recordings.folder = folder_.path().string();
    session.start(ignore);
    EXPECT_EQ(session.recordings.running(RecordWhat::raw), nullptr);
    session.recordings.toggle(output_kind(RecordWhat::raw));
    ASSERT_NE(session.recordings.running(RecordWhat::raw), nullptr) << session.notices().list().back().text;
    EXPECT_EQ(session.recordings.running(RecordWhat::processed), nullptr);
    ASSERT_TRUE(until(session, [&] {
        const Recording* recording = session.recordings.running(RecordWhat::raw);
        return recording && recording->sink->status().written > 10;
    }));
    session.recordings.toggle(output_kind(RecordWhat::raw));
    EXPECT_EQ(session.recordings.running(RecordWhat::raw), nullptr);
    ASSERT_TRUE(until(session, [&] { return told(session, "Recorded ") == 1; }));
    EXPECT_FALSE(names_in(folder_.path().string()).empty());
}

TEST_F(SessionTest, ARecordingOfALengthEndsByItselfUnderTheNameThatWasAskedFor) {
    Settings settings = settings_of(film(30));
    settings.program.set("loop", true);
    settings.program.set("record_frames", std::int64_t{7});
    settings.program.set("record_every", std::int64_t{3});
    settings.program.set("subject", std::string("mouse/7"));
    settings.program.set("record_name", std::string("{subject}_{what}_{count}"));
    Session session(settings);
    session.recordings.folder = folder_ / "out";
    std::filesystem::create_directory(session.recordings.folder);
    session.start(ignore);
    for (const char* name : {"mouse-7_raw_001.tiff", "mouse-7_raw_002.tiff"}) {
        session.recordings.toggle(output_kind(RecordWhat::raw));
        ASSERT_NE(session.recordings.running(RecordWhat::raw), nullptr)
            << session.notices().list().back().text;
        ASSERT_TRUE(until(session, [&] { return session.recordings.running(RecordWhat::raw) == nullptr; }));
        ASSERT_TRUE(until(session, [&] {
            return told(session, std::string(name) + ", complete with 7 frames") == 1;
        })) << session.notices().list().back().text;
    }
    EXPECT_EQ(names_in(session.recordings.folder),
              (std::vector<std::string>{"mouse-7_raw_001.tiff", "mouse-7_raw_002.tiff"}));

    session.settings().program.set("record_name", std::string("{patient}"));
    session.recordings.toggle(output_kind(RecordWhat::raw));
    EXPECT_EQ(session.recordings.running(RecordWhat::raw), nullptr);
    EXPECT_EQ(told(session, "{patient}"), 1);
    session.settings().program.set("record_name", std::string("{what}"));
    session.settings().program.set("record_every_s", 0.5);
    session.recordings.toggle(output_kind(RecordWhat::raw));
    EXPECT_EQ(session.recordings.running(RecordWhat::raw), nullptr) << "one of three and one in 0.5 s";
    EXPECT_EQ(told(session, "cannot be combined"), 1);
}

TEST_F(SessionTest, WhatHasEndedPlaysAgain) {
    Session session(settings_of(film(5)));
    session.start(ignore);
    const Pipeline* same = session.pipeline();
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(until(session, [&] { return session.pipeline()->finished(); }));
        EXPECT_EQ(session.pipeline()->stats().frames.processed, 5U);
        session.play_again();
        ASSERT_TRUE(until(session, [&] { return !session.opening(); }));
        EXPECT_EQ(session.pipeline(), same);
    }
}

TEST_F(SessionTest, TheLastSourceOfTheWindowMayBeGone) {
    Settings remembered = settings_of("gone.tif");
    remembered.source_remembered = true;
    Session session(remembered);
    session.start(ignore);
    EXPECT_EQ(session.settings().source, "");
    EXPECT_EQ(told(session, "Showing the simulated scene"), 1);
    Session asked(settings_of("gone.tif"));
    EXPECT_THROW(asked.start(ignore), Error) << "what the user asked for is not replaced";
}

TEST_F(SessionTest, MessagesAreKeptUpToSixty) {
    Session session(settings_of("synthetic:uniform?width=64&height=48"));
    session.start(ignore);
    for (int i = 0; i < 100; ++i)
        session.say(Message::Level::info, "message " + std::to_string(i));
    session.poll();
    EXPECT_EQ(session.notices().list().size(), 60U);
    EXPECT_EQ(told(session, "message 39"), 0);
    EXPECT_EQ(told(session, "message 99"), 1);
}

} // namespace specklescope::session_test
