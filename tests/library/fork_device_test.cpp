// A fork of a process that has chains, memory and results on a GPU: CUDA of the child has none of them.
#include "tests/library/forked.hpp"
#include "tests/library/gpu.hpp"

namespace fork_device_test {

using namespace client;

using ForkCuda = OnGpu;

const char* const kChain =
    "This chain was on a GPU, or in a call of another thread, when the process forked; make "
    "another one in this process.";
const char* const kMemory =
    "This memory is of a GPU, or locked for one, since before a fork; ask a chain of this process for some.";

TEST_F(ForkCuda, AChildLeavesChainsAndMemoryAlone) {
    const Chain chain("speckle:output=contrast", "backend=cuda");
    Pixels pixels = random_pixels(64, 48, 3);
    const std::vector<float> expected = run(chain, pixels);
    auto room = sized<specklescope_image>();
    room.width = 64;
    room.height = 48;
    room.type = SPECKLESCOPE_F32;
    room.stream = stream;
    specklescope_memory *of_gpu = nullptr, *locked = nullptr;
    void* data = nullptr;
    ASSERT_EQ(specklescope_memory_create(chain, &room, &of_gpu), SPECKLESCOPE_OK)
        << specklescope_last_error();
    ASSERT_EQ(specklescope_memory_create_host(chain, 4096, &data, &locked), SPECKLESCOPE_OK);
    for (const bool at_once : {false, true})
        EXPECT_EQ(in_child(at_once,
                           [&] {
                               std::int32_t device = 0;
                               std::size_t place = 0;
                               if (!refused(specklescope_chain_place(chain, "speckle", &place), kChain) ||
                                   !refused(specklescope_chain_reset(chain), kChain))
                                   return 1;
                               if (!refused(specklescope_memory_device(of_gpu, &device), kMemory) ||
                                   !refused(specklescope_memory_device(locked, &device), kMemory))
                                   return 2;
                               if (specklescope_memory_free_idle(of_gpu) != SPECKLESCOPE_OK ||
                                   specklescope_memory_free(locked) != SPECKLESCOPE_OK ||
                                   specklescope_chain_free(chain) != SPECKLESCOPE_OK)
                                   return 3;
                               const Chain own("speckle:output=contrast", "backend=cpu,threads=1");
                               return run(own, pixels).size() == expected.size() ? 0 : 4;
                           }),
                  0);
    EXPECT_EQ(run(chain, pixels), expected) << "the child has touched what is the parent's";
    EXPECT_EQ(specklescope_memory_free(of_gpu), SPECKLESCOPE_OK) << specklescope_last_error();
    EXPECT_EQ(specklescope_memory_free(locked), SPECKLESCOPE_OK) << specklescope_last_error();
}

TEST_F(ForkCuda, AChildLeavesResultsOfAStreamAlone) {
    const Stream source("synthetic:uniform?width=64&height=48&live=false", "speckle", "memory=device");
    specklescope_frame* frame = nullptr;
    ASSERT_EQ(specklescope_stream_next(source, -1, &frame), SPECKLESCOPE_OK) << specklescope_last_error();
    for (const bool at_once : {false, true})
        EXPECT_EQ(in_child(at_once,
                           [&] {
                               if (specklescope_frame_used_on(frame, nullptr) != SPECKLESCOPE_BAD_HANDLE)
                                   return 1;
                               if (specklescope_frame_free(frame) != SPECKLESCOPE_OK)
                                   return 2;
                               return specklescope_stream_close(source) == SPECKLESCOPE_OK ? 0 : 3;
                           }),
                  0);
    EXPECT_EQ(specklescope_frame_free(frame), SPECKLESCOPE_OK) << specklescope_last_error();
    ASSERT_EQ(specklescope_stream_next(source, -1, &frame), SPECKLESCOPE_OK) << specklescope_last_error();
    EXPECT_EQ(specklescope_frame_free(frame), SPECKLESCOPE_OK);
}

/// With CUDA of its parent a child has no GPU: auto takes the CPU, and cuda says why not.
TEST_F(ForkCuda, AChildMakesChainsOnTheCpu) {
    const Chain chain("speckle:output=contrast", "backend=cuda");
    Pixels pixels = random_pixels(64, 48, 3);
    run(chain, pixels);
    EXPECT_EQ(in_child(true,
                       [&] {
                           const Chain own("speckle:output=contrast", "threads=1");
                           run(own, pixels);
                           specklescope_chain* none = nullptr;
                           auto settings = sized<specklescope_settings>();
                           settings.options = "backend=cuda";
                           if (specklescope_chain_create("", &settings, &none) != SPECKLESCOPE_RUN_ERROR)
                               return 1;
                           return testing::Test::HasFailure() ? 2 : 0;
                       }),
              0);
}

} // namespace fork_device_test
