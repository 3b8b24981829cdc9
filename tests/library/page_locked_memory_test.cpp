// Host memory for a chain on a GPU: it is page-locked, receives results, and the thread's current device
// does not change.
#include "tests/library/client.hpp"

#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>

namespace page_locked_memory_test {

using namespace client;

void ok(cudaError_t status) { ASSERT_EQ(status, cudaSuccess) << cudaGetErrorString(status); }

cudaMemoryType kind_of(const void* data) {
    cudaPointerAttributes found{};
    ok(cudaPointerGetAttributes(&found, data));
    return found.type;
}

class HostMemoryCuda : public testing::Test {
protected:
    void SetUp() override {
        const cudaError_t status = cudaGetDeviceCount(&gpus);
        if (status == cudaSuccess && gpus > 0)
            return;
        static_cast<void>(cudaGetLastError());
        const char* required = std::getenv("SPECKLESCOPE_REQUIRE_GPU"); // NOLINT(concurrency-mt-unsafe)
        if (required && std::string(required) == "1")
            FAIL() << "SPECKLESCOPE_REQUIRE_GPU=1, but no GPU: " << cudaGetErrorString(status);
        GTEST_SKIP() << "no GPU: " << cudaGetErrorString(status);
    }
    int gpus = 0;
    void* data = nullptr;
    specklescope_memory* memory = nullptr;
};

TEST_F(HostMemoryCuda, IsPageLockedForAChainOnAGpuAlone) {
    const Chain on_gpu("gamma", "backend=cuda"), on_host("gamma", "backend=cpu");
    ASSERT_EQ(specklescope_memory_create_host(on_host, 8192, &data, &memory), SPECKLESCOPE_OK);
    EXPECT_EQ(kind_of(data), cudaMemoryTypeUnregistered);
    ASSERT_EQ(specklescope_memory_free(memory), SPECKLESCOPE_OK);
    for (const std::size_t bytes : {1UL, 4097UL, 20UL << 20}) {
        ASSERT_EQ(specklescope_memory_create_host(on_gpu, bytes, &data, &memory), SPECKLESCOPE_OK)
            << specklescope_last_error();
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0U) << bytes;
        EXPECT_EQ(kind_of(data), cudaMemoryTypeHost);
        EXPECT_EQ(kind_of(static_cast<char*>(data) + bytes - 1), cudaMemoryTypeHost);
        ASSERT_EQ(specklescope_memory_free(memory), SPECKLESCOPE_OK);
    }
    expect_refused(specklescope_memory_create_host(on_gpu, SIZE_MAX, &data, &memory), SPECKLESCOPE_RUN_ERROR,
                   "Memory for frames and results would take ");
    expect_refused(specklescope_memory_create_host(on_gpu, 0, &data, &memory), SPECKLESCOPE_USAGE_ERROR,
                   "There is no memory of 0 bytes");
}

TEST_F(HostMemoryCuda, ComesAndGoesWithoutTouchingTheThreadsDevice) {
    const std::string options = "backend=cuda,gpus=" + std::to_string(gpus - 1);
    ok(cudaSetDevice(0));
    specklescope_chain* chain = nullptr;
    auto settings = sized<specklescope_settings>();
    settings.options = options.c_str();
    ASSERT_EQ(specklescope_chain_create("gamma", &settings, &chain), SPECKLESCOPE_OK)
        << specklescope_last_error();
    ASSERT_EQ(specklescope_memory_create_host(chain, 4096, &data, &memory), SPECKLESCOPE_OK)
        << specklescope_last_error();
    int device = -1;
    ok(cudaGetDevice(&device));
    EXPECT_EQ(device, 0);
    ASSERT_EQ(specklescope_chain_free(chain), SPECKLESCOPE_OK);
    EXPECT_EQ(kind_of(data), cudaMemoryTypeHost) << "it outlives the chain";
    std::memset(data, 1, 4096);
    ASSERT_EQ(specklescope_memory_free(memory), SPECKLESCOPE_OK);
    ok(cudaGetDevice(&device));
    EXPECT_EQ(device, 0);
}

/// For any pitch: 64 f32 are 256 bytes, without padding on the GPU; 100 have padding there too.
TEST_F(HostMemoryCuda, GivesTheBytesOfOtherMemoryAndLeavesWhatLiesBetweenRows) {
    const Chain chain("speckle:output=contrast", "backend=cuda"),
        other("speckle:output=contrast", "backend=cuda");
    for (const int width : {33, 64, 100, 700})
        for (const std::size_t gap : {std::size_t{0}, std::size_t{64}, std::size_t{512}}) {
            constexpr std::size_t kRows = 40;
            const auto columns = static_cast<std::size_t>(width);
            Pixels pixels = random_pixels(width, kRows, 12);
            const std::vector<float> expected = run(other, pixels);
            // Without a gap, the GPU's pitch: a multiple of 256.
            const std::size_t pitch = gap ? columns * 4 + gap : (columns * 4 + 255) / 256 * 256;
            ASSERT_EQ(specklescope_memory_create_host(chain, pitch * kRows * 2, &data, &memory),
                      SPECKLESCOPE_OK)
                << specklescope_last_error();
            auto* const from = static_cast<unsigned char*>(data);
            unsigned char* const to = from + pitch * kRows;
            std::memset(data, 0xa5, pitch * kRows * 2);
            specklescope_image in = image_of(pixels), out = image_of(pixels);
            in.data = from;
            in.pitch = pitch;
            out.data = to;
            out.pitch = pitch;
            out.type = SPECKLESCOPE_F32;
            for (std::size_t y = 0; y < kRows; ++y)
                std::memcpy(from + y * pitch, pixels.samples.data() + y * columns, columns * 2);
            ASSERT_EQ(specklescope_chain_process(chain, &in, nullptr, &out, nullptr), SPECKLESCOPE_OK)
                << specklescope_last_error();
            std::size_t spoiled = 0;
            for (std::size_t y = 0; y < kRows; ++y) {
                EXPECT_EQ(std::memcmp(to + y * pitch, expected.data() + y * columns, columns * 4), 0)
                    << width << " " << gap << ", row " << y;
                for (std::size_t at = columns * 4; at < pitch; ++at)
                    spoiled += to[y * pitch + at] != 0xa5;
            }
            EXPECT_EQ(spoiled, 0U) << width << " " << gap;
            ASSERT_EQ(specklescope_memory_free(memory), SPECKLESCOPE_OK);
        }
}

} // namespace page_locked_memory_test
