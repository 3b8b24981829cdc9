// Results of a stream in GPU memory: the same bytes and facts as on the host. Any number of them can be
// held, and their memory is reused only after the work on the caller's streams.
#include "tests/library/device_results.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>

namespace device_results_test {

using namespace client;

const char* const kBox =
    R"({"regions":[{"name":"box","shape":"rectangle","points":[[4,5],[20,19]]},{"name":"corner","shape":"rectangle","points":[[-3,-3],[5,5]]}]})";

TEST_F(DeviceResultsCuda, AreTheBytesAndFactsOfTheHost) {
    for (const char* const chain :
         {"", "speckle:output=contrast", "speckle", "gamma:gamma=0.5 | crop:x=3,width=50",
          "temporal:frames=5", "average:frames=3 | speckle:output=contrast | average:frames=4",
          "background:black=16 | spatiotemporal:frames=3 | gaussian"})
        for (const int width : {64, 61}) {
            SCOPED_TRACE(std::string(chain) + " of " + std::to_string(width));
            auto settings = sized<specklescope_settings>();
            settings.regions_json = kBox;
            specklescope_stream *host = nullptr, *device = nullptr;
            const std::string of_host = options_of(12, false), of_device = options_of(12, true);
            settings.options = of_host.c_str();
            ASSERT_EQ(specklescope_stream_open(scene(width, 48).c_str(), chain, &settings, &host),
                      SPECKLESCOPE_OK)
                << specklescope_last_error();
            settings.options = of_device.c_str();
            ASSERT_EQ(specklescope_stream_open(scene(width, 48).c_str(), chain, &settings, &device),
                      SPECKLESCOPE_OK)
                << specklescope_last_error();
            for (int i = 0; i < 12; ++i) {
                specklescope_frame *expected = next(host), *made = next(device);
                const specklescope_image there = image_of(made), here = image_of(expected);
                EXPECT_EQ(there.memory, SPECKLESCOPE_DEVICE);
                EXPECT_EQ(there.stream, nullptr);
                EXPECT_EQ(there.width, here.width);
                EXPECT_EQ(there.height, here.height);
                EXPECT_EQ(there.type, here.type);
                cudaPointerAttributes found{};
                ok(cudaPointerGetAttributes(&found, there.data));
                EXPECT_EQ(found.type, cudaMemoryTypeDevice);
                std::int32_t gpu = -1;
                EXPECT_EQ(specklescope_frame_device(made, &gpu), SPECKLESCOPE_OK)
                    << specklescope_last_error();
                EXPECT_EQ(gpu, found.device);
                EXPECT_EQ(bytes_of(there, stream), bytes_of(here, stream)) << "frame " << i;
                auto raw_there = sized<specklescope_image>(), raw_here = sized<specklescope_image>();
                EXPECT_EQ(specklescope_frame_raw(made, &raw_there), SPECKLESCOPE_OK)
                    << specklescope_last_error();
                EXPECT_EQ(specklescope_frame_raw(expected, &raw_here), SPECKLESCOPE_OK);
                EXPECT_EQ(raw_there.memory, SPECKLESCOPE_HOST);
                EXPECT_EQ(bytes_of(raw_there, stream), bytes_of(raw_here, stream))
                    << "the scene is another one";

                auto one = sized<specklescope_result>(), other = sized<specklescope_result>();
                EXPECT_EQ(specklescope_frame_result(made, &one), SPECKLESCOPE_OK)
                    << specklescope_last_error();
                EXPECT_EQ(specklescope_frame_result(expected, &other), SPECKLESCOPE_OK);
                EXPECT_EQ(one.sequence, other.sequence);
                EXPECT_EQ(one.position, other.position);
                EXPECT_EQ(one.exposure_ms, other.exposure_ms);
                EXPECT_STREQ(one.quantity, other.quantity);
                EXPECT_STREQ(one.unit, other.unit);
                EXPECT_EQ(one.undefined, other.undefined);
                EXPECT_EQ(one.infinite, other.infinite);
                EXPECT_EQ(one.saturated, other.saturated);
                EXPECT_EQ(one.windows, other.windows);
                EXPECT_EQ(one.raw_saturated, other.raw_saturated);
                EXPECT_EQ(one.warmup_frames, other.warmup_frames);
                EXPECT_EQ(one.warming_up, other.warming_up);
                ASSERT_EQ(one.regions, 2U);
                for (std::size_t k = 0; k < 2; ++k) {
                    auto box = sized<specklescope_region>(), expected_box = sized<specklescope_region>();
                    EXPECT_EQ(specklescope_frame_region(made, k, &box), SPECKLESCOPE_OK);
                    EXPECT_EQ(specklescope_frame_region(expected, k, &expected_box), SPECKLESCOPE_OK);
                    EXPECT_STREQ(box.name, expected_box.name);
                    EXPECT_EQ(std::memcmp(&box.mean, &expected_box.mean, sizeof box.mean), 0) << box.mean;
                    EXPECT_EQ(box.pixels, expected_box.pixels);
                    EXPECT_EQ(box.saturated, expected_box.saturated);
                }
                specklescope_frame_free(made);
                specklescope_frame_free(expected);
            }
            specklescope_frame* none = nullptr;
            EXPECT_EQ(specklescope_stream_next(device, 60, &none), SPECKLESCOPE_END)
                << specklescope_last_error();
            EXPECT_EQ(specklescope_stream_close(device), SPECKLESCOPE_OK) << specklescope_last_error();
            EXPECT_EQ(specklescope_stream_close(host), SPECKLESCOPE_OK);
        }
}

TEST_F(DeviceResultsCuda, OfAnyNumberAreHeldOutliveTheStreamAndLeaveNothingBehind) {
    constexpr int kFrames = 60; // many more than the slots of a ring
    const std::string source = scene(512, 512);
    const char* const chain = "speckle:output=contrast";
    const auto expected = on_host(source, chain, kFrames, stream);
    std::vector<specklescope_frame*> frames;
    for (int round = 0; round < 2; ++round) {
        const std::size_t before = free_bytes();
        {
            const Stream device(source, chain, options_of(kFrames, true).c_str());
            for (int i = 0; i < kFrames; ++i)
                frames.push_back(next(device));
            EXPECT_EQ(specklescope_stream_stop(device), SPECKLESCOPE_OK) << specklescope_last_error();
        }
        for (int i = 0; i < kFrames; ++i)
            EXPECT_EQ(bytes_of(image_of(frames[static_cast<std::size_t>(i)]), stream),
                      expected[static_cast<std::size_t>(i)])
                << "frame " << i;
        std::shuffle(frames.begin(), frames.end(), std::mt19937(7));
        free_all(frames);
        const std::size_t after = free_bytes();
        if (round > 0) { // the first round loads kernels
            EXPECT_LT(before - std::min(before, after), std::size_t{16} << 20) << "60 MiB were held";
        }
    }
}

TEST_F(DeviceResultsCuda, StayAsTheyAreUntilASlowStreamThatWasNamedIsDone) {
    const std::string source = scene(64, 48);
    const char* const chain = "average:frames=3 | speckle:output=contrast";
    const auto expected = on_host(source, chain, 80, stream);
    const Stream device(source, chain, options_of(80, true).c_str());
    cudaStream_t other = nullptr;
    ok(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    std::vector<std::unique_ptr<Locked>> made;
    Gate gate, other_gate;
    for (std::size_t i = 0; i < 80; ++i) {
        specklescope_frame* frame = next(device); // arrives although the slow streams are blocked
        ASSERT_NE(frame, nullptr);
        const specklescope_image image = image_of(frame);
        if (i == 3)
            gate.close(stream);
        if (i == 5)
            other_gate.close(other);
        if (i == 3 || i == 4 || i == 30) {
            made.push_back(std::make_unique<Locked>(expected[i].size()));
            copy_later(image, *made.back(), stream);
            EXPECT_EQ(specklescope_frame_used_on(frame, stream), SPECKLESCOPE_OK)
                << specklescope_last_error();
        }
        if (i == 5 || i == 30) { // a second stream uses the last one
            made.push_back(std::make_unique<Locked>(expected[i].size()));
            copy_later(image, *made.back(), other);
            EXPECT_EQ(specklescope_frame_used_on(frame, other), SPECKLESCOPE_OK) << specklescope_last_error();
        }
        EXPECT_EQ(specklescope_frame_free(frame), SPECKLESCOPE_OK) << specklescope_last_error();
    }
    EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady) << "the gate is closed: nothing can be done yet";
    gate.open = true;
    ok(cudaStreamSynchronize(stream));
    EXPECT_EQ(cudaStreamQuery(other), cudaErrorNotReady);
    other_gate.open = true;
    ok(cudaStreamSynchronize(other));
    ok(cudaStreamDestroy(other)); // before the stream of results ends
    const std::size_t of[] = {3, 4, 5, 30, 30};
    ASSERT_EQ(made.size(), 5U);
    for (std::size_t i = 0; i < 5; ++i)
        EXPECT_EQ(made[i]->read(), expected[of[i]]) << "frame " << of[i] << " was written again too early";
}

TEST_F(DeviceResultsCuda, StayAsTheyAreUntilTheDefaultStreamIsDoneWhereNoneWasNamed) {
    const std::string source = scene(64, 48);
    const auto expected = on_host(source, "gamma:gamma=0.5", 50, stream);
    const Stream device(source, "gamma:gamma=0.5", options_of(50, true).c_str());
    specklescope_frame* frame = next(device);
    ASSERT_NE(frame, nullptr);
    specklescope_frame_free(frame);
    const Locked made(expected[1].size());
    frame = next(device);
    ASSERT_NE(frame, nullptr);
    Gate gate;
    gate.close(nullptr);
    copy_later(image_of(frame), made, nullptr);
    ASSERT_EQ(specklescope_frame_free(frame), SPECKLESCOPE_OK) << specklescope_last_error(); // does not wait
    for (int i = 2; i < 50; ++i) {
        frame = next(device);
        ASSERT_NE(frame, nullptr);
        EXPECT_EQ(specklescope_frame_free(frame), SPECKLESCOPE_OK);
    }
    EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady) << "the gate is closed: nothing can be done yet";
    gate.open = true;
    ok(cudaStreamSynchronize(nullptr));
    EXPECT_EQ(made.read(), expected[1]) << "it was written again too early";
}

