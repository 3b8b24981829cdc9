// Pools of the element in pipelines, and for its results.
#include "tests/gst/pools.hpp"

#include <functional>
#include <map>
#include <set>

namespace pool_life_test {

using namespace element;

const char* const kFormats[] = {"GRAY8", "GRAY16_LE", "GRAY16_BE", "RGB"};

void count_pool(gpointer count, GObject*) { ++*static_cast<int*>(count); }

/// Buffers seen at a pipeline's pads.
struct Seen {
    int frames = 0, pooled = 0;
    std::set<const void*> places;
    std::map<GstBufferPool*, int> pools;
    int pools_ended = 0;
    std::vector<Bytes> results;
    std::function<void(int)> at_frame;
};

GstPadProbeReturn look(GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto& seen = *static_cast<Seen*>(data);
    GstBuffer* const buffer = gst_pad_probe_info_get_buffer(info);
    ++seen.frames;
    if (ours(buffer->pool)) {
        ++seen.pooled;
        seen.places.insert(address_of(buffer));
        if (seen.pools[buffer->pool]++ == 0)
            g_object_weak_ref(G_OBJECT(buffer->pool), count_pool, &seen.pools_ended);
    }
    if (seen.at_frame)
        seen.at_frame(seen.frames);
    return GST_PAD_PROBE_OK;
}

GstPadProbeReturn keep(GstPad*, GstPadProbeInfo* info, gpointer data) {
    static_cast<Seen*>(data)->results.push_back(bytes_of(gst_pad_probe_info_get_buffer(info)));
    return GST_PAD_PROBE_OK;
}

/// Runs to the end. Checks frames before the element "it", and results before the sink "end".
std::string run(
    const std::string& text, Seen& seen, const std::function<void(GstElement*)>& with = [](GstElement*) {}) {
    GstElement* const pipeline = gst_parse_launch(text.c_str(), nullptr);
    if (!pipeline)
        return "no pipeline";
    const auto probe = [&](const char* name, GstPadProbeCallback callback) {
        GstElement* const found = gst_bin_get_by_name(GST_BIN(pipeline), name);
        GstPad* const pad = gst_element_get_static_pad(found, "sink");
        gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, callback, &seen, nullptr);
        gst_object_unref(pad);
        gst_object_unref(found);
    };
    probe("it", look);
    probe("end", keep);
    with(pipeline);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    GstBus* const bus = gst_element_get_bus(pipeline);
    GstMessage* message = gst_bus_timed_pop_filtered(
        bus, 60 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS));
    std::string said = message ? "" : "neither an end nor an error within a minute";
    if (message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
        GError* error = nullptr;
        gst_message_parse_error(message, &error, nullptr);
        said = error->message;
        g_error_free(error);
    }
    gst_clear_message(&message);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(bus);
    gst_object_unref(pipeline);
    return said;
}

TEST(PoolsOfPipelines, AreWhatASourceWritesIntoAndTheElementReads) {
    for (const char* format : kFormats) {
        const std::string source =
                              std::string("videotestsrc pattern=snow num-buffers=30 ! video/x-raw,width=67,"
                                          "height=45,framerate=25/1,format=") +
                              format + " ! ",
                          behind = "specklescope name=it qos=false options=backend=cpu "
                                   "chain=\"temporal:frames=3 | speckle:radius=2\" ! fakesink name=end";
        Seen direct, queued, copied;
        EXPECT_EQ(run(source + behind, direct), "");
        EXPECT_EQ(run(source +
                          "queue max-size-buffers=25 min-threshold-buffers=22 max-size-bytes=0 "
                          "max-size-time=0 ! " +
                          behind,
                      queued),
                  "");
        EXPECT_EQ(run(source + "identity drop-allocation=true ! " + behind, copied), "");
        EXPECT_EQ(copied.pooled, 0);
        for (const Seen* seen : {&direct, &queued}) {
            EXPECT_EQ(seen->frames, 30);
            EXPECT_EQ(seen->pooled, 30) << format;
            EXPECT_EQ(seen->pools.size(), 1U);
            EXPECT_EQ(seen->pools_ended, 1) << "the pool leaks";
            EXPECT_EQ(seen->results.size(), 30U);
            EXPECT_EQ(seen->results, copied.results) << format;
        }
        EXPECT_LE(direct.places.size(), 2U) << "one is written while the other is read";
    }
}

