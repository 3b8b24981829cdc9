// Exports of a film, without a window: they equal the files of a run, and a cancelled export leaves a
// readable file or none.
#include "session/session.hpp"

#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/ui/drawn.hpp"
#include "ui/traces/strip.hpp"

#include <map>
#include <sstream>

namespace specklescope::exports_test {

constexpr int kFrames = 60;

std::vector<std::vector<std::string>> cells_of(const std::string& text, char between) {
    std::vector<std::vector<std::string>> rows;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("#"))
            continue;
        std::istringstream row(line);
        rows.emplace_back();
        for (std::string cell; std::getline(row, cell, between);)
            rows.back().push_back(cell);
    }
    return rows;
}

class ExportsTest : public DrawnParts {
protected:
    static void ignore() {}
    void SetUp() override {
        write_text(folder_ / "r.json", R"({"regions":[
{"name":"box","shape":"rectangle","points":[[4,4],[30,27]]},
{"name":"disk","shape":"ellipse","points":[[34,10],[58,40]]}]})");
        const ChildResult made =
            run_program({"run", "synthetic:vessels?width=64&height=48&live=false&rate=20", "--backend", "cpu",
                         "--frames", std::to_string(kFrames), "--record-raw", "film.raw", "--stage",
                         "speckle", "--regions", "r.json", "--traces", "run.csv"},
                        folder_.path().string());
        ASSERT_EQ(made.status, 0) << made.all();
        Settings settings;
        settings.source = "raw:" + (folder_ / "film.raw");
        settings.program.set_text("backend", "cpu");
        settings.chain.add("speckle");
        settings.regions_path = folder_ / "r.json";
        session_ = std::make_unique<Session>(settings);
        session_->recordings.folder = folder_.path().string();
        session_->start(ignore);
        session_->pipeline()->pause(true);
    }
    bool until(const std::function<bool()>& so) {
        return test::eventually([&] {
            session_->poll();
            return so();
        });
    }
    bool said(const std::string& part) {
        return until([&] {
            const auto& all = session_->notices().list();
            return std::any_of(all.begin(), all.end(),
                               [&](const Note& note) { return note.text.find(part) != std::string::npos; });
        });
    }
    void process_film() {
        session_->pipeline()->pause(false); // the window has shown a frame
        ASSERT_TRUE(until([&] { return !session_->traces().overview().regions.empty(); }));
        session_->whole_film.start();
        ASSERT_TRUE(until([&] { return !session_->whole_film.running(); }));
    }
    /// Cells of the curves of the whole film in the clipboard.
    std::vector<std::vector<std::string>> copied(TraceStrip& strip) {
        static std::string text;
        ImGui::GetIO().SetClipboardTextFn = [](void*, const char* given) { text = given; };
        strip.update(*session_);
        strip.show_whole();
        strip.update(*session_);
        strip.copy(*session_);
        return cells_of(text, '\t');
    }
    std::string file(const std::string& begin) const {
        for (const std::string& name : folder_.names())
            if (name.starts_with(begin))
                return folder_ / name;
        return "";
    }
    TemporaryFolder folder_;
    std::unique_ptr<Session> session_;
};

TEST_F(ExportsTest, TheTableOfTracesIsThatOfRun) {
    EXPECT_EQ(session_->exports.why_no_traces(), "");
    session_->exports.save_traces(session_->events());
    EXPECT_NE(session_->exports.why_no_traces(), "") << "one film at a time";
    EXPECT_NE(session_->exports.why_no_film(Exports::Film::results), "");
    ASSERT_TRUE(said("Recorded 60 frames to "));
    auto ours = cells_of(test::read_file(file("traces")), ','),
         theirs = cells_of(test::read_file(folder_ / "run.csv"), ',');
    ASSERT_EQ(ours.size(), 1U + 2 * kFrames);
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
        for (auto* row : {&ours[i], &theirs[i]})
            if (i > 0) {
                row->at(2) = "";  // arrival_s
                row->at(15) = ""; // position: a scene has none
            }
        EXPECT_EQ(ours[i], theirs[i]) << i;
    }
}

