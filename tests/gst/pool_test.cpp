// Buffers of the pool that the element offers to what comes before it.
#include "tests/gst/pools.hpp"

#include <dlfcn.h>

#include <memory>
#include <set>

namespace pool_test {

using namespace element;

const char* const kFormats[] = {"GRAY8", "GRAY16_LE", "GRAY16_BE", "RGB"};
constexpr guint kKept = 16;

void count_end(gpointer count, GstMiniObject*) { ++*static_cast<int*>(count); }

class Pools : public testing::Test {
protected:
    std::mt19937 random{random_seed() + 11};

    /// Frames in buffers of the offered pool, against the library.
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
            const int pitch = fill(buffer, pictures[i], format);
            const auto packed = static_cast<int>((pictures[i].row_bytes() + 3) / 4 * 4);
            EXPECT_EQ(pitch, with_meta ? (packed + 63) / 64 * 64 : packed);
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
    EXPECT_FALSE(offer.configure(false, 1199)) << "a frame does not fit";
    EXPECT_TRUE(offer.configure(false, 5000));
}

TEST_F(Pools, KeepABoundedNumberAndNobodyWaits) {
    Harness harness("chain=flip");
    struct Case {
        int width, height;
        guint kept;
    };
    for (const Case& one : {Case{67, 45, kKept}, Case{8192, 4096, 8}, Case{16384, 8192, 4}}) {
        harness.caps("GRAY8", one.width, one.height);
        const Offer offer(harness, caps_of("GRAY8", one.width, one.height));
        offer.start(true);
        int ended = 0;
        std::vector<GstBuffer*> held;
        for (guint i = 0; i < one.kept + 3; ++i) {
            held.push_back(offer.acquire());
            ASSERT_NE(held.back(), nullptr);
            gst_mini_object_weak_ref(GST_MINI_OBJECT(held.back()), count_end, &ended);
            const GstVideoMeta* const meta = gst_buffer_get_video_meta(held.back());
            ASSERT_NE(meta, nullptr);
            EXPECT_EQ(meta->stride[0] % 64, 0);
        }
        for (GstBuffer* buffer : held)
            gst_buffer_unref(buffer);
        EXPECT_EQ(ended, 3) << "what is beyond the bound is not kept";
        for (guint i = 0; i < one.kept; ++i)
            held[i] = offer.acquire(); // the same ones
        EXPECT_EQ(ended, 3);
        for (guint i = 0; i < one.kept; ++i)
            gst_buffer_unref(held[i]);
        ASSERT_TRUE(gst_buffer_pool_set_active(offer.pool, FALSE));
        EXPECT_EQ(static_cast<guint>(ended), one.kept + 3);
    }
}

TEST_F(Pools, GiveRoomBeforeAndBehindAFrameToWhoAsks) {
    Harness harness("chain=flip");
    harness.caps("GRAY8", 40, 30);
    const Offer offer(harness, caps_of("GRAY8", 40, 30));
    GstAllocationParams params{};
    params.prefix = 128;
    params.padding = 77;
    offer.start(false, &params);
    GstBuffer* const buffer = offer.acquire();
    gsize offset = 0, all = 0;
    EXPECT_EQ(gst_buffer_get_sizes(buffer, &offset, &all), 1200U);
    EXPECT_EQ(offset, 128U);
    EXPECT_GE(all, 128U + 1200U + 77U);
    gst_buffer_unref(buffer);
}

/// A decoder writes beyond the picture, and asks for room where it does.
TEST_F(Pools, LayABorderAroundThePictureForWhoAsks) {
    struct Border {
        guint top, bottom, left, right, align;
    };
    const char* const text = "temporal:frames=3 | speckle:radius=2";
    for (const char* format : kFormats)
        for (const Border& one : {Border{0, 0, 0, 0, 0}, Border{3, 5, 7, 11, 0}, Border{16, 16, 32, 32, 31},
                                  Border{1, 0, 1, 0, 8191}}) {
            SCOPED_TRACE(std::string(format) + " " + std::to_string(one.top) + " " +
                         std::to_string(one.align));
            Harness harness(std::string("chain=\"") + text + "\"");
            const client::Chain library(text, "backend=cpu");
            harness.caps(format, 67, 45);
            const Offer offer(harness, caps_of(format, 67, 45));
            ASSERT_TRUE(gst_buffer_pool_has_option(offer.pool, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT));
            GstVideoAlignment wanted;
            gst_video_alignment_reset(&wanted);
            wanted.padding_top = one.top;
            wanted.padding_bottom = one.bottom;
            wanted.padding_left = one.left;
            wanted.padding_right = one.right;
            wanted.stride_align[0] = one.align;
            offer.start(true, nullptr, &wanted);
            std::vector<Picture> pictures;
            for (int i = 0; i < 20; ++i) // all that lie in the chain's memory, and others
                pictures.push_back(random_picture(format, 67, 45, random));
            const std::vector<Bytes> expected = by_library(library, pictures);
            GstVideoInfo packed;
            gst_video_info_set_format(&packed, gst_video_format_from_string(format), 67, 45);
            const auto pixel = static_cast<std::size_t>(GST_VIDEO_INFO_COMP_PSTRIDE(&packed, 0));
            std::vector<GstBuffer*> held;
            for (std::size_t i = 0; i < pictures.size(); ++i) {
                GstBuffer* const buffer = offer.acquire();
                ASSERT_NE(buffer, nullptr);
                const GstVideoMeta* const meta = gst_buffer_get_video_meta(buffer);
                ASSERT_NE(meta, nullptr);
                EXPECT_EQ(meta->alignment.padding_top, one.top);
                EXPECT_EQ(meta->alignment.padding_bottom, one.bottom);
                EXPECT_GE(meta->alignment.padding_left, one.left);
                EXPECT_GE(meta->alignment.padding_right, one.right);
                const auto pitch = static_cast<std::size_t>(meta->stride[0]);
                EXPECT_EQ(pitch % 64, 0U);
                EXPECT_EQ(pitch & one.align, 0U);
                EXPECT_GE(pitch, (one.left + 67 + one.right) * pixel);
                EXPECT_GE(meta->offset[0], one.top * pitch + one.left * pixel);
                EXPECT_GE(gst_buffer_get_size(buffer),
                          meta->offset[0] + 44 * pitch + (67 + one.right) * pixel + one.bottom * pitch);
                EXPECT_EQ(reinterpret_cast<std::uintptr_t>(address_of(buffer)) & (one.align | 63U), 0U);
                gst_buffer_memset(buffer, 0, 0x5A, gst_buffer_get_size(buffer)); // not to be read
                fill(buffer, pictures[i], format);
                GST_BUFFER_PTS(buffer) = 40 * GST_MSECOND * i;
                held.push_back(gst_buffer_ref(buffer));
                EXPECT_EQ(gst_harness_push(harness.get(), buffer), GST_FLOW_OK)
                    << harness.message(GST_MESSAGE_ERROR);
                GstBuffer* const made = gst_harness_try_pull(harness.get());
                ASSERT_NE(made, nullptr);
                EXPECT_EQ(bytes_of(made), expected[i]) << "frame " << i;
                gst_buffer_unref(made);
            }
            for (GstBuffer* buffer : held)
                gst_buffer_unref(buffer);
        }
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
    for (int i = 0; i < 4; ++i) { // there is no chain any more to ask for memory
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
