// A program that uses both the library and CUDA.
#pragma once

#include "tests/library/client.hpp"

#include <cuda_runtime.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace client {

inline void ok(cudaError_t status) { ASSERT_EQ(status, cudaSuccess) << cudaGetErrorString(status); }

/// Skipped without a GPU; with SPECKLESCOPE_REQUIRE_GPU=1 it fails instead.
class OnGpu : public testing::Test {
protected:
    void SetUp() override {
        const cudaError_t status = cudaGetDeviceCount(&gpus);
        if (status == cudaSuccess && gpus > 0) {
            ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            return;
        }
        static_cast<void>(cudaGetLastError());
        const char* required = std::getenv("SPECKLESCOPE_REQUIRE_GPU"); // NOLINT(concurrency-mt-unsafe)
        if (required && std::string(required) == "1")
            FAIL() << "SPECKLESCOPE_REQUIRE_GPU=1, but no GPU: " << cudaGetErrorString(status);
        GTEST_SKIP() << "no GPU: " << cudaGetErrorString(status);
    }
    void TearDown() override {
        if (stream)
            ok(cudaStreamDestroy(stream));
    }
    int gpus = 0;
    cudaStream_t stream = nullptr;
};

/// Blocks a stream until it is opened, at most a minute.
struct Gate {
    std::atomic<bool> open{false};
    Gate() = default;
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    ~Gate() { // a failed test leaves it closed while the GPU still reads it
        open = true;
        static_cast<void>(cudaDeviceSynchronize());
    }
    void close(cudaStream_t stream) {
        ok(cudaLaunchHostFunc(
            stream,
            [](void* self) {
                for (int i = 0; i < 60000 && !static_cast<Gate*>(self)->open; ++i)
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
            },
            this));
    }
};

} // namespace client
