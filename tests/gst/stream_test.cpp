// A stream's events: negotiation, flushes, seeks, sizes, latency, QoS, end.
#include "tests/gst/pipelines.hpp"

namespace stream_test {

using namespace element;

const char* const kScene = "videotestsrc num-buffers=3 ! video/x-raw,format=GRAY8,width=64,height=48 ! ";

class Streams : public testing::Test {
protected:
    std::mt19937 random{random_seed() + 4};
    Picture picture = random_picture("GRAY8", 20, 10, random);
    int held(Harness& harness, const Picture& of) {
        GstBuffer* made = harness.result(of);
        if (!made) {
            ADD_FAILURE() << "no result";
            return -1;
        }
        const int frames = fact<int>(made, "warmup-frames");
        gst_buffer_unref(made);
        return frames;
    }
};

TEST(Negotiation, WhatFitsRunsToItsEnd) {
    EXPECT_EQ(run(std::string(kScene) + "specklescope chain=speckle ! fakesink"), "");
    EXPECT_EQ(run(std::string(kScene) +
                  "specklescope chain=speckle ! videoconvert ! video/x-raw,format=I420 ! "
                  "fakesink"),
              "");
    // A chain that keeps sizes passes a requested size on to the previous element.
    EXPECT_EQ(run("videotestsrc num-buffers=1 ! specklescope chain=gamma ! "
                  "video/x-raw,format=RGB,width=50,height=40 ! fakesink"),
              "");
    EXPECT_EQ(run("videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8,width=64,height=48 ! specklescope "
                  "chain=rotate90 ! application/x-specklescope,width=48,height=64 ! fakesink"),
              "");
}

TEST(Negotiation, CapsThatDoNotFitAreRefused) {
    EXPECT_NE(run("videotestsrc ! video/x-raw,format=I420 ! specklescope ! fakesink").find("could not link"),
              std::string::npos);
    EXPECT_NE(
        run(std::string(kScene) + "specklescope ! video/x-raw,format=I420 ! fakesink").find("could not link"),
        std::string::npos);
    // GRAY16_LE is not available for colour; the message lists the available formats.
    const std::string colour = run("videotestsrc num-buffers=1 ! video/x-raw,format=RGB,width=64,height=48 ! "
                                   "specklescope chain=flip ! video/x-raw,format=GRAY16_LE ! fakesink");
    EXPECT_NE(colour.find("The chain makes 64×48 pixels, rgb8 of these frames"), std::string::npos) << colour;
    EXPECT_NE(colour.find("GRAY16_LE"), std::string::npos) << colour;
    const std::string size = run(std::string(kScene) + "specklescope chain=rotate90 ! "
                                                       "application/x-specklescope,width=64 ! fakesink");
    EXPECT_NE(size.find("48×64"), std::string::npos) << size;
}

TEST(Negotiation, ChainsThatDoNotFitAreErrorsInTheLibrarysSentence) {
    specklescope_chain* chain = nullptr;
    ASSERT_NE(specklescope_chain_create("speckle:radius=99", nullptr, &chain), SPECKLESCOPE_OK);
    const std::string expected = specklescope_last_error();
    EXPECT_EQ(run(std::string(kScene) + "specklescope chain=speckle:radius=99 ! fakesink"), expected);
    const std::string crop =
        run(std::string(kScene) + "specklescope chain=\"crop:x=60,width=32\" ! fakesink");
    EXPECT_NE(crop.find("stage crop"), std::string::npos) << crop;
    EXPECT_NE(run(std::string(kScene) + "specklescope options=colour=3 ! fakesink")
                  .find("A chain has no option 'colour'; allowed: backend, threads"),
              std::string::npos);
    EXPECT_NE(run(std::string(kScene) + "specklescope low=3 high=2 ! fakesink").find("low = 3 is not below"),
              std::string::npos);
}

TEST_F(Streams, FlushesSeeksAndSizesBeginHistoriesAnew) {
    Harness harness("chain=temporal:frames=5");
    harness.caps("GRAY8", 20, 10);
    EXPECT_EQ(held(harness, picture), 1);
    EXPECT_EQ(held(harness, picture), 2);
    ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_flush_start()));
    ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_flush_stop(TRUE)));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_segment(&segment)));
    EXPECT_EQ(held(harness, picture), 1);
    EXPECT_EQ(held(harness, picture), 2);
    // A continued segment whose end becomes known is not a seek; a segment with another start is.
    segment.duration = segment.stop = GST_SECOND * 100;
    ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_segment(&segment)));
    EXPECT_EQ(held(harness, picture), 3);
    segment.base = 5 * GST_SECOND;
    ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_segment(&segment)));
    EXPECT_EQ(held(harness, picture), 1);
    EXPECT_EQ(held(harness, picture), 2);
    harness.caps("GRAY8", 16, 12);
    EXPECT_EQ(held(harness, random_picture("GRAY8", 16, 12, random)), 1);
    EXPECT_NE(harness.output_caps().find("width=(int)16, height=(int)12"), std::string::npos);
}

