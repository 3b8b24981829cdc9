// Rates that are 0 on a clock in ns are refused where they are declared, and allowed rates cannot overflow a
// schedule.
#include "config/settings.hpp"
#include "files/recorded.hpp"
#include "recording/video/video.hpp"
#include "sources/pacer.hpp"
#include "sources/registry.hpp"
#include "tests/support/child.hpp"

#include <gtest/gtest.h>

#include <set>

namespace specklescope::extreme_rates_test {

using namespace std::chrono_literals;

void expect_least(const ParamTable& table, const std::string& name) {
    SCOPED_TRACE(table.owner() + " " + name);
    const ParamDecl& decl = table.at(name);
    ASSERT_GT(decl.least, 0);
    Params params(table);
    for (const char* text : {"1e-300", "1e-12", "4.9e-324"})
        try {
            params.set_text(name, text);
            ADD_FAILURE() << text;
        } catch (const UsageError& error) {
            EXPECT_NE(std::string(error.what()).find("allowed: 0 or a number, "), std::string::npos)
                << error.what();
        }
    for (const double value : {0.0, decl.least, decl.max}) {
        params.set(name, value);
        EXPECT_EQ(std::get<double>(params.get(name)), value);
    }
}

TEST(ExtremeRates, AreRefusedByEveryDeclaration) {
    std::set<std::string> declared;
    for (const SourceType& type : source_types())
        for (const ParamDecl& decl : type.table->decls())
            if (decl.name == "rate" || decl.name == "speed" || decl.name == "trigger-rate") {
                expect_least(*type.table, decl.name);
                declared.insert(std::string(type.kind) + " " + decl.name);
            }
    EXPECT_EQ(declared, (std::set<std::string>{"aravis rate", "aravis trigger-rate", "image rate",
                                               "image speed", "raw rate", "raw speed", "synthetic rate",
                                               "synthetic speed", "v4l2 rate", "video rate", "video speed"}));
    expect_least(program_table(), "rate");
    expect_least(program_table(), "record_every_s");
}

TEST(ExtremeRates, AreRefusedByTheProgram) {
    const TemporaryFolder folder;
    const std::vector<std::vector<std::string>> lines = {{"synthetic?rate=1e-300"},
                                                         {"synthetic?live=false&rate=1&speed=1e-300"},
                                                         {"synthetic", "--rate", "1e-300"},
                                                         {"synthetic", "--record-every-s", "1e-300"}};
    for (std::vector<std::string> words : lines) {
        const std::string last = words.back();
        words.insert(words.begin(), "run");
        words.insert(words.end(), {"--frames", "2", "--backend", "cpu"});
        const ChildResult result = run_program(words, folder.path().string());
        EXPECT_EQ(result.status, 2) << last << result.all();
        EXPECT_NE(result.err.find("is not possible; allowed: 0 or a number, "), std::string::npos)
            << last << result.all();
    }
}

TEST(ExtremeRates, TheSlowestScheduleNeverGoesBack) {
    for (const double speed : {kMinSpeed, 1.0, kMaxSpeed, 0.0}) {
        Pacer pacer;
        pacer.set_speed(speed);
        pacer.skip_pacing(1000); // like after a seek: immediately one after another
        std::int64_t last = -1;
        for (int i = 0; i < 1000; ++i) {
            EXPECT_LE(pacer.until_due(kMinRate, SteadyClock::now()), 0ns);
            const std::int64_t time = pacer.take(kMinRate);
            ASSERT_GT(time, last) << "frame " << i << " at speed " << speed;
            last = time;
        }
        EXPECT_LT(last, kTooLate);
        pacer.take(kMinRate); // normal pace again
        const SteadyClock::duration rest = pacer.until_due(kMinRate, SteadyClock::now());
        EXPECT_GE(rest, 0ns);
        if (speed > 0) {
            // A raised rate takes effect immediately, and for each later frame.
            const std::chrono::duration<double> period(1 / (kMaxRate * speed)), rounding(1e-9);
            SteadyClock::time_point now = SteadyClock::now();
            for (int i = 0; i < 10; ++i) {
                const SteadyClock::duration due = pacer.until_due(kMaxRate, now);
                EXPECT_LE(due, period + rounding) << "frame " << i << " at speed " << speed;
                EXPECT_GE(due, period - rounding) << "frame " << i << " at speed " << speed;
                now += due;
                EXPECT_LE(pacer.until_due(kMaxRate, now), 0ns);
                pacer.take(kMaxRate);
            }
        }
    }
}

TEST(ExtremeRates, TimesIncreaseAtEveryRate) {
    for (const double rate : {1e-300, kMinRate, kMaxRate}) {
        VideoClock fixed(rate, 0), standing(0, rate);
        EXPECT_GE(fixed.period_ns(), 0);
        std::int64_t last = -1, last_standing = -1;
        for (int i = 0; i < 100; ++i) {
            const std::int64_t time = fixed.next(0), held = standing.next(7);
            ASSERT_GT(time, last) << i;
            ASSERT_GT(held, last_standing) << i;
            last = time;
            last_standing = held;
        }
    }
}

} // namespace specklescope::extreme_rates_test
