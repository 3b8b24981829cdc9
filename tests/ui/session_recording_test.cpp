// A recording opened in a running window applies its settings, unless the current settings are kept.
#include "session/session.hpp"
#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"

#include <gtest/gtest.h>

namespace specklescope::session_recording_test {

using test::eventually;

class SessionRecordingTest : public testing::Test {
protected:
    static void ignore() {}
    void SetUp() override {
        const ChildResult made =
            run_program({"run", "synthetic:vessels?width=64&height=48&live=false", "--frames", "5", "--stage",
                         "temporal:frames=3,output=contrast2", "--view", "low=0.125", "--view", "high=0.5",
                         "--regions", "r.json", "--record", "k2.tiff", "--record-raw", "raw.tiff"},
                        regions());
        ASSERT_EQ(made.status, 0) << made.all();
        Settings settings;
        settings.source = "synthetic:uniform?width=64&height=48";
        settings.chain.add("speckle");
        session_ = std::make_unique<Session>(std::move(settings));
        session_->start(ignore);
        session_->regions.replace({{.name = "mine",
                                    .shape = RegionShape::line,
                                    .points = {{1, 2}, {3, 4}},
                                    .colour = {},
                                    .locked = false}});
        session_->record_edits();
    }
    std::string regions() const {
        write_text(folder_ / "r.json",
                   R"({"regions":[{"name":"box","shape":"rectangle","points":[[10,8],[29,27]]}]})");
        return folder_.path().string();
    }
    void open(const std::string& name, bool as_set = false) {
        session_->open(folder_ / name, as_set);
        ASSERT_TRUE(eventually([&] {
            session_->poll();
            return !session_->opening();
        }));
        ASSERT_FALSE(session_->open_error()) << *session_->open_error();
    }
    int told(const std::string& text) const {
        return static_cast<int>(
            std::count_if(session_->notices().list().begin(), session_->notices().list().end(),
                          [&](const Note& note) { return note.text.find(text) != std::string::npos; }));
    }
    TemporaryFolder folder_;
    std::unique_ptr<Session> session_;
};

TEST_F(SessionRecordingTest, RawFramesBringTheirSettings) {
    open("raw.tiff");
    EXPECT_EQ(session_->pipeline()->chain()->stages().at(0).type->name, "temporal");
    EXPECT_EQ(session_->view().mapping.high, 0.5);
    EXPECT_FALSE(session_->view().mapping.automatic);
    ASSERT_EQ(session_->regions.regions().size(), 1U);
    EXPECT_EQ(session_->regions.regions()[0].name, "box");
    EXPECT_EQ(told("Taken from"), 1);
    EXPECT_TRUE(session_->restored());
    session_->undo();
    EXPECT_EQ(session_->regions.regions().at(0).name, "mine") << "those before are not lost";
}

TEST_F(SessionRecordingTest, ResultsAreNotProcessedAgain) {
    open("k2.tiff");
    EXPECT_TRUE(session_->pipeline()->chain()->stages().empty());
    EXPECT_EQ(told("no stage processes them again"), 1);
    EXPECT_EQ(session_->view().mapping.high, 0.5);
}

TEST_F(SessionRecordingTest, OrItIsOpenedAsTheWindowIsSet) {
    open("raw.tiff", true);
    EXPECT_EQ(session_->pipeline()->chain()->stages().at(0).type->name, "speckle");
    EXPECT_EQ(session_->regions.regions().at(0).name, "mine");
    EXPECT_TRUE(session_->view().mapping.automatic);
    open("k2.tiff", true);
    EXPECT_EQ(told("processes them again"), 1) << "which it says";
}

} // namespace specklescope::session_recording_test
