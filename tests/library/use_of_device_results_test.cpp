// Use of results in GPU memory: many of them, recording, other chains, edits, errors, several GPUs.
#include "tests/library/device_results.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace use_of_device_results_test {

using namespace client;

TEST_F(DeviceResultsCuda, OfManyFramesTakeNoMoreMemoryThanOfFew) {
    const Stream device(scene(512, 512), "speckle:output=contrast", options_of(1500, true).c_str());
    std::size_t early = 0;
    for (int i = 0; i < 1500; ++i) {
        specklescope_frame* frame = next(device);
        ASSERT_NE(frame, nullptr);
        const specklescope_image image = image_of(frame);
        ok(cudaMemset2DAsync(image.data, image.pitch, 0, row_of(image),
                             static_cast<std::size_t>(image.height),
                             stream)); // they belong to the caller
        ASSERT_EQ(specklescope_frame_used_on(frame, stream), SPECKLESCOPE_OK) << specklescope_last_error();
        specklescope_frame_free(frame);
        if (i == 50)
            early = free_bytes();
    }
    const std::size_t late = free_bytes();
    EXPECT_LT(early - std::min(early, late), std::size_t{64} << 20) << "1500 MiB went through";
}

TEST_F(DeviceResultsCuda, AreRecordedAllTheSame) {
    const std::string file = own_folder() + "/device_results.tiff";
    const auto expected = on_host(scene(61, 48), "speckle:output=contrast", 20, stream);
    {
        const Stream device(scene(61, 48), "speckle:output=contrast", options_of(20, true).c_str());
        ASSERT_EQ(specklescope_stream_record(device, file.c_str(), SPECKLESCOPE_RESULTS), SPECKLESCOPE_OK)
            << specklescope_last_error();
        for (std::size_t i = 0; i < 20; ++i) {
            specklescope_frame* frame = next(device);
            ASSERT_NE(frame, nullptr);
            const specklescope_image image = image_of(frame);
            EXPECT_EQ(image.memory, SPECKLESCOPE_DEVICE);
            EXPECT_EQ(bytes_of(image, stream), expected[i]) << "frame " << i;
            ok(cudaMemset2DAsync(image.data, image.pitch, 0, row_of(image),
                                 static_cast<std::size_t>(image.height),
                                 stream)); // must not affect the recording
            ok(cudaStreamSynchronize(stream));
            specklescope_frame_free(frame);
        }
        ASSERT_EQ(specklescope_stream_stop(device), SPECKLESCOPE_OK) << specklescope_last_error();
    }
    const Stream again(file, "", "backend=cpu");
    for (std::size_t i = 0; i < 20; ++i) {
        specklescope_frame* frame = next(again);
        ASSERT_NE(frame, nullptr);
        EXPECT_EQ(bytes_of(image_of(frame), stream), expected[i]) << "frame " << i << " of the file";
        specklescope_frame_free(frame);
    }
}

TEST_F(DeviceResultsCuda, GoIntoAChainWhereTheyLie) {
    const Stream device(scene(64, 48), "speckle:output=contrast", options_of(10, true).c_str());
    const Chain there("gamma:gamma=0.5", "backend=cuda"), here("gamma:gamma=0.5", "backend=cuda");
    const auto expected = on_host(scene(64, 48), "speckle:output=contrast", 10, stream);
    for (std::size_t i = 0; i < 10; ++i) {
        specklescope_frame* frame = next(device);
        ASSERT_NE(frame, nullptr);
        specklescope_image in = image_of(frame);
        in.stream = stream;
        std::vector<float> made(64 * 48), through(64 * 48), contrast(64 * 48);
        const specklescope_image out = image_of(made, 64, 48), plain = image_of(through, 64, 48);
        ASSERT_EQ(specklescope_chain_process(there, &in, nullptr, &out, nullptr), SPECKLESCOPE_OK)
            << specklescope_last_error();
        std::memcpy(contrast.data(), expected[i].data(), expected[i].size());
        const specklescope_image from = image_of(contrast, 64, 48);
        ASSERT_EQ(specklescope_chain_process(here, &from, nullptr, &plain, nullptr), SPECKLESCOPE_OK);
        EXPECT_EQ(std::memcmp(made.data(), through.data(), expected[i].size()), 0) << "frame " << i;
        specklescope_frame_free(frame);
    }
}

TEST_F(DeviceResultsCuda, FollowEditsOfTheChainAndOfItsSize) {
    const Stream device("synthetic:vessels?width=96&height=64&live=false", "speckle:output=contrast",
                        options_of(400, true).c_str());
    std::vector<specklescope_frame*> held;
    const char* const chains[] = {"crop:x=8,width=40 | speckle:output=contrast", "", "temporal:frames=4",
                                  "downsample"};
    for (int i = 0; i < 120; ++i) { // an edit takes effect after the pending results
        if (i % 30 == 7) {
            ASSERT_EQ(specklescope_stream_replace(device, chains[i / 30]), SPECKLESCOPE_OK)
                << specklescope_last_error();
        }
        held.push_back(next(device));
        ASSERT_NE(held.back(), nullptr);
    }
    const std::size_t last = held.size() - 1;
    for (const std::size_t i : {std::size_t{0}, last}) {
        const specklescope_image image = image_of(held[i]);
        EXPECT_EQ(image.memory, SPECKLESCOPE_DEVICE);
        EXPECT_EQ(bytes_of(image, stream).size(), row_of(image) * static_cast<std::size_t>(image.height));
    }
    EXPECT_NE(image_of(held[0]).width, image_of(held[last]).width) << "downsample halves it";
    free_all(held);
}

