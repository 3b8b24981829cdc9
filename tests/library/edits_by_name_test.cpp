// Edits of a stage by name, while other threads edit the same chain or stream.
#include "tests/library/recorded.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace edits_by_name_test {

using namespace client;

std::string messages_of(specklescope_stream* stream) {
    std::string text(1 << 20, '\0');
    EXPECT_EQ(specklescope_stream_messages(stream, text.data(), text.size(), nullptr), SPECKLESCOPE_OK);
    return text.substr(0, text.find('\0'));
}

bool has_next(specklescope_stream* stream, specklescope_result* result = nullptr) {
    specklescope_frame* frame = nullptr;
    if (specklescope_stream_next(stream, -1, &frame) != SPECKLESCOPE_OK)
        return false;
    const bool told = !result || specklescope_frame_result(frame, result) == SPECKLESCOPE_OK;
    return specklescope_frame_free(frame) == SPECKLESCOPE_OK && told;
}

/// A file whose frames are not fetched: its run waits for the reader, and edits stay pending.
const char* const kStands = "synthetic:uniform?width=64&height=48&live=false";

std::size_t counted(specklescope_stream* stream, const std::string& name) {
    std::string text(1 << 16, '\0');
    EXPECT_EQ(specklescope_stream_statistics(stream, text.data(), text.size(), nullptr), SPECKLESCOPE_OK);
    const std::string key = '"' + name + "\":";
    const std::size_t at = text.find(key);
    return at == std::string::npos ? 0 : std::stoul(text.substr(at + key.size()));
}

/// Results fill half of the slots, and the run waits with the next one.
void wait_until_it_stands(specklescope_stream* stream) {
    auto last = sized<specklescope_result>();
    ASSERT_TRUE(has_next(stream, &last));
    const std::size_t fetched = last.sequence + 1;
    const std::size_t then = fetched + counted(stream, "slots") / 2 + 1;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (counted(stream, "processed") != then) {
        ASSERT_LT(std::chrono::steady_clock::now(), end) << counted(stream, "processed") << ", not " << then;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

/// Each edit of the other thread moves the stage.
TEST(EditsByName, FindTheStageWhateverAnotherThreadPutsInFrontOfIt) {
    const Chain chain("speckle", "backend=cpu");
    const Stream stream(kStands, "speckle", "backend=cpu");
    std::atomic<bool> done{false};
    std::thread other([&] {
        for (int i = 0; !done; ++i) {
            const char* const text = i % 2 == 0 ? "gamma | speckle" : "speckle";
            EXPECT_EQ(specklescope_chain_replace(chain, text), SPECKLESCOPE_OK);
            EXPECT_EQ(specklescope_stream_replace(stream, text), SPECKLESCOPE_OK);
        }
    });
    for (int i = 0; i < 500; ++i) {
        const char* const values = i % 2 == 0 ? "radius=2" : "radius=3,exposure=7";
        ASSERT_EQ(specklescope_chain_set_values(chain, "speckle", values), SPECKLESCOPE_OK)
            << specklescope_last_error();
        ASSERT_EQ(specklescope_stream_set_values(stream, "speckle", values), SPECKLESCOPE_OK)
            << specklescope_last_error();
        ASSERT_TRUE(has_next(stream)); // makes the run take the pending edit
    }
    done = true;
    other.join();
    EXPECT_EQ(messages_of(stream), "") << "an edit met another chain than the one that it was made for";
}

/// The thread with more pending edits would have an advantage.
TEST(EditsByName, OfTwoThreadsTakeEffectInTheOrderInWhichTheyWereMade) {
    const Stream stream(kStands, "speckle", "backend=cpu,slots=8");
    wait_until_it_stands(stream);
    std::thread([&] {
        EXPECT_EQ(specklescope_stream_replace(stream, "gamma | speckle:output=contrast"), SPECKLESCOPE_OK);
    }).join();
    for (const char* radius : {"2", "4", "5", "6"})
        ASSERT_EQ(specklescope_stream_set(stream, 1, "radius", radius), SPECKLESCOPE_OK)
            << specklescope_last_error();
    auto result = sized<specklescope_result>();
    for (int i = 0; i < 1000 && result.version == 0; ++i) // texts are valid only as long as the frame
        ASSERT_TRUE(has_next(stream, &result));
    EXPECT_EQ(result.version, 5U);
    EXPECT_EQ(messages_of(stream), "");
}

TEST(EditsByName, SeveralValuesTakeEffectAtOnce) {
    const Stream stream(kStands, "crop:x=0,width=32", "backend=cpu");
    ASSERT_TRUE(has_next(stream));
    // Each edit alone would exceed the image, which is 64 pixels wide.
    ASSERT_EQ(specklescope_stream_set_values(stream, "crop", "x=56,width=8"), SPECKLESCOPE_OK)
        << specklescope_last_error();
    ASSERT_EQ(specklescope_stream_set_values(stream, "crop", "x=0,width=64"), SPECKLESCOPE_OK);
    auto result = sized<specklescope_result>();
    while (result.version < 2)
        ASSERT_TRUE(has_next(stream, &result));
    EXPECT_EQ(messages_of(stream), "");
}

/// The run's report on one edit must not affect later edits.
TEST(EditsByName, ARefusedEditHidesNoneThatWaits) {
    const Stream stream(kStands, "crop", "backend=cpu,slots=8");
    ASSERT_TRUE(has_next(stream));
    ASSERT_EQ(specklescope_stream_set_values(stream, "crop", "x=60,width=60"), SPECKLESCOPE_OK);
    std::size_t needed = 0;
    while (specklescope_stream_messages(stream, nullptr, 0, &needed) == SPECKLESCOPE_OK && needed == 1)
        ASSERT_TRUE(has_next(stream)); // until the edit is refused
    wait_until_it_stands(stream);
    ASSERT_EQ(specklescope_stream_replace(stream, "gamma | crop"), SPECKLESCOPE_OK);
    EXPECT_EQ(specklescope_stream_set_values(stream, "gamma", "gamma=2"), SPECKLESCOPE_OK)
        << specklescope_last_error();
    EXPECT_EQ(specklescope_stream_set_values(stream, "crop", "x=3"), SPECKLESCOPE_OK)
        << specklescope_last_error();
    std::size_t place = 0;
    ASSERT_EQ(specklescope_stream_place(stream, "crop", &place), SPECKLESCOPE_OK);
    EXPECT_EQ(place, 1U);
}

} // namespace edits_by_name_test