TEST_F(Streams, AFrameThatWasLostLeavesHistoriesAlone) {
    Harness harness("chain=temporal:frames=5");
    harness.caps("GRAY8", 20, 10);
    EXPECT_EQ(held(harness, picture), 1);
    GstBuffer* after = buffer_of(picture, "GRAY8");
    GST_BUFFER_FLAG_SET(after, GST_BUFFER_FLAG_DISCONT);
    ASSERT_EQ(gst_harness_push(harness.get(), after), GST_FLOW_OK);
    GstBuffer* made = gst_harness_try_pull(harness.get());
    ASSERT_NE(made, nullptr);
    EXPECT_EQ(fact<int>(made, "warmup-frames"), 2);
    gst_buffer_unref(made);
}

TEST_F(Streams, EveryFrameLeavesAtOnceAndNoLatencyIsAdded) {
    Harness harness("chain=\"temporal:frames=25 | average:frames=10\"");
    harness.caps("GRAY8", 20, 10);
    gst_harness_set_upstream_latency(harness.get(), 7 * GST_MSECOND);
    for (int i = 0; i < 40; ++i) {
        GstBuffer* made = harness.result(picture);
        ASSERT_NE(made, nullptr) << "frame " << i << " is held back";
        EXPECT_EQ(GST_BUFFER_PTS(made), static_cast<GstClockTime>(i) * 40 * GST_MSECOND);
        gst_buffer_unref(made);
    }
    EXPECT_EQ(gst_harness_query_latency(harness.get()), 7 * GST_MSECOND);
}

TEST_F(Streams, FramesThatComeTooLateAreNotComputed) {
    Harness harness("chain=speckle");
    harness.caps("GRAY8", 20, 10);
    gst_buffer_unref(harness.result(picture));
    // The sink is late by one second at 0 s: frames before about 1 s can be skipped.
    ASSERT_TRUE(gst_harness_push_upstream_event(
        harness.get(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, GST_SECOND, 0)));
    EXPECT_EQ(harness.push(picture), GST_FLOW_OK);
    EXPECT_EQ(gst_harness_try_pull(harness.get()), nullptr);
    g_object_set(harness.element(), "qos", FALSE, nullptr);
    GstBuffer* made = harness.result(picture);
    EXPECT_NE(made, nullptr);
    gst_clear_buffer(&made);
}

TEST_F(Streams, TheElementRunsAgainAndTheEndGoesThrough) {
    Harness harness("chain=temporal:frames=5");
    harness.caps("GRAY8", 20, 10);
    EXPECT_EQ(held(harness, picture), 1);
    EXPECT_EQ(held(harness, picture), 2);
    gst_element_set_state(harness.get()->element, GST_STATE_NULL);
    gst_harness_play(harness.get());
    EXPECT_EQ(held(harness, picture), 1);
    EXPECT_EQ(held(harness, picture), 2);
    ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_eos()));
    bool ended = false;
    while (GstEvent* event = gst_harness_try_pull_event(harness.get())) {
        ended = ended || GST_EVENT_TYPE(event) == GST_EVENT_EOS;
        gst_event_unref(event);
    }
    EXPECT_TRUE(ended);
    EXPECT_EQ(harness.message(GST_MESSAGE_ERROR), "");
}

TEST_F(Streams, ElementsInOneProcessShareNothing) {
    const Picture other = random_picture("GRAY8", 20, 10, random);
    std::vector<Picture> one{picture, other};
    const client::Chain speckle("speckle:radius=2", "backend=cpu"),
        average("average:frames=4", "backend=cpu");
    const std::vector<Bytes> contrasts = by_library(speckle, one), means = by_library(average, one);
    Harness first("chain=speckle:radius=2"), second("chain=average:frames=4");
    first.caps("GRAY8", 20, 10);
    second.caps("GRAY8", 20, 10);
    for (std::size_t i = 0; i < one.size(); ++i) {
        Bytes by_first, by_second;
        std::thread thread([&] { by_first = first.through(one[i]); });
        by_second = second.through(one[i]);
        thread.join();
        EXPECT_EQ(by_first, contrasts[i]);
        EXPECT_EQ(by_second, means[i]);
    }
}

TEST_F(Streams, ABufferThatIsTooSmallIsAnErrorInASentence) {
    Harness harness("chain=speckle");
    harness.caps("GRAY8", 20, 10);
    GstBuffer* const small = gst_buffer_new_allocate(nullptr, 37, nullptr);
    gst_buffer_memset(small, 0, 0, 37);
    EXPECT_EQ(gst_harness_push(harness.get(), small), GST_FLOW_ERROR);
    EXPECT_NE(harness.message(GST_MESSAGE_ERROR).find("37 bytes"), std::string::npos);
}

} // namespace stream_test
