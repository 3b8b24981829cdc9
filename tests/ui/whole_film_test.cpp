// The whole film in the background: its values are those that a run writes, and edits end it.
#include "recording/traces.hpp"
#include "session/session.hpp"

#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/file_tools.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace specklescope::whole_film_test {

constexpr const char* kRegions = R"({"regions":[
{"name":"box","shape":"rectangle","points":[[4,4],[30,27]]},
{"name":"disk","shape":"ellipse","points":[[34,10],[58,40]]}]})";
constexpr int kFrames = 60;

struct Row {
    double capture_s = 0, mean = 0;
};
/// Rows of a table of traces, by region and sequence.
std::map<std::pair<std::string, std::uint64_t>, Row> rows_of(const std::string& text) {
    std::map<std::pair<std::string, std::uint64_t>, Row> found;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] < '0' || line[0] > '9')
            continue;
        std::vector<std::string> cells;
        std::istringstream row(line);
        for (std::string cell; std::getline(row, cell, ',');)
            cells.push_back(cell);
        found[{cells.at(3), std::stoull(cells.at(0))}] = {std::stod(cells.at(1)), std::stod(cells.at(4))};
    }
    return found;
}

class WholeFilmTest : public testing::Test {
protected:
    static void ignore() {}
    void SetUp() override {
        write_text(folder_ / "r.json", kRegions);
        const ChildResult made =
            run_program({"run", "synthetic:vessels?width=64&height=48&live=false&rate=20", "--backend", "cpu",
                         "--frames", std::to_string(kFrames), "--record-raw", "film.raw"},
                        folder_.path().string());
        ASSERT_EQ(made.status, 0) << made.all();
    }
    std::string film() const { return "raw:" + (folder_ / "film.raw"); }
    /// Table that `run` writes.
    std::string csv_of_run(const std::string& chain) const {
        std::vector<std::string> words = {"run",       film(),   "--backend", "cpu",
                                          "--regions", "r.json", "--traces",  "run.csv"};
        for (const std::string& stage : stages(chain))
            words.insert(words.end(), {"--stage", stage});
        const ChildResult run = run_program(words, folder_.path().string());
        EXPECT_EQ(run.status, 0) << run.all();
        return test::read_file(folder_ / "run.csv");
    }
    static std::vector<std::string> stages(const std::string& chain) {
        std::vector<std::string> all;
        std::istringstream in(chain);
        for (std::string stage; std::getline(in, stage, '|');)
            all.push_back(stage);
        return all;
    }
    Settings settings_of(const std::string& chain) const {
        Settings settings;
        settings.source = film();
        settings.program.set_text("backend", "cpu");
        settings.chain = chain_from_text(chain);
        settings.regions_path = folder_ / "r.json";
        return settings;
    }
    static bool until(Session& session, const std::function<bool()>& so) {
        return test::eventually([&] {
            session.poll();
            return so();
        });
    }
    void expect_values(Session& session, const std::string& csv) const {
        const TraceOverview about = session.traces().overview();
        EXPECT_EQ(about.frames, static_cast<std::uint64_t>(kFrames));
        const auto rows = rows_of(csv);
        ASSERT_EQ(rows.size(), 2U * kFrames);
        for (std::size_t i = 0; i < about.regions.size(); ++i)
            for (std::uint64_t frame = 0; frame < kFrames; ++frame) {
                const Row& row = rows.at({about.regions[i].name, frame});
                const auto time = static_cast<std::int64_t>(std::llround(row.capture_s * 1e9));
                const auto found = session.traces().values_at(time);
                ASSERT_TRUE(found);
                EXPECT_EQ(found->moment.position, frame);
                EXPECT_EQ(found->moment.time_ns, time);
                if (std::isfinite(row.mean)) {
                    EXPECT_EQ(found->values.at(i), row.mean) << about.regions[i].name << " " << frame;
                }
            }
    }
    TemporaryFolder folder_;
};

TEST_F(WholeFilmTest, GivesTheValuesThatARunWrites) {
    for (const std::string chain : {"speckle:radius=3,output=contrast", "temporal:frames=8,output=contrast",
                                    "average:frames=5|speckle:radius=2"}) {
        SCOPED_TRACE(chain);
        const std::string csv = csv_of_run(chain);
        Session session(settings_of(chain));
        session.start(ignore);
        session.pipeline()->pause(true);
        session.pipeline()->seek(7, true);
        constexpr std::uint64_t kShown = 7;
        ASSERT_TRUE(until(session, [&] {
            const TraceOverview about = session.traces().overview();
            return !about.regions.empty() && about.newest->position == kShown;
        }));
        session.whole_film.start();
        EXPECT_NE(session.whole_film.why_not(), "");
        ASSERT_TRUE(until(session, [&] { return !session.whole_film.running(); }));
        EXPECT_EQ(session.whole_film.progress().frames, static_cast<std::uint64_t>(kFrames));
        EXPECT_EQ(session.whole_film.progress().total, static_cast<std::uint64_t>(kFrames));
        EXPECT_EQ(session.traces().overview().newest->position, kShown) << "the display stays";
        expect_values(session, csv);
        EXPECT_TRUE(session.traces().overview().restarts.empty());
        for (const std::uint64_t frame : {50, 2, 30}) { // a warm seek gives the same again
            const std::uint64_t seek = session.pipeline()->seek(frame, true);
            ASSERT_TRUE(until(session, [&] {
                return session.pipeline()->last_seek() == seek && !session.pipeline()->sought() &&
                       session.traces().overview().newest->position == frame;
            }));
        }
        expect_values(session, csv);
    }
}

