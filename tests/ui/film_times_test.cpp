// Times of a film are exact if its rate is valid, and approximate if frames are missing.
#include "tests/support/child.hpp"
#include "tests/support/eventually.hpp"
#include "ui/film.hpp"

#include <gtest/gtest.h>

#include <regex>

namespace specklescope::film_times_test {

class FilmTimes : public testing::Test {
protected:
    /// 60 frames at 20 per second, with this many extra seconds between two of them.
    std::string record(int more_s) {
        return record(20, [more_s](int frame) { return frame >= 30 ? 1000000000LL * more_s : 0; });
    }
    /// Each frame has this delay in ns.
    std::string record(int rate, const std::function<long long(int)>& late) {
        const ChildResult made = run_program(
            {"run", "synthetic:uniform?width=32&height=24&live=false&rate=" + std::to_string(rate),
             "--backend", "cpu", "--frames", "60", "--record-raw", "film.raw"},
            folder_.path().string());
        EXPECT_EQ(made.status, 0) << made.all();
        const std::string lines = read_text(folder_ / "film.raw.jsonl");
        static const std::regex kFrame("\"sequence\":(\\d+),\"capture_ns\":(\\d+)");
        std::string changed;
        auto from = lines.begin();
        for (std::sregex_iterator at(lines.begin(), lines.end(), kFrame), end; at != end; ++at) {
            changed.append(from, lines.begin() + at->position());
            const long long later = late(std::stoi((*at)[1]));
            changed += "\"sequence\":" + (*at)[1].str() +
                       ",\"capture_ns\":" + std::to_string(std::stoll((*at)[2]) + later);
            from = lines.begin() + at->position() + at->length();
        }
        changed.append(from, lines.end());
        write_text(folder_ / "film.raw.jsonl", changed);
        return folder_ / "film.raw";
    }
    /// State after playback to the end.
    static Film played(Session& session) {
        Film film;
        Result shown;
        EXPECT_TRUE(test::eventually([&] {
            session.poll();
            (void)session.pipeline()->mailbox().take(shown);
            follow(film, session, shown.raw ? &shown : nullptr);
            return has_ended(session) && film.position == 59;
        }));
        return film;
    }
    static Settings settings_of(const std::string& source) {
        Settings settings;
        settings.source = source;
        settings.program.set_text("backend", "cpu");
        return settings;
    }
    TemporaryFolder folder_;
};

TEST_F(FilmTimes, AreExactWhereFramesCameEvenly) {
    const std::string path = record(0);
    for (const std::string& source : {path, "raw:" + path + "?speed=4"}) {
        Session session(settings_of(source));
        session.start([] {});
        const Film film = played(session);
        EXPECT_FALSE(film.uneven) << source;
        EXPECT_EQ(times_text(film, session), "0:02.95 / 0:02.95") << source;
    }
}

TEST_F(FilmTimes, AreNearWhereSomeAreMissing) {
    Session session(settings_of(record(10)));
    session.start([] {});
    const Film film = played(session);
    EXPECT_TRUE(film.uneven);
    EXPECT_EQ(times_text(film, session), "≈ 0:02.95 / 0:02.95");
    EXPECT_EQ(frames_text(film, session), "Frame 59 / 59");
}

TEST_F(FilmTimes, AreNearWhereManySmallGapsAddUp) {
    Session session(settings_of(record(200, [](int frame) { return frame / 5 * 5000000LL; })));
    session.start([] {});
    EXPECT_TRUE(played(session).uneven);
}

TEST_F(FilmTimes, ASeekOrALoopMakesThemNoLessExact) {
    Session session(settings_of("raw:" + record(0) + "?speed=4"));
    session.start([] {});
    Film film;
    Result shown;
    int rounds = 0;
    std::uint64_t last = 0;
    const auto look = [&] {
        session.poll();
        (void)session.pipeline()->mailbox().take(shown);
        follow(film, session, shown.raw ? &shown : nullptr);
        const std::uint64_t now = film.position.value_or(0);
        rounds += now < last ? 1 : 0;
        last = now;
        return rounds;
    };
    ASSERT_TRUE(test::eventually([&] { return look() == 0 && film.position.value_or(0) > 5; }));
    seek_to(session, film, 40, false);
    ASSERT_TRUE(test::eventually([&] { return look() == 0 && film.position.value_or(0) > 45; }));
    toggle_loop(session, film);
    EXPECT_TRUE(test::eventually([&] { return look() > 2; }));
    EXPECT_FALSE(film.uneven);
}

} // namespace specklescope::film_times_test
