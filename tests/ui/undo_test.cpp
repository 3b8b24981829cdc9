// Undo and redo of a session, without the window: each kind of edit there and back.
#include "session/session.hpp"
#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace specklescope::undo_test {

using test::eventually;

class UndoTest : public testing::Test {
protected:
    void SetUp() override {
        Settings settings;
        settings.source = film(6);
        settings.chain.add("speckle:radius=3,output=contrast");
        settings.regions = std::vector<Region>{box("box", 10), box("other", 20)};
        session_ = std::make_unique<Session>(std::move(settings));
        session_->start([] {});
        session_->regions.set_picture(64, 48);
    }
    static Region box(const std::string& name, double at) {
        return {name, RegionShape::rectangle, {{at, 4}, {at + 9, 13}}, "#ee8866", false};
    }
    std::string film(int frames) const {
        std::string pixels;
        for (int i = 0; i < 64 * 48 * frames; ++i)
            pixels += static_cast<char>(40 + (i * 7919 ^ i / 64) % 150);
        write_text(folder_ / "film.raw", pixels);
        return "raw:" + (folder_ / "film.raw") + "?width=64&height=48&format=gray8&rate=50";
    }
    void open(const SourceArgument& source) {
        session_->open(source);
        ASSERT_TRUE(eventually([&] {
            session_->poll();
            return !session_->opening();
        }));
        EXPECT_FALSE(session_->open_error()) << *session_->open_error();
    }
    bool told(const std::string& text) const {
        const auto& notes = session_->notices().list();
        return std::any_of(notes.begin(), notes.end(),
                           [&](const Note& note) { return note.text.find(text) != std::string::npos; });
    }
    /// Everything that undo restores, as text.
    std::string state() {
        std::string text =
            to_string(session_->chain()) + "\nchannel " + to_string(session_->chain().channel());
        for (const Region& region : session_->regions.regions()) {
            text += "\n" + region.name + " " + region.colour + (region.locked ? " locked" : "");
            for (const RegionPoint& p : region.points)
                text += " " + std::to_string(p.x) + "," + std::to_string(p.y);
        }
        const Params& view = session_->settings().view;
        const bool automatic = session_->view().mapping.automatic;
        for (const ParamDecl& decl : view.table().decls())
            if (!(automatic && (decl.name == "low" || decl.name == "high")))
                text += "\n" + decl.name + " " + to_string(view.get(decl.name));
        text += "\num " + std::to_string(session_->settings().um_per_source_px);
        for (const Interval& interval : session_->intervals)
            text += "\n" + interval.name + (interval.baseline ? " F0 " : " ") +
                    std::to_string(interval.from_ns) + " " + std::to_string(interval.to_ns);
        if (session_->baseline.taken())
            text += "\nbaseline " + std::to_string(session_->baseline.taken()->regions.at(0).mean);
        return text;
    }
    /// Pixels of the last frame of the film as it is computed now.
    std::vector<float> last_image() {
        std::vector<float> pixels;
        session_->play_again();
        Result newest;
        EXPECT_TRUE(eventually([&] {
            session_->poll();
            (void)session_->pipeline()->mailbox().take(newest);
            return !session_->opening() && session_->pipeline()->finished() && newest.info.sequence == 5;
        }));
        for (int y = 0; newest.image && y < newest.shape().height; ++y) {
            const float* row = newest.image.host().as<float>().row(y);
            pixels.insert(pixels.end(), row, row + newest.shape().width);
        }
        return pixels;
    }

    TemporaryFolder folder_;
    std::unique_ptr<Session> session_;
};