TEST_F(WholeFilmTest, FeedsOtherOutputsAndReportsItsEnd) {
    const std::string chain = "temporal:frames=4,output=contrast";
    const std::string csv = csv_of_run(chain);
    Session session(settings_of(chain));
    session.start(ignore);
    std::optional<WholeFilm::Outcome> outcome;
    session.whole_film.start({{make_traces(folder_ / "whole.csv")},
                              [&](WholeFilm::Outcome end, const std::string&) { outcome = end; }});
    ASSERT_TRUE(until(session, [&] { return outcome.has_value(); }));
    EXPECT_EQ(outcome, WholeFilm::Outcome::done);
    const auto ours = rows_of(test::read_file(folder_ / "whole.csv")), theirs = rows_of(csv);
    ASSERT_EQ(ours.size(), theirs.size());
    for (const auto& [key, row] : theirs) {
        EXPECT_EQ(ours.at(key).capture_s, row.capture_s);
        EXPECT_TRUE(ours.at(key).mean == row.mean || (std::isnan(ours.at(key).mean) && std::isnan(row.mean)));
    }
}

/// The display is late: it fills its history first.
TEST_F(WholeFilmTest, AfterAnEditOfTheQuantityItHasEveryFrame) {
    Session session(settings_of("speckle:radius=3,output=contrast|average:frames=50"));
    session.start(ignore);
    session.pipeline()->pause(true);
    session.pipeline()->seek(55, true);
    Result shown;
    const auto take = [&] { return session.pipeline()->mailbox().take(shown); };
    ASSERT_TRUE(until(session, [&] { return take() && shown.info.position == 55U; }));
    session.edit(0, "output", std::string("sfi"));
    session.whole_film.start();
    ASSERT_TRUE(until(session, [&] { return !session.whole_film.running(); }));
    ASSERT_TRUE(until(session, [&] { return take() && shown.repeated; }));
    session.traces().push(shown); // as the window does
    EXPECT_EQ(session.traces().overview().frames, static_cast<std::uint64_t>(kFrames));
}

TEST_F(WholeFilmTest, AnEditEndsItAndSoDoesTheUser) {
    Session session(settings_of("speckle:radius=3"));
    session.start(ignore);
    std::vector<WholeFilm::Outcome> outcomes;
    const auto start = [&] {
        session.whole_film.start({{}, [&](WholeFilm::Outcome end, const std::string& text) {
                                      outcomes.push_back(end);
                                      EXPECT_FALSE(text.empty());
                                  }});
    };
    const auto ended = [&](std::size_t count) {
        return until(session, [&] { return outcomes.size() == count; });
    };
    start();
    session.whole_film.cancel();
    ASSERT_TRUE(ended(1));
    start();
    session.edit(0, "radius", std::int64_t{5});
    ASSERT_TRUE(ended(2));
    start();
    session.regions.replace({});
    ASSERT_TRUE(ended(3));
    EXPECT_EQ(outcomes, std::vector<WholeFilm::Outcome>(3, WholeFilm::Outcome::cancelled));
    start();
    session.close(); // in the middle
    EXPECT_FALSE(session.whole_film.running());
    EXPECT_EQ(outcomes.size(), 4U) << "with its file";
}

/// A second run would capture other frames, and other values would look the same.
TEST_F(WholeFilmTest, RefusesFramesThatWereCapturedByTheButton) {
    Session session(settings_of("background:dark=capture,frames=4|speckle"));
    session.start(ignore);
    EXPECT_EQ(session.whole_film.why_not(), "") << "both take the first frames";
    session.edit(0, "capture_dark",
                 std::get<std::int64_t>(session.chain().stages()[0].params.get("capture_dark")) + 1);
    EXPECT_NE(session.whole_film.why_not(), "");
    session.edit(0, "dark", std::string("none"));
    EXPECT_EQ(session.whole_film.why_not(), "") << "the capture is not used";
}

TEST_F(WholeFilmTest, IsOnlyOfFilms) {
    for (const std::string source :
         {"synthetic:uniform?width=64&height=48", "synthetic:uniform?width=64&height=48&live=false"}) {
        Settings settings = settings_of("speckle");
        settings.source = source;
        Session session(settings);
        session.start(ignore);
        EXPECT_NE(session.whole_film.why_not(), "") << source << " has no end";
        EXPECT_THROW(session.whole_film.start(), UsageError);
    }
}

} // namespace specklescope::whole_film_test
