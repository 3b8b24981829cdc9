// Host memory from a chain: limits, errors, threads, and its use for frames and results.
#include "tests/library/client.hpp"

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

namespace host_memory_test {

using namespace client;

struct Ends {
    void operator()(specklescope_memory* memory) const {
        EXPECT_EQ(specklescope_memory_free(memory), SPECKLESCOPE_OK) << specklescope_last_error();
    }
};
using Memory = std::unique_ptr<specklescope_memory, Ends>;

Memory memory_of(specklescope_chain* chain, std::size_t bytes, void** data) {
    specklescope_memory* made = nullptr;
    EXPECT_EQ(specklescope_memory_create_host(chain, bytes, data, &made), SPECKLESCOPE_OK)
        << specklescope_last_error();
    return Memory(made);
}

class HostMemory : public testing::Test {
protected:
    Chain chain{"speckle:output=contrast", "backend=cpu"};
    void* data = nullptr;
    specklescope_memory* memory = nullptr;

    void refused(std::size_t bytes, specklescope_status status, const std::string& part) {
        expect_refused(specklescope_memory_create_host(chain, bytes, &data, &memory), status, part);
        EXPECT_EQ(data, nullptr);
        EXPECT_EQ(memory, nullptr);
    }
};

TEST_F(HostMemory, HasAllItsBytesFromAMultipleOf64On) {
    std::vector<Memory> held;
    std::vector<std::pair<unsigned char*, std::size_t>> places;
    for (const std::size_t bytes : {1UL, 63UL, 64UL, 65UL, 4096UL, 4097UL, 20UL << 20}) {
        held.push_back(memory_of(chain, bytes, &data));
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0U) << bytes;
        places.emplace_back(static_cast<unsigned char*>(data), bytes);
        std::memset(data, static_cast<int>(places.size()), bytes);
    }
    for (std::size_t i = 0; i < places.size(); ++i)
        for (const std::size_t at : {std::size_t{0}, places[i].second / 2, places[i].second - 1})
            EXPECT_EQ(places[i].first[at], i + 1) << "two of them share memory";
}

TEST_F(HostMemory, NothingAndMoreThanThereIsAreRefused) {
    refused(0, SPECKLESCOPE_USAGE_ERROR, "There is no memory of 0 bytes; allowed: 1 and more");
    for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX / 2, std::size_t{1} << 50})
        refused(bytes, SPECKLESCOPE_RUN_ERROR, "Memory for frames and results would take ");
    refused(SIZE_MAX, SPECKLESCOPE_RUN_ERROR,
            "are available; ask for less, or free what is no longer needed.");
}

TEST_F(HostMemory, WhatIsNotThereIsRefused) {
    expect_refused(specklescope_memory_create_host(chain, 64, nullptr, &memory), SPECKLESCOPE_USAGE_ERROR,
                   "The place for the address is NULL; give its address.");
    expect_refused(specklescope_memory_create_host(chain, 64, &data, nullptr), SPECKLESCOPE_USAGE_ERROR,
                   "The place for the memory is NULL; give its address.");
    expect_refused(specklescope_memory_create_host(nullptr, 64, &data, &memory), SPECKLESCOPE_BAD_HANDLE,
                   "The chain is NULL; specklescope_chain_create gives one.");
    EXPECT_EQ(memory, nullptr);
}

TEST_F(HostMemory, HasNoStreamAndNoGpu) {
    const Memory made = memory_of(chain, 64, &data);
    std::int32_t device = 77;
    expect_refused(specklescope_memory_order(made.get(), nullptr), SPECKLESCOPE_USAGE_ERROR,
                   "This is host memory");
    expect_refused(specklescope_memory_free_idle(made.get()), SPECKLESCOPE_USAGE_ERROR,
                   "This is host memory");
    expect_refused(specklescope_memory_device(made.get(), &device), SPECKLESCOPE_USAGE_ERROR,
                   "specklescope_memory_create() allocates GPU memory.");
    EXPECT_EQ(device, 77);
}

