// Results of a stream in memory of a GPU: the same bytes and facts as on the host, any number of them held,
// and written again only behind what the caller's streams do with them.
#include "tests/library/gpu.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>

using namespace client;

namespace {

const char* const kBox =
    R"({"regions":[{"name":"box","shape":"rectangle","points":[[4,5],[20,19]]},{"name":"corner","shape":"rectangle","points":[[-3,-3],[5,5]]}]})";

std::string scene(int width, int height) {
    return "synthetic:vessels?width=" + std::to_string(width) + "&height=" + std::to_string(height) +
           "&live=false";
}

std::string options_of(int frames, bool on_device, const std::string& more = "") {
    return "backend=cuda,frames=" + std::to_string(frames) + (on_device ? ",memory=device" : "") + more;
}

specklescope_image image_of(specklescope_frame* frame) {
    auto image = sized<specklescope_image>();
    EXPECT_EQ(specklescope_frame_image(frame, &image), SPECKLESCOPE_OK) << specklescope_last_error();
    return image;
}

std::size_t row_of(const specklescope_image& image) {
    const std::size_t sample = image.type == SPECKLESCOPE_U8 ? 1 : image.type == SPECKLESCOPE_U16 ? 2 : 4;
    return static_cast<std::size_t>(image.width) * (image.channels == 3 ? 3 : 1) * sample;
}

/// Pixels without what lies between rows, wherever they are; at once, on a stream that waits for nothing.
std::vector<unsigned char> bytes_of(const specklescope_image& image, cudaStream_t stream) {
    const std::size_t row = row_of(image);
    std::vector<unsigned char> made(row * static_cast<std::size_t>(image.height));
    const auto kind = image.memory == SPECKLESCOPE_DEVICE ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
    ok(cudaMemcpy2DAsync(made.data(), row, image.data, image.pitch, row,
                         static_cast<std::size_t>(image.height), kind, stream));
    ok(cudaStreamSynchronize(stream));
    return made;
}

specklescope_frame* next(specklescope_stream* from) {
    specklescope_frame* frame = nullptr;
    EXPECT_EQ(specklescope_stream_next(from, 60, &frame), SPECKLESCOPE_OK) << specklescope_last_error();
    return frame;
}

void free_all(std::vector<specklescope_frame*>& frames) {
    for (specklescope_frame* frame : frames)
        EXPECT_EQ(specklescope_frame_free(frame), SPECKLESCOPE_OK) << specklescope_last_error();
    frames.clear();
}

/// What a stream gives on the host, by frame.
std::vector<std::vector<unsigned char>> on_host(const std::string& source, const char* chain, int frames,
                                                cudaStream_t stream) {
    const Stream host(source, chain, options_of(frames, false).c_str());
    std::vector<std::vector<unsigned char>> all;
    for (int i = 0; i < frames; ++i) {
        specklescope_frame* frame = next(host);
        all.push_back(bytes_of(image_of(frame), stream));
        specklescope_frame_free(frame);
    }
    return all;
}

std::size_t free_bytes() {
    std::size_t free = 0, total = 0;
    ok(cudaDeviceSynchronize());
    ok(cudaMemGetInfo(&free, &total));
    return free;
}

/// Page-locked, so that a copy into it is the stream's and not the thread's.
struct Locked {
    explicit Locked(std::size_t size) : bytes(size) { ok(cudaMallocHost(&data, bytes)); }
    ~Locked() { cudaFreeHost(data); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;
    std::vector<unsigned char> read() const {
        const auto* first = static_cast<const unsigned char*>(data);
        return {first, first + bytes};
    }
    std::size_t bytes;
    void* data = nullptr;
};

class DeviceResultsCuda : public OnGpu {
protected:
    /// On `on`, which may be held: what the frame holds when the GPU comes to it.
    void copy_later(const specklescope_image& image, const Locked& to, cudaStream_t on) {
        ok(cudaMemcpy2DAsync(to.data, row_of(image), image.data, image.pitch, row_of(image),
                             static_cast<std::size_t>(image.height), cudaMemcpyDeviceToHost, on));
    }
};

} // namespace

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
    constexpr int kFrames = 60; // far more than a ring of slots has
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
        if (round > 0) { // the first loads kernels
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
        specklescope_frame* frame = next(device); // comes, although the slow streams stand still
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
        if (i == 5 || i == 30) { // a second user of the last one
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
    ASSERT_EQ(specklescope_frame_free(frame), SPECKLESCOPE_OK)
        << specklescope_last_error(); // waits for nothing
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
    // The last one ends the page-locked ring of raw frames, for which CUDA waits until the GPU is idle.
    std::thread frees([&] { free_all(frames); });
    gate.open = true;
    frees.join();
    ok(cudaStreamSynchronize(stream));
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_EQ(made[i]->read(), expected[i]) << "frame " << i;
    ok(cudaDeviceSynchronize());
}

TEST_F(DeviceResultsCuda, OfManyFramesTakeNoMoreMemoryThanOfFew) {
    const Stream device(scene(512, 512), "speckle:output=contrast", options_of(1500, true).c_str());
    std::size_t early = 0;
    for (int i = 0; i < 1500; ++i) {
        specklescope_frame* frame = next(device);
        ASSERT_NE(frame, nullptr);
        const specklescope_image image = image_of(frame);
        ok(cudaMemset2DAsync(image.data, image.pitch, 0, row_of(image),
                             static_cast<std::size_t>(image.height),
                             stream)); // they are the caller's
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
                                 stream)); // which the recording does not see
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
    for (int i = 0; i < 120; ++i) { // an edit is seen behind what waits already
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
    std::vector<void*> taken; // all but what some 25 results need
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
