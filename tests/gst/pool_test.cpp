// Buffers of the pool that the element offers to the previous element.
#include "tests/gst/pools.hpp"

#include <dlfcn.h>

#include <memory>
#include <set>

namespace pool_test {

using namespace element;

const char* const kFormats[] = {"GRAY8", "GRAY16_LE", "GRAY16_BE", "RGB"};
class Pools : public testing::Test {
protected:
    std::mt19937 random{random_seed() + 11};

    /// Compares frames in buffers of the offered pool with the library.
    void same(Harness& harness, const client::Chain& library, const std::string& format, int width,
              int height, bool with_meta) {
        harness.caps(format, width, height);
        const Offer offer(harness, caps_of(format, width, height));
        offer.start(with_meta);
        std::vector<Picture> pictures;
        for (int i = 0; i < 4; ++i)
            pictures.push_back(random_picture(format, width, height, random));
        const std::vector<Bytes> expected = by_library(library, pictures);
        std::set<const void*> places;
        for (std::size_t i = 0; i < pictures.size(); ++i) {
            GstBuffer* const buffer = offer.acquire();
            ASSERT_NE(buffer, nullptr);
            EXPECT_EQ(buffer->pool, offer.pool);
            const void* const place = address_of(buffer);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(place) % 64, 0U);
            places.insert(place);
            fill(buffer, pictures[i], format);
            GST_BUFFER_PTS(buffer) = 40 * GST_MSECOND * i;
            EXPECT_EQ(gst_harness_push(harness.get(), buffer), GST_FLOW_OK)
                << harness.message(GST_MESSAGE_ERROR);
            GstBuffer* const made = gst_harness_try_pull(harness.get());
            ASSERT_NE(made, nullptr);
            EXPECT_EQ(bytes_of(made), expected[i]) << format << " " << width << ", frame " << i;
            gst_buffer_unref(made);
        }
        EXPECT_LE(places.size(), 2U) << "the element keeps buffers";
    }
};

TEST_F(Pools, FramesInThemGiveTheBytesOfTheLibrary) {
    for (const char* format : kFormats)
        for (const int width : {1, 33, 64, 67, 150})
            for (const bool with_meta : {true, false}) {
                SCOPED_TRACE(std::string(format) + " " + std::to_string(width));
                const char* const chain = width < 16 ? "flip" : "temporal:frames=3 | speckle:radius=2";
                Harness harness(std::string("chain=\"") + chain + "\"");
                const client::Chain library(chain, "backend=cpu");
                same(harness, library, format, width, 19, with_meta);
            }
}

TEST_F(Pools, AreOfferedForFramesOfTheHostOnceThereIsAChain) {
    Harness harness("chain=flip");
    harness.caps("GRAY8", 40, 30);
    const Offer offer(harness, caps_of("GRAY8", 40, 30)), unwanted(harness, caps_of("GRAY8", 40, 30), false),
        other(harness, "video/x-raw(memory:CUDAMemory),format=RGB,width=40,height=30,framerate=25/1");
    EXPECT_TRUE(ours(offer.pool));
    EXPECT_EQ(offer.size, 1200U);
    EXPECT_EQ(offer.most, 0U) << "nobody waits for a buffer";
    EXPECT_TRUE(offer.meta && unwanted.meta && other.meta);
    EXPECT_EQ(unwanted.pools + other.pools, 0U);
    offer.start(true);
    std::vector<GstBuffer*> held;
    for (int i = 0; i < 40; ++i) // more than the chain's memory provides
        held.push_back(offer.acquire());
    for (GstBuffer* buffer : held)
        gst_buffer_unref(buffer);
}

TEST_F(Pools, OutliveTheElementAndItsFlushes) {
    auto harness = std::make_unique<Harness>("chain=flip");
    harness->caps("GRAY8", 400, 300);
    const Offer offer(*harness, caps_of("GRAY8", 400, 300));
    offer.start(true);
    const Picture picture = random_picture("GRAY8", 400, 300, random);
    ASSERT_TRUE(gst_harness_push_event(harness->get(), gst_event_new_flush_start()));
    GstBuffer* const during = offer.acquire();
    ASSERT_TRUE(gst_harness_push_event(harness->get(), gst_event_new_flush_stop(TRUE)));
    harness.reset();
    fill(during, picture, "GRAY8");
    std::vector<GstBuffer*> later;
    for (int i = 0; i < 4; ++i) { // the chain has ended and provides no memory
        later.push_back(offer.acquire());
        fill(later.back(), picture, "GRAY8");
    }
    gst_buffer_unref(during);
    for (GstBuffer* buffer : later)
        gst_buffer_unref(buffer);
}

class PoolsCudaMemory : public Pools {};

TEST_F(PoolsCudaMemory, OfAGpuArePageLocked) {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NODELETE);
    const auto find = [&](const char* name) { return driver ? dlsym(driver, name) : nullptr; };
    auto* const init = reinterpret_cast<int (*)(unsigned)>(find("cuInit"));
    auto* const ask = reinterpret_cast<int (*)(int*)>(find("cuDeviceGetCount"));
    int gpus = 0;
    if (!init || !ask || init(0) != 0 || ask(&gpus) != 0 || gpus == 0) {
        const char* said = std::getenv("SPECKLESCOPE_REQUIRE_GPU"); // NOLINT(concurrency-mt-unsafe)
        ASSERT_FALSE(said && std::string(said) == "1") << "SPECKLESCOPE_REQUIRE_GPU=1, but there is no GPU";
        GTEST_SKIP() << "no GPU";
    }
    auto* const attribute =
        reinterpret_cast<int (*)(void*, int, unsigned long long)>(find("cuPointerGetAttribute"));
    const auto locked = [&](GstBuffer* buffer) {
        constexpr int kMemoryType = 2;
        constexpr unsigned kHost = 1;
        unsigned type = 0;
        return attribute(&type, kMemoryType,
                         static_cast<unsigned long long>(
                             reinterpret_cast<std::uintptr_t>(address_of(buffer)))) == 0 &&
               type == kHost;
    };
    for (const char* format : kFormats)
        for (const bool with_meta : {true, false}) {
            const char* const chain = "temporal:frames=3 | speckle:radius=2";
            Harness harness(std::string("options=backend=cuda chain=\"") + chain + "\"");
            const client::Chain library(chain, "backend=cuda");
            same(harness, library, format, 150, 62, with_meta);
            const Offer offer(harness, caps_of(format, 150, 62));
            offer.start(with_meta);
            GstBuffer* const buffer = offer.acquire();
            EXPECT_TRUE(locked(buffer));
            fill(buffer, random_picture(format, 150, 62, random), format);
            EXPECT_EQ(gst_harness_push(harness.get(), buffer), GST_FLOW_OK);
            GstBuffer* const made = gst_harness_try_pull(harness.get());
            ASSERT_NE(made, nullptr);
            EXPECT_TRUE(locked(made));
            gst_buffer_unref(made);
        }
}

} // namespace pool_test