TEST_F(DeviceResultsCuda, RefuseAStreamThatCannotBeWaitedFor) {
    const Stream device(scene(64, 48), "gamma", options_of(3, true).c_str());
    specklescope_frame* frame = next(device);
    ASSERT_NE(frame, nullptr);
    cudaStream_t captured = nullptr;
    ok(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking));
    ok(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed));
    expect_refused(specklescope_frame_used_on(frame, captured), SPECKLESCOPE_USAGE_ERROR,
                   "is being captured into a graph, which a chain cannot be part of");
    cudaGraph_t graph = nullptr;
    ok(cudaStreamEndCapture(captured, &graph));
    ok(cudaGraphDestroy(graph));
    ok(cudaStreamDestroy(captured));
    EXPECT_EQ(specklescope_frame_used_on(frame, stream), SPECKLESCOPE_OK) << specklescope_last_error();
    EXPECT_EQ(specklescope_frame_free(frame), SPECKLESCOPE_OK);
}

TEST_F(DeviceResultsCuda, BeyondTheMemoryOfTheGpuAreRefusedAndTheStreamGoesOn) {
    constexpr int kFrames = 90; // of 8 MiB
    const Stream device("synthetic:uniform?width=2048&height=1024&live=false", "speckle:output=contrast",
                        options_of(kFrames, true).c_str());
    std::vector<specklescope_frame*> held{next(device)};
    ASSERT_NE(held[0], nullptr);
    std::vector<void*> taken; // all memory except for about 25 results
    for (std::size_t step = std::size_t{16} << 30; step >= std::size_t{64} << 20; step /= 2)
        while (free_bytes() > step + (std::size_t{200} << 20)) {
            void* block = nullptr;
            if (cudaMalloc(&block, step) != cudaSuccess) {
                static_cast<void>(cudaGetLastError());
                break;
            }
            taken.push_back(block);
        }
    specklescope_status status = SPECKLESCOPE_OK;
    while (true) {
        specklescope_frame* frame = nullptr;
        status = specklescope_stream_next(device, 60, &frame);
        if (status != SPECKLESCOPE_OK)
            break;
        held.push_back(frame);
    }
    expect_refused(
        status, SPECKLESCOPE_RUN_ERROR,
        "No room for a result came free in the GPU's memory within 10 s; free frames that are held");
    std::size_t came = held.size();
    EXPECT_LT(came, static_cast<std::size_t>(kFrames));
    free_all(held);
    while (true) {
        specklescope_frame* frame = nullptr;
        status = specklescope_stream_next(device, 60, &frame);
        if (status != SPECKLESCOPE_OK)
            break;
        EXPECT_EQ(image_of(frame).memory, SPECKLESCOPE_DEVICE);
        ++came;
        specklescope_frame_free(frame);
    }
    expect_refused(status, SPECKLESCOPE_RUN_ERROR, "1 frames could not be computed: No room for a result");
    specklescope_frame* none = nullptr;
    EXPECT_EQ(specklescope_stream_next(device, 60, &none), SPECKLESCOPE_END);
    EXPECT_EQ(came, static_cast<std::size_t>(kFrames) - 1) << "one was lost, and said";
    for (void* block : taken)
        cudaFree(block);
}

TEST_F(DeviceResultsCuda, OfSeveralGpusLieOnTheOneThatMadeThem) {
    if (gpus < 2)
        GTEST_SKIP() << "one GPU";
    const auto expected = on_host(scene(64, 48), "speckle:output=contrast", 20, stream);
    const Stream device(scene(64, 48), "speckle:output=contrast",
                        options_of(20, true, ",gpus=\"0,1\"").c_str());
    bool seen[2] = {};
    for (std::size_t i = 0; i < 20; ++i) {
        specklescope_frame* frame = next(device);
        ASSERT_NE(frame, nullptr);
        std::int32_t gpu = -1;
        ASSERT_EQ(specklescope_frame_device(frame, &gpu), SPECKLESCOPE_OK) << specklescope_last_error();
        ASSERT_TRUE(gpu == 0 || gpu == 1);
        seen[gpu] = true;
        ok(cudaSetDevice(gpu));
        cudaStream_t own = nullptr;
        ok(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
        EXPECT_EQ(bytes_of(image_of(frame), own), expected[i]) << "frame " << i;
        EXPECT_EQ(specklescope_frame_used_on(frame, own), SPECKLESCOPE_OK) << specklescope_last_error();
        ok(cudaStreamDestroy(own));
        ok(cudaSetDevice(0));
        if (gpu == 1)
            expect_refused(specklescope_frame_used_on(frame, stream), SPECKLESCOPE_USAGE_ERROR,
                           "of another GPU");
        specklescope_frame_free(frame);
        int current = -1;
        ok(cudaGetDevice(&current));
        EXPECT_EQ(current, 0) << "the thread's device is its own";
    }
    EXPECT_TRUE(seen[0] && seen[1]);
}

} // namespace use_of_device_results_test