TEST(PoolsOfPipelines, FollowSizesThatChange) {
    Seen seen;
    GstElement* filter = nullptr;
    seen.at_frame = [&](int frame) {
        if (frame != 5 && frame != 12)
            return;
        GstCaps* const caps = gst_caps_from_string(caps_of(frame == 5 ? "RGB" : "GRAY16_LE", 33, 20).c_str());
        g_object_set(filter, "caps", caps, nullptr);
        gst_caps_unref(caps);
    };
    EXPECT_EQ(run("videotestsrc num-buffers=20 ! capsfilter name=size caps=" + caps_of("GRAY8", 67, 45) +
                      " ! specklescope name=it qos=false options=backend=cpu chain=flip ! fakesink name=end",
                  seen,
                  [&](GstElement* pipeline) {
                      filter = gst_bin_get_by_name(GST_BIN(pipeline), "size");
                      gst_object_unref(filter); // owned by the pipeline
                  }),
              "");
    EXPECT_EQ(seen.frames, 20);
    EXPECT_EQ(seen.pooled, 20);
    EXPECT_GE(seen.pools.size(), 1U);
    EXPECT_EQ(seen.pools_ended, static_cast<int>(seen.pools.size()));
    ASSERT_EQ(seen.results.size(), 20U);
    EXPECT_EQ(seen.results.front().size(), 67U * 45U);
    EXPECT_EQ(seen.results[9].size(), 33U * 20U * 3U);
    EXPECT_EQ(seen.results.back().size(), 33U * 20U * 2U);
}

/// Answer of the next element to the allocation query.
struct Answer {
    GstBufferPool* pool = nullptr;
    guint size = 0;
    bool pools = false, meta = false;
};

GstPadProbeReturn answer(GstPad*, GstPadProbeInfo* info, gpointer data) {
    const auto& told = *static_cast<Answer*>(data);
    GstQuery* const query = GST_PAD_PROBE_INFO_QUERY(info);
    if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
        return GST_PAD_PROBE_OK;
    if (told.pools)
        gst_query_add_allocation_pool(query, told.pool, told.size, 0, 0);
    if (told.meta)
        gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
    return GST_PAD_PROBE_HANDLED;
}

TEST(PoolsOfResults, HoldThemWhereWhatFollowsHasNone) {
    const std::string outputs[] = {"application/x-specklescope",   "other/tensors",
                                   "video/x-raw,format=RGBA",      "video/x-raw,format=RGB",
                                   "video/x-raw,format=GRAY16_LE", "video/x-raw,format=GRAY8"};
    std::mt19937 random(random_seed() + 12);
    const Picture picture = random_picture("GRAY8", 67, 45, random);
    for (const std::string& output : outputs)
        for (const bool meta : {false, true})
            for (const int pools : {0, 1, 2}) {
                SCOPED_TRACE(output + (meta ? " meta " : " ") + std::to_string(pools));
                const char* const properties = "chain=gamma:gamma=0.5 low=0 high=255";
                Harness plain(properties), harness(properties);
                GstBufferPool* const theirs = gst_buffer_pool_new();
                Answer told;
                told.meta = meta;
                told.pools = pools > 0;
                told.pool = pools == 2 ? theirs : nullptr;
                told.size = 70000; // the next element may request more than a frame
                gst_pad_add_probe(harness.get()->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, answer, &told,
                                  nullptr);
                for (Harness* one : {&plain, &harness}) {
                    one->wanted(output);
                    one->caps("GRAY8", 67, 45);
                }
                GstBuffer* const expected = plain.result(picture);
                GstBuffer* const made = harness.result(picture);
                ASSERT_TRUE(expected && made);
                EXPECT_TRUE(ours(expected->pool));
                EXPECT_EQ(made->pool == theirs, pools == 2);
                EXPECT_EQ(ours(made->pool), pools != 2);
                const bool picture_goes_out = output.starts_with("video");
                if (picture_goes_out)
                    EXPECT_EQ(gst_buffer_get_size(made) >= 70000U, pools > 0);
                else
                    EXPECT_EQ(bytes_of(made), bytes_of(expected)) << "numbers are a frame, whatever the room";
                EXPECT_EQ(gst_buffer_get_video_meta(made), nullptr);
                gst_buffer_unref(expected);
                gst_buffer_unref(made);
                gst_object_unref(theirs);
            }
}

} // namespace pool_life_test
