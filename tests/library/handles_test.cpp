// Handles: ended, never made, of another kind, used by two threads.
#include "tests/library/client.hpp"

#include <atomic>
#include <thread>

namespace handles_test {

using namespace client;

const char* const kSlow = "synthetic:uniform?width=64&height=48&rate=0.1&live=true";

/// Every call with a chain's handle must be of `status`.
void expect_all(specklescope_chain* chain, specklescope_status status) {
    Pixels pixels = random_pixels(8, 8, 2);
    std::vector<float> made(64);
    const specklescope_image in = image_of(pixels);
    specklescope_image out = image_of(made, 8, 8);
    auto region = sized<specklescope_region>();
    char text[4096];
    EXPECT_EQ(specklescope_chain_add(chain, "gamma"), status);
    EXPECT_EQ(specklescope_chain_replace(chain, "speckle"), status);
    EXPECT_EQ(specklescope_chain_copy(chain, chain), status);
    EXPECT_EQ(specklescope_chain_set(chain, 0, "radius", "2"), status);
    EXPECT_EQ(specklescope_chain_set_values(chain, "speckle", "radius=2"), status);
    EXPECT_EQ(specklescope_chain_get(chain, 0, "radius", text, sizeof text, nullptr), status);
    EXPECT_EQ(specklescope_chain_get_value(chain, "speckle", "radius", text, sizeof text, nullptr), status);
    EXPECT_EQ(specklescope_chain_text(chain, text, sizeof text, nullptr), status);
    EXPECT_EQ(specklescope_chain_process(chain, &in, nullptr, &out, nullptr), status);
    EXPECT_EQ(specklescope_chain_output(chain, &in, &out), status);
    EXPECT_EQ(specklescope_chain_region(chain, 0, &region), status);
    EXPECT_EQ(specklescope_chain_reset(chain), status);
    std::size_t place = 0;
    EXPECT_EQ(specklescope_chain_place(chain, "speckle", &place), status);
    EXPECT_EQ(specklescope_chain_set_regions(chain, ""), status);
    EXPECT_EQ(specklescope_chain_regions(chain, text, sizeof text, nullptr), status);
    auto result = sized<specklescope_result>();
    EXPECT_EQ(specklescope_chain_result(chain, &result), status);
    specklescope_memory* memory = nullptr;
    EXPECT_EQ(specklescope_memory_create(chain, &out, &memory), status);
    void* data = nullptr;
    EXPECT_EQ(specklescope_memory_create_host(chain, 64, &data, &memory), status);
    std::int32_t in_place = 0;
    EXPECT_EQ(specklescope_chain_in_place(chain, &in_place), status);
}

void expect_all(specklescope_stream* stream, specklescope_status status) {
    auto info = sized<specklescope_source_info>();
    specklescope_frame* frame = nullptr;
    char text[4096];
    EXPECT_EQ(specklescope_stream_source(stream, &info), status);
    EXPECT_EQ(specklescope_stream_next(stream, 0, &frame), status);
    EXPECT_EQ(specklescope_stream_set(stream, 0, "radius", "2"), status);
    EXPECT_EQ(specklescope_stream_set_values(stream, "speckle", "radius=2"), status);
    EXPECT_EQ(specklescope_stream_replace(stream, "speckle"), status);
    std::size_t place = 0;
    EXPECT_EQ(specklescope_stream_place(stream, "speckle", &place), status);
    EXPECT_EQ(specklescope_stream_set_regions(stream, ""), status);
    EXPECT_EQ(specklescope_stream_regions(stream, text, sizeof text, nullptr), status);
    EXPECT_EQ(specklescope_stream_set_source(stream, "rate", "2"), status);
    EXPECT_EQ(specklescope_stream_record(stream, "/nowhere/x.tiff", 0), status);
    EXPECT_EQ(specklescope_stream_statistics(stream, text, sizeof text, nullptr), status);
    EXPECT_EQ(specklescope_stream_messages(stream, text, sizeof text, nullptr), status);
    EXPECT_EQ(specklescope_stream_traces(stream, "/nowhere/x.csv"), status);
    EXPECT_EQ(specklescope_stream_pause(stream, 1), status);
    EXPECT_EQ(specklescope_stream_seek(stream, 1, 0), status);
    EXPECT_EQ(specklescope_stream_mark(stream, "", nullptr), status);
    EXPECT_EQ(specklescope_stream_finish(stream), status);
    EXPECT_EQ(specklescope_stream_stop(stream), status);
    EXPECT_EQ(frame, nullptr);
}

void expect_all(specklescope_frame* frame, specklescope_status status) {
    auto image = sized<specklescope_image>();
    auto result = sized<specklescope_result>();
    auto region = sized<specklescope_region>();
    EXPECT_EQ(specklescope_frame_image(frame, &image), status);
    EXPECT_EQ(specklescope_frame_raw(frame, &image), status);
    EXPECT_EQ(specklescope_frame_result(frame, &result), status);
    EXPECT_EQ(specklescope_frame_region(frame, 0, &region), status);
    std::int32_t device = 0;
    EXPECT_EQ(specklescope_frame_device(frame, &device), status);
    EXPECT_EQ(specklescope_frame_used_on(frame, nullptr), status);
}

void expect_all(specklescope_view* view, specklescope_status status) {
    Pixels pixels = random_pixels(8, 8, 2), levels = pixels;
    std::vector<std::uint8_t> rgb(8 * 8 * 3);
    const specklescope_image in = image_of(pixels), to_levels = image_of(levels);
    specklescope_image to_colors = in;
    to_colors.data = rgb.data();
    to_colors.channels = 3;
    to_colors.type = SPECKLESCOPE_U8;
    double scale = 0, offset = 0;
    EXPECT_EQ(specklescope_view_colors(view, &in, &to_colors, nullptr, nullptr), status);
    EXPECT_EQ(specklescope_view_levels(view, &in, &to_levels, &scale, &offset), status);
}

void expect_all(specklescope_recorder* recorder, specklescope_status status) {
    Pixels pixels = random_pixels(8, 8, 2);
    const specklescope_image in = image_of(pixels);
    auto info = sized<specklescope_recorder_info>();
    EXPECT_EQ(specklescope_recorder_push(recorder, &in, nullptr), status);
    EXPECT_EQ(specklescope_recorder_mark(recorder, "", nullptr), status);
    EXPECT_EQ(specklescope_recorder_status(recorder, &info), status);
    EXPECT_EQ(specklescope_recorder_close(recorder), status);
}

void expect_all(specklescope_memory* memory, specklescope_status status) {
    std::int32_t device = 0;
    EXPECT_EQ(specklescope_memory_order(memory, nullptr), status);
    EXPECT_EQ(specklescope_memory_device(memory, &device), status);
}

TEST(Handles, EndedOnesAreRefusedByEveryCall) {
    specklescope_chain* chain = nullptr;
    ASSERT_EQ(specklescope_chain_create("speckle", nullptr, &chain), SPECKLESCOPE_OK);
    ASSERT_EQ(specklescope_chain_free(chain), SPECKLESCOPE_OK);
    expect_all(chain, SPECKLESCOPE_BAD_HANDLE);
    expect_refused(
        specklescope_chain_free(chain), SPECKLESCOPE_BAD_HANDLE,
        "This is no chain that is alive: it has ended, or never was one; specklescope_chain_create");

    specklescope_stream* stream = nullptr;
    ASSERT_EQ(specklescope_stream_open(kSlow, "", nullptr, &stream), SPECKLESCOPE_OK)
        << specklescope_last_error();
    specklescope_frame* frame = nullptr;
    ASSERT_EQ(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_OK) << specklescope_last_error();
    ASSERT_EQ(specklescope_stream_close(stream), SPECKLESCOPE_OK) << specklescope_last_error();
    expect_all(stream, SPECKLESCOPE_BAD_HANDLE);
    EXPECT_EQ(specklescope_stream_close(stream), SPECKLESCOPE_BAD_HANDLE);
    ASSERT_EQ(specklescope_frame_free(frame), SPECKLESCOPE_OK);
    expect_all(frame, SPECKLESCOPE_BAD_HANDLE);
    EXPECT_EQ(specklescope_frame_free(frame), SPECKLESCOPE_BAD_HANDLE);

    specklescope_view* view = nullptr;
    ASSERT_EQ(specklescope_view_create("", &view), SPECKLESCOPE_OK);
    expect_all(view, SPECKLESCOPE_OK);
    ASSERT_EQ(specklescope_view_free(view), SPECKLESCOPE_OK);
    expect_all(view, SPECKLESCOPE_BAD_HANDLE);
    EXPECT_EQ(specklescope_view_free(view), SPECKLESCOPE_BAD_HANDLE);

    specklescope_recorder* recorder = nullptr;
    const std::string path = own_folder() + "/ended.tiff";
    ASSERT_EQ(specklescope_recorder_create(path.c_str(), nullptr, &recorder), SPECKLESCOPE_OK);
    expect_all(recorder, SPECKLESCOPE_OK);
    ASSERT_EQ(specklescope_recorder_free(recorder), SPECKLESCOPE_OK);
    expect_all(recorder, SPECKLESCOPE_BAD_HANDLE);
    EXPECT_EQ(specklescope_recorder_free(recorder), SPECKLESCOPE_BAD_HANDLE);
}

TEST(Handles, WhatNeverWasOneIsRefused) {
    int local = 0;
    for (void* address :
         {static_cast<void*>(nullptr), static_cast<void*>(&local), reinterpret_cast<void*>(~0UL)}) {
        expect_all(static_cast<specklescope_chain*>(address), SPECKLESCOPE_BAD_HANDLE);
        expect_all(static_cast<specklescope_stream*>(address), SPECKLESCOPE_BAD_HANDLE);
        expect_all(static_cast<specklescope_frame*>(address), SPECKLESCOPE_BAD_HANDLE);
        expect_all(static_cast<specklescope_view*>(address), SPECKLESCOPE_BAD_HANDLE);
        expect_all(static_cast<specklescope_recorder*>(address), SPECKLESCOPE_BAD_HANDLE);
        expect_all(static_cast<specklescope_memory*>(address), SPECKLESCOPE_BAD_HANDLE);
    }
    EXPECT_EQ(specklescope_chain_free(nullptr), SPECKLESCOPE_OK);
    EXPECT_EQ(specklescope_stream_close(nullptr), SPECKLESCOPE_OK);
    EXPECT_EQ(specklescope_frame_free(nullptr), SPECKLESCOPE_OK);
    EXPECT_EQ(specklescope_view_free(nullptr), SPECKLESCOPE_OK);
    EXPECT_EQ(specklescope_recorder_free(nullptr), SPECKLESCOPE_OK);
    EXPECT_EQ(specklescope_memory_free(nullptr), SPECKLESCOPE_OK);
    EXPECT_EQ(specklescope_memory_free_idle(nullptr), SPECKLESCOPE_OK);
}

TEST(Handles, OfAnotherKindAreRefused) {
    const Chain chain("speckle");
    expect_all(reinterpret_cast<specklescope_stream*>(static_cast<specklescope_chain*>(chain)),
               SPECKLESCOPE_BAD_HANDLE);
    expect_all(reinterpret_cast<specklescope_frame*>(static_cast<specklescope_chain*>(chain)),
               SPECKLESCOPE_BAD_HANDLE);
}

TEST(Handles, ASecondThreadIsToldAndDoesNothing) {
    const Stream stream(kSlow);
    std::atomic<specklescope_status> waited{SPECKLESCOPE_OK};
    std::thread reader([&] {
        specklescope_frame* frame = nullptr;
        specklescope_status status = SPECKLESCOPE_OK;
        while ((status = specklescope_stream_next(stream, -1, &frame)) == SPECKLESCOPE_OK ||
               status == SPECKLESCOPE_BUSY) // the other thread may be at it
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