TEST_F(HostMemory, EndsOnceAndOutlivesItsChain) {
    specklescope_chain* gone = nullptr;
    ASSERT_EQ(specklescope_chain_create("", nullptr, &gone), SPECKLESCOPE_OK) << specklescope_last_error();
    Memory made = memory_of(gone, 67 * 45 * 2, &data);
    ASSERT_EQ(specklescope_chain_free(gone), SPECKLESCOPE_OK);
    Pixels pixels = random_pixels(67, 45, 3);
    std::memcpy(data, pixels.samples.data(), pixels.samples.size() * 2);
    specklescope_image in = image_of(pixels);
    in.data = data;
    std::vector<float> result(pixels.samples.size());
    const specklescope_image out = image_of(result, 67, 45);
    ASSERT_EQ(specklescope_chain_process(chain, &in, nullptr, &out, nullptr), SPECKLESCOPE_OK)
        << specklescope_last_error();
    const Chain other("speckle:output=contrast", "backend=cpu");
    EXPECT_EQ(result, run(other, pixels));
    specklescope_memory* const handle = made.get();
    made.reset();
    EXPECT_EQ(specklescope_memory_free(handle), SPECKLESCOPE_BAD_HANDLE);
    EXPECT_EQ(specklescope_memory_free_idle(handle), SPECKLESCOPE_BAD_HANDLE);
    EXPECT_EQ(specklescope_memory_create_host(gone, 64, &data, &memory), SPECKLESCOPE_BAD_HANDLE);
}

TEST_F(HostMemory, FramesAndResultsMayLieInItWithRowsApart) {
    const Chain other("speckle:output=contrast", "backend=cpu");
    for (const int width : {33, 64, 150}) {
        Pixels pixels = random_pixels(width, 40, 11);
        const std::vector<float> expected = run(other, pixels);
        const std::size_t pitch = (static_cast<std::size_t>(width) * 2 + 63) / 64 * 64,
                          pitch_out = (static_cast<std::size_t>(width) * 4 + 63) / 64 * 64 + 64;
        void *from = nullptr, *to = nullptr;
        const Memory one = memory_of(chain, pitch * 40, &from), two = memory_of(chain, pitch_out * 40, &to);
        std::memset(to, 0xa5, pitch_out * 40);
        for (std::size_t y = 0; y < 40; ++y)
            std::memcpy(static_cast<char*>(from) + y * pitch,
                        pixels.samples.data() + y * static_cast<std::size_t>(width),
                        static_cast<std::size_t>(width) * 2);
        specklescope_image in = image_of(pixels), out = image_of(pixels);
        in.data = from;
        in.pitch = pitch;
        out.data = to;
        out.pitch = pitch_out;
        out.type = SPECKLESCOPE_F32;
        ASSERT_EQ(specklescope_chain_process(chain, &in, nullptr, &out, nullptr), SPECKLESCOPE_OK)
            << specklescope_last_error();
        for (std::size_t y = 0; y < 40; ++y) {
            const auto* row = static_cast<const unsigned char*>(to) + y * pitch_out;
            EXPECT_EQ(std::memcmp(row, expected.data() + y * static_cast<std::size_t>(width),
                                  static_cast<std::size_t>(width) * 4),
                      0);
            EXPECT_EQ(row[pitch_out - 1], 0xa5) << "between rows";
        }
    }
}

TEST_F(HostMemory, IsGivenWhileAnotherThreadUsesTheChain) {
    std::atomic<bool> in_work{false}, done{false};
    std::thread worker([&] {
        Pixels pixels = random_pixels(600, 500, 4);
        while (!done) {
            in_work = true;
            run(chain, pixels);
        }
    });
    while (!in_work)
        std::this_thread::yield();
    for (int i = 0; i < 2000; ++i)
        memory_of(chain, 4096, &data).reset();
    done = true;
    worker.join();
}

} // namespace host_memory_test
