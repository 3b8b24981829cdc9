// Streams used by several threads: no deadlocks, and no unlimited growth.
#include "tests/library/recorded.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <thread>

namespace stream_locks_test {

using namespace client;

struct Asked {
    specklescope_stream* stream = nullptr;
    bool came = false;
    std::future<specklescope_status> edit;
};

/// Another thread edits the stream during the callback, like a thread that holds Python's interpreter lock.
int edit_beside(void* user, const char* what, double) {
    auto& asked = *static_cast<Asked*>(user);
    if (!asked.stream || asked.edit.valid() || std::string(what).find("averaging") == std::string::npos)
        return 1;
    asked.edit = std::async(std::launch::async, [stream = asked.stream] {
        std::size_t place = 0;
        const specklescope_status status = specklescope_stream_place(stream, "gamma", &place);
        return status == SPECKLESCOPE_OK ? specklescope_stream_set(stream, place, "gamma", "2") : status;
    });
    asked.came = asked.edit.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
    return 1;
}

TEST(StreamLocks, WhoIsAskedWhetherItGoesOnHoldsUpNobody) {
    const std::string path = recorded_file(60), dark = recorded_file(20, "/library_dark.tiff");
    Asked asked;
    auto settings = sized<specklescope_settings>();
    settings.options = "backend=cpu";
    settings.goes_on = edit_beside;
    settings.user = &asked;
    ASSERT_EQ(specklescope_stream_open(path.c_str(), "gamma", &settings, &asked.stream), SPECKLESCOPE_OK)
        << specklescope_last_error();
    EXPECT_EQ(next_place(asked.stream), 0);
    const std::string chain = "background:dark=file,dark_file=\"" + dark + "\" | gamma";
    EXPECT_EQ(specklescope_stream_replace(asked.stream, chain.c_str()), SPECKLESCOPE_OK)
        << specklescope_last_error();
    ASSERT_TRUE(asked.edit.valid()) << "nobody was asked";
    EXPECT_TRUE(asked.came) << "the edit of another thread waits for the one that asks";
    EXPECT_EQ(asked.edit.get(), SPECKLESCOPE_OK);
    EXPECT_EQ(specklescope_stream_close(asked.stream), SPECKLESCOPE_OK) << specklescope_last_error();
}

TEST(StreamLocks, MessagesThatNobodyReadsAreCountedAndNotKept) {
    const Stream stream(recorded_file(3, "/library_three.tiff"), "crop", "backend=cpu");
    ASSERT_EQ(next_place(stream), 0);
    std::size_t one = 0, needed = 0;
    const auto waiting = [&] {
        EXPECT_EQ(specklescope_stream_messages(stream, nullptr, 0, &needed), SPECKLESCOPE_OK);
        return needed - 1;
    };
    const auto edit = [&] { // refused for frames 16 pixels wide
        EXPECT_EQ(specklescope_stream_set(stream, 0, "x", "60"), SPECKLESCOPE_OK)
            << specklescope_last_error();
    };
    edit();
    while ((one = waiting()) == 0)
        std::this_thread::yield();
    while (waiting() < 1000 * one)
        edit();
    for (int more = 0; more < 200; ++more)
        edit();
    while (waiting() <= 1000 * one) // until the first of them has arrived
        std::this_thread::yield();
    std::string text(needed + 65536, '\0');
    ASSERT_EQ(specklescope_stream_messages(stream, text.data(), text.size(), nullptr), SPECKLESCOPE_OK);
    text.resize(text.find('\0'));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1001);
    EXPECT_NE(text.find(" earlier messages were not read in time"), std::string::npos) << text.substr(0, 200);
}

/// One of them finds nothing to finish and returns; the results it let through continue for the other.
TEST(StreamLocks, TwoThreadsThatFinishDoNotHoldEachOtherUp) {
    const Stream stream("synthetic:uniform?width=64&height=48&live=false", "", "backend=cpu,slots=8");
    ASSERT_GE(next_place(stream), 0);
    std::atomic<bool> hung{false};
    for (int round = 0; round < 300 && !hung; ++round) {
        const std::string path = own_folder() + "/finished" + std::to_string(round) + ".tiff";
        ASSERT_EQ(specklescope_stream_record(stream, path.c_str(), SPECKLESCOPE_FRAMES), SPECKLESCOPE_OK)
            << specklescope_last_error();
        ASSERT_GE(next_place(stream), 0);
        std::this_thread::sleep_for(std::chrono::milliseconds(3)); // the run waits for the reader again
        std::atomic<int> ready{0};
        const auto finish = [&] {
            for (++ready; ready < 2;)
                std::this_thread::yield();
            return specklescope_stream_finish(stream);
        };
        std::array both{std::async(std::launch::async, finish), std::async(std::launch::async, finish)};
        for (auto& one : both)
            hung = hung || one.wait_for(std::chrono::seconds(60)) != std::future_status::ready;
        if (hung) // unblocks them, so that the test ends
            specklescope_stream_stop(stream);
        for (auto& one : both)
            EXPECT_EQ(one.get(), SPECKLESCOPE_OK);
        EXPECT_FALSE(hung) << "round " << round;
        std::filesystem::remove(path);
    }
}

} // namespace stream_locks_test
