// Handles used by two threads. nulls.py tests wrong handles.
#include "tests/library/client.hpp"

#include <atomic>
#include <thread>

namespace handles_test {

using namespace client;

const char* const kSlow = "synthetic:uniform?width=64&height=48&rate=0.1&live=true";

TEST(Handles, ASecondThreadIsToldAndDoesNothing) {
    const Stream stream(kSlow);
    std::atomic<specklescope_status> waited{SPECKLESCOPE_OK};
    std::thread reader([&] {
        specklescope_frame* frame = nullptr;
        specklescope_status status = SPECKLESCOPE_OK;
        while ((status = specklescope_stream_next(stream, -1, &frame)) == SPECKLESCOPE_OK ||
               status == SPECKLESCOPE_BUSY) // the other thread may be using it
            if (status == SPECKLESCOPE_OK)
                specklescope_frame_free(frame);
        waited = status;
    });
    auto info = sized<specklescope_source_info>();
    specklescope_status status = SPECKLESCOPE_OK;
    while ((status = specklescope_stream_source(stream, &info)) == SPECKLESCOPE_OK)
        std::this_thread::yield(); // until the reader waits
    expect_refused(status, SPECKLESCOPE_BUSY,
                   "Another thread is using this stream; let one use it at a time");
    char text[65536];
    EXPECT_EQ(specklescope_stream_statistics(stream, text, sizeof text, nullptr), SPECKLESCOPE_OK);
    EXPECT_EQ(specklescope_stream_stop(stream), SPECKLESCOPE_OK);
    reader.join();
    EXPECT_EQ(waited, SPECKLESCOPE_END);
}

TEST(Handles, EachThreadHasItsOwnSentence) {
    specklescope_chain* none = nullptr;
    EXPECT_EQ(specklescope_chain_create("nothing", nullptr, &none), SPECKLESCOPE_USAGE_ERROR);
    std::thread([] { EXPECT_STREQ(specklescope_last_error(), ""); }).join();
    EXPECT_STRNE(specklescope_last_error(), "");
    std::size_t count = 0;
    EXPECT_EQ(specklescope_stage_count(&count), SPECKLESCOPE_OK);
    EXPECT_STREQ(specklescope_last_error(), "");
}

TEST(Handles, ManyThreadsEachWithAChainOfItsOwn) {
    Pixels pixels = random_pixels(61, 47, 3);
    const Chain alone("speckle:output=contrast", "backend=cpu,threads=1");
    const std::vector<float> expected = run(alone, pixels);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            Pixels own = pixels;
            for (int round = 0; round < 20; ++round) {
                const Chain chain("speckle:output=contrast", "backend=cpu");
                ASSERT_EQ(run(chain, own), expected);
            }
        });
    for (std::thread& thread : threads)
        thread.join();
}

} // namespace handles_test