TEST_F(UndoTest, EveryKindOfEditIsUndoneAndRedone) {
    Session& s = *session_;
    ASSERT_TRUE(eventually([&] {
        s.poll();
        return s.pipeline()->finished();
    }));
    const auto chain = [&](const auto& change) {
        Chain next = s.chain();
        change(next.stages());
        (void)s.set_chain(std::move(next));
    };
    const auto view = [&](const char* key, const ParamValue& value) {
        return [&s, key, value] { s.settings().view.set(key, value); };
    };
    struct Edit {
        std::string name;
        std::function<void()> make;
    };
    const std::vector<Edit> edits = {
        {"speckle radius 3 → 5", [&] { s.edit(0, "radius", std::int64_t{5}); }},
        {"added gaussian",
         [&] {
             chain([](auto& stages) {
                 Chain more;
                 more.add("gaussian:sigma=2");
                 stages.push_back(more.stages()[0]);
             });
         }},
        {"bypassed gaussian", [&] { chain([](auto& stages) { stages[1].bypassed = true; }); }},
        {"order speckle, gaussian → gaussian, speckle",
         [&] { chain([](auto& stages) { std::swap(stages[0], stages[1]); }); }},
        {"removed gaussian", [&] { chain([](auto& stages) { stages.erase(stages.begin()); }); }},
        {"channel Luma → Red", [&] { s.set_channel(std::string("red")); }},
        {"range automatic → 0–0.5",
         [&] {
             s.view().mapping = {
                 .colormap = s.view().mapping.colormap, .automatic = false, .low = 0, .high = 0.5};
         }},
        {"range 0–0.5 → 0–0.4", view("high", 0.4)},
        {"colours Turbo → Viridis", view("colormap", std::string("viridis"))},
        {"exposure stops 0 → 0.5", view("exposure_stops", 0.5)},
        {"layout Result → Side by side", view("layout", std::string("side_by_side"))},
        {"moved box", [&] { EXPECT_TRUE(s.regions.move(0, 3, 2)); }},
        {"reshaped other", [&] { EXPECT_TRUE(s.regions.resize(1, 4, 0)); }},
        {"renamed box → vessel", [&] { s.regions.rename(0, "vessel"); }},
        {"colour of vessel", [&] { s.regions.recolour(0, "#112233"); }},
        {"locked vessel", [&] { s.regions.lock(0, true); }},
        {"removed other", [&] { EXPECT_TRUE(s.regions.remove(1)); }},
        {"added region 1",
         [&] {
             s.regions.add(RegionShape::line, {{1, 1}, {9, 9}});
         }},
        {"added interval rest", [&] { EXPECT_TRUE(s.baseline.take(s.traces(), 1, s.intervals)); }},
        {"added interval stimulus",
         [&] { add_interval(s.intervals, s.intervals[0].from_ns, s.intervals[0].from_ns + 20'000'000); }},
        {"moved interval rest", [&] { s.intervals[0].from_ns += 10'000'000; }},
        {"renamed stimulus → flash", [&] { s.intervals[1].name = "flash"; }},
        {"baseline flash", [&] { choose_baseline(s.intervals, 1); }},
        {"removed interval rest", [&] { s.intervals.erase(s.intervals.begin()); }},
        {"pixel size 2.5 µm per raw pixel", [&] { s.set_um_per_px(2.5); }},
        {"preset flow",
         [&] { (void)s.take_preset(with_preset(known_preset("flow"), s.settings_now()), true); }},
    };
    std::vector<std::string> states = {state()};
    for (const Edit& edit : edits) {
        edit.make();
        s.baseline.follow(s.traces(), s.traces().overview(), s.intervals);
        s.record_edits();
        s.record_edits();
        states.push_back(state());
        EXPECT_NE(states.back(), states[states.size() - 2]) << edit.name;
        ASSERT_EQ(s.history().at(), states.size() - 1) << edit.name;
        EXPECT_EQ(s.history().entries().back().edit, edit.name);
    }
    for (std::size_t i = edits.size(); i-- > 0;) {
        s.undo();
        EXPECT_EQ(state(), states[i]) << edits[i].name;
        EXPECT_TRUE(told("Undid: " + edits[i].name + ".")) << edits[i].name;
        s.record_edits();
        ASSERT_EQ(s.history().at(), i) << "restoring is no edit";
    }
    EXPECT_FALSE(s.history().can_undo());
    for (std::size_t i = 0; i < edits.size(); ++i) {
        s.redo();
        EXPECT_EQ(state(), states[i + 1]) << edits[i].name;
    }
    EXPECT_FALSE(s.history().can_redo());
    EXPECT_TRUE(s.go_to(4));
    EXPECT_EQ(state(), states[4]);
    s.edit(0, "radius", std::int64_t{7});
    s.record_edits();
    EXPECT_EQ(s.history().entries().size(), 6U) << "an edit after undo ends what was undone";
}

TEST_F(UndoTest, TheResultIsTheOneBeforeToTheBit) {
    const std::vector<float> before = last_image();
    ASSERT_EQ(before.size(), 64U * 48);
    session_->edit(0, "radius", std::int64_t{6});
    const std::vector<float> edited = last_image();
    EXPECT_NE(std::memcmp(before.data(), edited.data(), before.size() * sizeof(float)), 0);
    session_->undo();
    const std::vector<float> after = last_image();
    EXPECT_EQ(std::memcmp(before.data(), after.data(), before.size() * sizeof(float)), 0);
    session_->redo();
    const std::vector<float> again = last_image();
    EXPECT_EQ(std::memcmp(edited.data(), again.data(), before.size() * sizeof(float)), 0);
}

TEST_F(UndoTest, TheResultBeforeIsComparedWithoutAnEdit) {
    const std::vector<float> before = last_image();
    session_->compare_before();
    EXPECT_TRUE(session_->compared().empty()) << "nothing was edited";
    session_->edit(0, "radius", std::int64_t{6});
    const std::vector<float> edited = last_image();
    session_->compare_before();
    EXPECT_EQ(session_->compared(), "speckle radius 3 → 6");
    EXPECT_EQ(to_string(session_->chain().stages()[0].params.get("radius")), "6") << "the controls stay";
    session_->record_edits();
    EXPECT_EQ(session_->history().entries().size(), 2U);
    const std::vector<float> compared = last_image();
    EXPECT_EQ(std::memcmp(before.data(), compared.data(), before.size() * sizeof(float)), 0);
    session_->compare_before();
    EXPECT_TRUE(session_->compared().empty());
    const std::vector<float> again = last_image();
    EXPECT_EQ(std::memcmp(edited.data(), again.data(), before.size() * sizeof(float)), 0);
    session_->compare_before();
    session_->edit(0, "radius", std::int64_t{7}); // an edit returns
    EXPECT_TRUE(session_->compared().empty());
    EXPECT_EQ(to_string(session_->pipeline()->chain()->stages()[0].params.get("radius")), "7");
}

