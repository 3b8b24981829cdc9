// Exports of a film, without a window: they equal the files of a run, and a cancelled export leaves a
// readable file or none.
#include "session/session.hpp"

#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/file_size_limit.hpp"
#include "tests/support/file_tools.hpp"
#include "tests/ui/drawn.hpp"
#include "ui/traces/strip.hpp"

#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
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
        // A log in a file would also meet the limit of FileSizeLimit.
        std::signal(SIGXFSZ, SIG_IGN); // NOLINT(cert-err33-c)
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
    void TearDown() override { std::signal(SIGXFSZ, SIG_DFL); } // NOLINT(cert-err33-c)
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
    /// The messages of an export from its beginning to its end, without the one that it begins.
    std::vector<Note> messages_of(const std::function<void()>& begin) {
        const std::size_t before = session_->notices().count();
        begin();
        EXPECT_TRUE(until([&] {
            const auto& all = session_->notices().list();
            return !session_->whole_film.running() && session_->notices().count() > before &&
                   !all.back().text.starts_with("Processing");
        }));
        const auto& all = session_->notices().list();
        std::vector<Note> notes(all.end() - static_cast<std::ptrdiff_t>(session_->notices().count() - before),
                                all.end());
        std::erase_if(notes, [](const Note& note) { return note.text.starts_with("Processing"); });
        return notes;
    }
    struct Kind {
        const char* name;
        std::function<void()> save;
    };
    std::vector<Kind> films() {
        return {{"traces", [this] { session_->exports.save_traces(session_->events()); }},
                {"results", [this] { session_->exports.save_film(Exports::Film::results); }},
                {"screen", [this] { session_->exports.save_film(Exports::Film::screen); }}};
    }
    static TracePlot plot() {
        TracePlot plot{.symbol = "K", .unit = "1", .to_ns = 1'000'000'000};
        plot.curves.push_back({.name = "box", .colour = "#ff0000", .columns = {}});
        return plot;
    }
    /// One message, which is an error and a sentence.
    static void expect_one_error(const std::vector<Note>& notes) {
        ASSERT_EQ(notes.size(), 1U);
        EXPECT_EQ(notes[0].level, Message::Level::error) << notes[0].text;
        EXPECT_TRUE(notes[0].text.ends_with('.')) << notes[0].text;
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

/// Frames that another run reads, or rows of a table.
std::size_t frames_in(const std::string& path, const std::string& folder) {
    if (path.ends_with(".csv"))
        return (cells_of(test::read_file(path), ',').size() - 1) / 2;
    (void)run_program({"run", path, "--stage", "none", "--backend", "cpu", "--stats", "s.json"}, folder);
    return nlohmann::json::parse(test::read_file(folder + "/s.json"))["frames"]["processed"];
}

TEST_F(ExportsTest, OnAFullDiskNoPartHasTheNameOfTheWholeAndTheNextTryIsWhole) {
    for (const Kind& kind : films()) {
        SCOPED_TRACE(kind.name);
        ASSERT_EQ(messages_of(kind.save).back().level, Message::Level::info);
        const std::string whole = file(kind.name);
        ASSERT_FALSE(whole.empty());
        const auto bytes = static_cast<rlim_t>(std::filesystem::file_size(whole));
        std::filesystem::remove(whole);
        std::vector<Note> notes;
        {
            const FileSizeLimit full(bytes * 2 / 3);
            notes = messages_of(kind.save);
        }
        expect_one_error(notes);
        EXPECT_TRUE(notes[0].alarm) << "it stays until it is acknowledged";
        const std::string part = file(kind.name);
        EXPECT_NE(part.find(".incomplete."), std::string::npos) << part;
        EXPECT_NE(notes[0].text.find(part), std::string::npos) << notes[0].text;
        const std::size_t saved = frames_in(part, folder_.path().string());
        EXPECT_GT(saved, 0U);
        EXPECT_LT(saved, std::size_t{kFrames});
        EXPECT_NE(notes[0].text.find("Saved " + std::to_string(saved) + " frames"), std::string::npos)
            << notes[0].text;
        std::filesystem::remove(part);
        EXPECT_TRUE(session_->pipeline()->started());
        notes = messages_of(kind.save);
        ASSERT_EQ(notes.size(), 1U);
        EXPECT_EQ(notes[0].level, Message::Level::info) << notes[0].text;
        EXPECT_EQ(frames_in(file(kind.name), folder_.path().string()), std::size_t{kFrames});
        std::filesystem::remove(file(kind.name));
    }
}

TEST_F(ExportsTest, APlotIsWholeOrNotThere) {
    const auto save = [&] { session_->exports.save_plot(plot()); };
    {
        const FileSizeLimit full(64);
        expect_one_error(messages_of(save));
        EXPECT_EQ(file("plot"), "");
    }
    session_->recordings.folder = folder_ / "removed";
    expect_one_error(messages_of(save));
    session_->recordings.folder = folder_.path().string();
    EXPECT_EQ(messages_of(save).back().level, Message::Level::info);
    const std::vector<std::string> names = folder_.names();
    EXPECT_EQ(std::count_if(names.begin(), names.end(),
                            [](const std::string& name) { return name.starts_with("plot"); }),
              3);
}

/// The film is too long to be processed before the folder is gone.
TEST_F(ExportsTest, AFolderThatVanishesEndsTheExportAtOnce) {
    session_->open(SourceArgument("synthetic:vessels?width=64&height=48&live=false&rate=20&frames=10000000"));
    ASSERT_TRUE(until([&] { return !session_->opening(); }));
    session_->pipeline()->pause(true);
    const std::string folder = folder_ / "out";
    session_->recordings.folder = folder;
    for (const Kind& kind : films()) {
        SCOPED_TRACE(kind.name);
        const auto exists = [&] {
            for (const auto& entry : std::filesystem::directory_iterator(folder))
                if (entry.path().filename().string().starts_with(kind.name))
                    return true;
            return false;
        };
        std::filesystem::create_directory(folder);
        const std::vector<Note> notes = messages_of([&] {
            kind.save();
            EXPECT_TRUE(until(exists));
            std::filesystem::remove_all(folder);
        });
        expect_one_error(notes);
        EXPECT_NE(notes[0].text.find("Nothing was saved"), std::string::npos) << notes[0].text;
        EXPECT_FALSE(std::filesystem::exists(folder));
        EXPECT_TRUE(session_->pipeline()->started());
        std::filesystem::create_directory(folder);
        kind.save();
        EXPECT_TRUE(until(exists)) << "a second try";
        session_->whole_film.cancel();
        ASSERT_TRUE(until([&] { return !session_->whole_film.running(); }));
        for (const auto& entry : std::filesystem::directory_iterator(folder))
            EXPECT_NE(entry.path().string().find(".incomplete."), std::string::npos) << entry.path();
        std::filesystem::remove_all(folder);
    }
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