TEST_F(ExportsTest, ACancelledExportLeavesAReadableFileOrNone) {
    session_->exports.save_film(Exports::Film::results);
    session_->whole_film.cancel();
    ASSERT_TRUE(until([&] { return !session_->whole_film.running(); }));
    if (const std::string made = file("results"); !made.empty()) {
        const ChildResult read =
            run_program({"run", made, "--stage", "none", "--backend", "cpu"}, folder_.path().string());
        EXPECT_EQ(read.status, 0) << read.all();
    }
    EXPECT_NE(session_->exports.why_no_film(Exports::Film::change), "") << "there is no baseline";
    EXPECT_EQ(session_->exports.why_no_film(Exports::Film::screen), "");
}

TEST_F(ExportsTest, CopiedValuesAreThoseOfRun) {
    process_film();
    TraceStrip strip;
    const auto rows = copied(strip), table = cells_of(test::read_file(folder_ / "run.csv"), ',');
    ASSERT_EQ(rows.size(), 1U + kFrames);
    ASSERT_EQ(rows[0].size(), 4U);
    EXPECT_TRUE(rows[0][2].starts_with("box")) << rows[0][2];
    for (std::size_t frame = 0; frame < kFrames; ++frame) {
        const auto& row = rows[frame + 1];
        EXPECT_EQ(row[1], std::to_string(frame));
        EXPECT_EQ(std::stod(row[0]), std::stod(table[1 + 2 * frame][1])) << "time";
        EXPECT_EQ(row[2], table[1 + 2 * frame][4]);
        EXPECT_EQ(row[3], table[2 + 2 * frame][4]);
    }
    EXPECT_EQ(frames_between(session_->traces(), 0, 0, 10).size(), 1U) << "a single frame";
}

/// A value of where a region was has no F₀ of where it is.
TEST_F(ExportsTest, CopiedChangesAreOfTheSameOutline) {
    process_film();
    session_->pipeline()->pause(true);
    session_->regions.move(0, 1, 0);
    session_->poll();
    constexpr std::uint64_t kMoved = 3;
    for (std::uint64_t frame = 0; frame < kMoved; ++frame) {
        const std::uint64_t seek = session_->pipeline()->seek(frame, true);
        ASSERT_TRUE(until([&] {
            return session_->pipeline()->last_seek() == seek && !session_->pipeline()->sought() &&
                   session_->traces().overview().newest->position == frame;
        }));
    }
    (void)add_interval(session_->intervals, 0, 1'000'000'000);
    TraceStrip strip;
    strip.update(*session_);
    strip.toggle_relative(*session_);
    const auto rows = copied(strip);
    ASSERT_EQ(rows.size(), 1U + kFrames);
    for (std::size_t frame = 0; frame < kFrames; ++frame) {
        EXPECT_EQ(rows[frame + 1][2].empty(), frame >= kMoved) << frame;
        EXPECT_FALSE(rows[frame + 1][3].empty()) << "the other one has not moved";
    }
}

TEST_F(ExportsTest, AFilmThatIsGoneIsReported) {
    session_->pipeline()->pause(false);
    ASSERT_TRUE(until([&] { return !session_->traces().overview().regions.empty(); }));
    std::filesystem::remove(folder_.path() / "film.raw");
    TraceStrip strip;
    strip.toggle_whole_film(*session_);
    EXPECT_TRUE(said("There is no file"));
    session_->picture_baseline.take_over({"rest", 0, 1'000'000'000, true});
    EXPECT_TRUE(said("The baseline of the image was not taken"));
}

TEST_F(ExportsTest, ALiveSourceHasNoFilmToExport) {
    session_->open(SourceArgument("synthetic:uniform?width=64&height=48"));
    ASSERT_TRUE(until([&] { return !session_->opening(); }));
    for (const auto what : {Exports::Film::results, Exports::Film::change, Exports::Film::screen})
        EXPECT_NE(session_->exports.why_no_film(what), "");
    EXPECT_EQ(session_->exports.why_no_traces(), "") << "of what was seen";
}

} // namespace specklescope::exports_test