TEST_F(UndoTest, WindowSettingsAndAnAutomaticRangeAreNoEdits) {
    for (const char* key : {"panel_size", "traces_size"})
        session_->settings().view.set(key, 300.0);
    session_->settings().view.set("panel", false);
    session_->view().mapping.low = 0.1;
    session_->view().mapping.high = 0.9;
    session_->record_edits();
    EXPECT_FALSE(session_->history().can_undo());
    session_->edit(0, "radius", std::int64_t{5});
    session_->settings().view.set("panel_size", 400.0);
    session_->undo();
    EXPECT_EQ(to_string(session_->settings().view.get("panel_size")), "400") << "stays";
    EXPECT_EQ(session_->view().mapping.high, 0.9);
    session_->undo();
    EXPECT_TRUE(told("There is nothing to undo."));
}

/// The pixel size and the baselines belong to the source; the other settings can still be undone.
TEST_F(UndoTest, AnotherSourceKeepsTheEditsThatStillMakeSense) {
    session_->edit(0, "radius", std::int64_t{5});
    session_->record_edits();
    session_->set_um_per_px(2.5);
    session_->record_edits();
    open(SourceArgument("synthetic:uniform?width=32&height=32"));
    while (session_->history().can_undo())
        session_->undo();
    EXPECT_EQ(to_string(session_->chain().stages()[0].params.get("radius")), "3");
    EXPECT_EQ(session_->settings().um_per_source_px, 2.5);
}

TEST_F(UndoTest, TheSameSourceOpenedAgainKeepsItsIntervals) {
    session_->edit(0, "radius", std::int64_t{5});
    session_->record_edits();
    (void)add_interval(session_->intervals, 0, 40'000'000);
    session_->record_edits();
    const std::string before = state();
    open(session_->settings().source);
    EXPECT_EQ(state(), before);
    session_->undo();
    EXPECT_TRUE(session_->intervals.empty());
    EXPECT_EQ(to_string(session_->chain().stages().at(0).params.get("radius")), "5");
    session_->redo();
    EXPECT_EQ(state(), before);
    session_->edit(0, "radius", std::int64_t{4});
    session_->undo();
    EXPECT_EQ(state(), before);
}

/// Stages for recorded results cannot take raw frames.
TEST_F(UndoTest, StagesThatDoNotFitTheSourceAreNotCompared) {
    const SourceArgument raw(film(6));
    const ChildResult made = run_program({"run", raw.revealed(), "--backend", "cpu", "--stage",
                                          "speckle:output=contrast", "--record", "results.raw"},
                                         folder_.path().string());
    ASSERT_EQ(made.status, 0) << made.all();
    Settings settings;
    settings.source = folder_ / "results.raw";
    settings.chain.add("flow");
    session_ = std::make_unique<Session>(std::move(settings));
    session_->start([] {});
    session_->set_chain({});
    session_->record_edits();
    open(raw);
    session_->compare_before();
    EXPECT_EQ(session_->compared(), "");
    EXPECT_TRUE(told("stage flow"));
}

TEST_F(UndoTest, TheOldestEntriesAreDroppedBeyondTheLimits) {
    for (std::size_t i = 0; i < UndoHistory::kMaxEntries + 20; ++i) {
        session_->regions.move(0, i % 2 == 0 ? 1 : -1, 0);
        session_->record_edits();
    }
    EXPECT_EQ(session_->history().entries().size(), UndoHistory::kMaxEntries);
    std::vector<RegionPoint> outline(kMaxRegionPoints);
    for (std::size_t i = 0; i < outline.size(); ++i)
        outline[i] = {static_cast<double>(i % 64), static_cast<double>(i % 47)};
    for (int i = 0; i < 80; ++i) { // each 1 MiB
        outline[0].x = i % 64;
        outline[0].y = static_cast<double>(i) / 2;
        session_->regions.reset({{"large", RegionShape::freehand, outline, "", false}});
        session_->record_edits();
    }
    std::size_t bytes = 0;
    for (const UndoHistory::Entry& entry : session_->history().entries())
        bytes += entry.bytes;
    EXPECT_LE(bytes, UndoHistory::kMaxBytes);
    EXPECT_GT(session_->history().entries().size(), 40U);
    EXPECT_TRUE(session_->history().can_undo());
}

} // namespace specklescope::undo_test