TEST_F(DeviceResultsCuda, OfAStreamThatHasEndedStayUntilTheirReaderIsDone) {
    const auto expected = on_host(scene(64, 48), "speckle:output=contrast", 4, stream);
    std::vector<specklescope_frame*> frames;
    {
        const Stream device(scene(64, 48), "speckle:output=contrast", options_of(4, true).c_str());
        for (int i = 0; i < 4; ++i)
            frames.push_back(next(device));
    }
    std::vector<std::unique_ptr<Locked>> made;
    Gate gate;
    gate.close(stream);
    for (std::size_t i = 0; i < 4; ++i) {
        made.push_back(std::make_unique<Locked>(expected[i].size()));
        copy_later(image_of(frames[i]), *made.back(), stream);
        ASSERT_EQ(specklescope_frame_used_on(frames[i], stream), SPECKLESCOPE_OK)
            << specklescope_last_error();
    }
    // The last free releases the page-locked ring of raw frames, for which CUDA waits until the GPU is idle.
    std::thread frees([&] { free_all(frames); });
    gate.open = true;
    frees.join();
    ok(cudaStreamSynchronize(stream));
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_EQ(made[i]->read(), expected[i]) << "frame " << i;
    ok(cudaDeviceSynchronize());
}

} // namespace device_results_test
