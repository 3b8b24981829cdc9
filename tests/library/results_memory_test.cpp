// Memory of a stream's results: refused options, and calls on results on the host.
#include "tests/library/client.hpp"

namespace results_memory_test {

using namespace client;

const char* const kFile = "synthetic:vessels?width=64&height=48&live=false";

specklescope_status open_with(const char* options, specklescope_stream** stream) {
    auto settings = sized<specklescope_settings>();
    settings.options = options;
    return specklescope_stream_open(kFile, "speckle", &settings, stream);
}

TEST(ResultsMemory, IsAnOptionOfStreamsWithTwoChoices) {
    specklescope_stream* none = nullptr;
    expect_refused(open_with("memory=gpu", &none), SPECKLESCOPE_USAGE_ERROR,
                   "memory = gpu is not possible; allowed: host, device.");
    auto settings = sized<specklescope_settings>();
    settings.options = "memory=device";
    specklescope_chain* chain = nullptr;
    expect_refused(specklescope_chain_create("speckle", &settings, &chain), SPECKLESCOPE_USAGE_ERROR,
                   "A chain has no option 'memory'; allowed: backend");
    EXPECT_EQ(none, nullptr);
}

TEST(ResultsMemory, OfAGpuIsRefusedWhereTheCpuComputes) {
    specklescope_stream* none = nullptr;
    expect_refused(open_with("memory=device,backend=cpu", &none), SPECKLESCOPE_USAGE_ERROR,
                   "memory = device is not possible with backend = cpu; allowed: ");
    specklescope_stream* there = nullptr;
    if (open_with("backend=cuda", &there) == SPECKLESCOPE_OK) {
        specklescope_stream_close(there);
        GTEST_SKIP() << "there is a GPU";
    }
    for (const char* const options :
         {"memory=device", "memory=device,backend=cuda", "memory=device,gpus=0"}) {
        SCOPED_TRACE(options);
        expect_refused(open_with(options, &none), SPECKLESCOPE_RUN_ERROR,
                       "memory = device is not possible here: ");
        expect_refused(open_with(options, &none), SPECKLESCOPE_RUN_ERROR, "; allowed: memory = host.");
    }
    EXPECT_EQ(none, nullptr);
}

TEST(ResultsMemory, OfTheHostIsNoGpus) {
    const Stream stream(kFile, "speckle", "memory=host,backend=cpu");
    specklescope_frame* frame = nullptr;
    ASSERT_EQ(specklescope_stream_next(stream, -1, &frame), SPECKLESCOPE_OK) << specklescope_last_error();
    auto image = sized<specklescope_image>();
    ASSERT_EQ(specklescope_frame_image(frame, &image), SPECKLESCOPE_OK);
    EXPECT_EQ(image.memory, SPECKLESCOPE_HOST);
    std::int32_t device = -1;
    const char* const sentence =
        "This result is in host memory; only streams opened with memory=device have results on a GPU.";
    expect_refused(specklescope_frame_device(frame, &device), SPECKLESCOPE_USAGE_ERROR, sentence);
    expect_refused(specklescope_frame_used_on(frame, nullptr), SPECKLESCOPE_USAGE_ERROR, sentence);
    expect_refused(specklescope_frame_device(frame, nullptr), SPECKLESCOPE_USAGE_ERROR,
                   "The place for the device");
    EXPECT_EQ(device, -1);
    EXPECT_EQ(specklescope_frame_free(frame), SPECKLESCOPE_OK);
}

} // namespace results_memory_test
