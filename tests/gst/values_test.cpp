// Exact values attached to images.
#include "tests/gst/pools.hpp"

#include <map>
#include <memory>
#include <set>

namespace values_test {

using namespace element;

const std::string kPictures[] = {"RGBA", "RGB", "GRAY16_LE", "GRAY8"};
constexpr std::size_t kKept = 16; // buffers in the chain's memory

/// Null if the image has no values.
GstSample* values_of(GstBuffer* picture) {
    GstCustomMeta* const meta = gst_buffer_get_custom_meta(picture, "SpecklescopeResult");
    const GValue* const value =
        meta ? gst_structure_get_value(gst_custom_meta_get_structure(meta), "values") : nullptr;
    return value && G_VALUE_HOLDS(value, GST_TYPE_SAMPLE) ? gst_value_get_sample(value) : nullptr;
}

bool has_field(GstBuffer* picture, const char* name) {
    GstCustomMeta* const meta = gst_buffer_get_custom_meta(picture, "SpecklescopeResult");
    EXPECT_NE(meta, nullptr);
    return meta && gst_structure_has_field(gst_custom_meta_get_structure(meta), name);
}

Bytes numbers_in(GstSample* sample) { return sample ? bytes_of(gst_sample_get_buffer(sample)) : Bytes(); }

std::string caps_in(GstSample* sample) {
    gchar* const text = gst_caps_to_string(gst_sample_get_caps(sample));
    const std::string made = text;
    g_free(text);
    return made;
}

class ValuesBesidePictures : public testing::TestWithParam<const char*> {};

class Values : public testing::Test {
protected:
    std::mt19937 random{random_seed() + 31};
    std::vector<Picture> pictures;
    void SetUp() override {
        for (int i = 0; i < 6; ++i)
            pictures.push_back(random_picture("GRAY16_LE", 67, 45, random));
    }
};

TEST_P(ValuesBesidePictures, AreTheNumbersThatGoOutAlone) {
    const std::string format = GetParam();
    std::mt19937 random(random_seed() + 30);
    std::vector<std::string> chains{"background:black=64 | speckle:radius=2,output=contrast2 | flow",
                                    "temporal:frames=3 | speckle:radius=2 | average:frames=4"};
    for (const std::string& name : stage_names())
        chains.push_back(default_chain(name));
    std::map<std::string, int> compared;
    for (const std::string& text : chains) {
        std::vector<Picture> pictures;
        for (int i = 0; i < 4; ++i)
            pictures.push_back(random_picture(format, 67, 45, random));
        const client::Chain chain(text.c_str(), "backend=cpu");
        specklescope_image shape{};
        const std::vector<Bytes> expected = by_library(chain, pictures, &shape);
        for (const std::string& picture : kPictures) {
            if (shape.channels == 3 && picture.starts_with("GRAY"))
                continue;
            SCOPED_TRACE(text + " as " + picture);
            const std::string properties = "chain=\"" + text + "\"";
            Harness numbers(properties), with(properties + " values=true"), without(properties);
            with.wanted("video/x-raw,format=" + picture);
            without.wanted("video/x-raw,format=" + picture);
            for (Harness* one : {&numbers, &with, &without})
                one->caps(format, 67, 45);
            for (std::size_t i = 0; i < pictures.size(); ++i) {
                GstBuffer* const made = with.result(pictures[i]);
                ASSERT_NE(made, nullptr);
                GstSample* const sample = values_of(made);
                ASSERT_NE(sample, nullptr) << "frame " << i;
                ASSERT_EQ(numbers_in(sample), numbers.through(pictures[i])) << "frame " << i;
                ASSERT_EQ(numbers_in(sample), expected[i]) << "frame " << i;
                EXPECT_EQ(caps_in(sample), numbers.output_caps());
                EXPECT_EQ(GST_BUFFER_PTS(gst_sample_get_buffer(sample)), GST_BUFFER_PTS(made));
                GstBuffer* const plain = without.result(pictures[i]);
                ASSERT_NE(plain, nullptr);
                EXPECT_EQ(packed(made, picture.c_str(), shape.width, shape.height),
                          packed(plain, picture.c_str(), shape.width, shape.height))
                    << "the picture is another, frame " << i;
                gst_buffer_unref(plain);
                gst_buffer_unref(made);
                ++compared[picture];
            }
        }
    }
    for (const std::string& picture : kPictures)
        EXPECT_GE(compared[picture], 4 * 10) << picture;
}

INSTANTIATE_TEST_SUITE_P(Formats, ValuesBesidePictures, testing::Values("GRAY8", "GRAY16_LE"));

/// Only some results of a colour image stay in colour.
TEST_F(Values, OfColourAreThere) {
    const Picture picture = random_picture("RGB", 67, 45, random);
    Harness harness("chain=flip values=true");
    harness.wanted("video/x-raw,format=RGBA");
    harness.caps("RGB", 67, 45);
    GstBuffer* const made = harness.result(picture);
    ASSERT_NE(made, nullptr);
    GstSample* const sample = values_of(made);
    ASSERT_NE(sample, nullptr);
    const client::Chain chain("flip", "backend=cpu");
    std::vector<Picture> one{picture};
    EXPECT_EQ(numbers_in(sample), by_library(chain, one)[0]);
    EXPECT_TRUE(caps_in(sample).starts_with("application/x-specklescope, format=(string)rgb8,"))
        << caps_in(sample);
    gst_buffer_unref(made);
}

TEST_F(Values, AreThereWhereTheyAreWantedAndFromTheNextFrameOn) {
    Harness harness("chain=speckle:radius=2");
    harness.wanted("video/x-raw,format=RGBA");
    harness.caps("GRAY16_LE", 67, 45);
    const auto there = [&](Harness& in) {
        GstBuffer* made = in.result(pictures[0]);
        if (!made)
            return -1;
        const bool found = has_field(made, "values");
        gst_buffer_unref(made);
        return found ? 1 : 0;
    };
    EXPECT_EQ(there(harness), 0) << "nobody asked for them";
    g_object_set(harness.element(), "values", TRUE, nullptr);
    EXPECT_EQ(there(harness), 1);
    EXPECT_EQ(there(harness), 1);
    gboolean said = FALSE;
    g_object_get(harness.element(), "values", &said, nullptr);
    EXPECT_TRUE(said);
    g_object_set(harness.element(), "values", FALSE, nullptr);
    EXPECT_EQ(there(harness), 0);
    for (const char* numbers : {"application/x-specklescope", "other/tensors"}) {
        Harness alone("chain=speckle:radius=2 values=true");
        alone.wanted(numbers);
        alone.caps("GRAY16_LE", 67, 45);
        EXPECT_EQ(there(alone), 0) << numbers << " are exact themselves";
    }
}

TEST_F(Values, FollowAChainThatIsReplaced) {
    Harness harness("chain=flip values=true");
    harness.wanted("video/x-raw,format=RGBA");
    harness.caps("GRAY16_LE", 67, 45);
    for (const char* text : {"flip", "speckle:radius=2", "rotate90", "speckle:radius=3 | rotate90 | flip"}) {
        SCOPED_TRACE(text);
        g_object_set(harness.element(), "chain", text, nullptr);
        GstBuffer* const made = harness.result(pictures[1]);
        ASSERT_NE(made, nullptr);
        const client::Chain chain(text, "backend=cpu");
        std::vector<Picture> one{pictures[1]};
        specklescope_image shape{};
        const std::vector<Bytes> expected = by_library(chain, one, &shape);
        GstSample* const sample = values_of(made);
        ASSERT_NE(sample, nullptr);
        EXPECT_EQ(numbers_in(sample), expected[0]);
        const std::string caps = caps_in(sample);
        EXPECT_NE(caps.find("width=(int)" + std::to_string(shape.width) + ","), std::string::npos) << caps;
        EXPECT_NE(caps.find(shape.type == SPECKLESCOPE_F32 ? "gray32f" : "gray16le"), std::string::npos)
            << caps;
        gst_buffer_unref(made);
    }
}

/// More buffers than the chain's memory provides, and the last ones alone.
TEST_F(Values, OutliveTheElement) {
    const char* const text = "temporal:frames=3 | speckle:radius=2 | average:frames=2";
    for (int i = 0; i < 20; ++i)
        pictures.push_back(random_picture("GRAY16_LE", 67, 45, random));
    const client::Chain chain(text, "backend=cpu");
    const std::vector<Bytes> expected = by_library(chain, pictures);
    std::vector<GstBuffer*> held;
    std::vector<GstSample*> samples;
    std::size_t lent = 0;
    {
        auto harness = std::make_unique<Harness>("values=true chain=\"" + std::string(text) + "\"");
        harness->wanted("video/x-raw,format=RGBA");
        harness->caps("GRAY16_LE", 67, 45);
        for (const Picture& picture : pictures) {
            held.push_back(harness->result(picture));
            ASSERT_NE(held.back(), nullptr);
            GstSample* const sample = values_of(held.back());
            ASSERT_NE(sample, nullptr);
            samples.push_back(gst_sample_ref(sample));
            lent += ours(gst_sample_get_buffer(sample)->pool);
        }
    }
    EXPECT_EQ(lent, pictures.size());
    ASSERT_GT(lent, kKept);
    for (std::size_t i = 0; i < held.size(); ++i) {
        EXPECT_EQ(numbers_in(values_of(held[i])), expected[i]) << "frame " << i;
        gst_buffer_unref(held[i]);
        EXPECT_EQ(numbers_in(samples[i]), expected[i]) << "without its picture, frame " << i;
    }
    for (GstSample* sample : samples)
        gst_sample_unref(sample);
}

TEST_F(Values, AreWrittenWhereTheyLieAndTheirMemoryComesHome) {
    Harness harness("chain=speckle:radius=2 values=true");
    harness.wanted("video/x-raw,format=RGBA");
    harness.caps("GRAY16_LE", 67, 45);
    std::set<const void*> places;
    for (int i = 0; i < 12; ++i) {
        GstBuffer* const made = harness.result(pictures[static_cast<std::size_t>(i) % pictures.size()]);
        ASSERT_NE(made, nullptr);
        GstSample* const sample = values_of(made);
        ASSERT_NE(sample, nullptr);
        GstBuffer* const numbers = gst_sample_get_buffer(sample);
        EXPECT_TRUE(ours(numbers->pool));
        EXPECT_EQ(gst_buffer_n_memory(numbers), 1U);
        EXPECT_EQ(gst_buffer_get_size(numbers), 67U * 45U * sizeof(float));
        const void* const place = address_of(numbers);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(place) % 64, 0U);
        places.insert(place);
        gst_buffer_unref(made);
    }
    EXPECT_EQ(places.size(), 1U) << "of one result at a time";
}

struct Branch {
    std::vector<Bytes> numbers;
    std::vector<const void*> places;
};

GstPadProbeReturn keep_values(GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto& branch = *static_cast<Branch*>(data);
    if (GstSample* const sample = values_of(gst_pad_probe_info_get_buffer(info))) {
        branch.numbers.push_back(numbers_in(sample));
        branch.places.push_back(address_of(gst_sample_get_buffer(sample)));
    }
    return GST_PAD_PROBE_OK;
}

GstPadProbeReturn keep_bytes(GstPad*, GstPadProbeInfo* info, gpointer data) {
    static_cast<Branch*>(data)->numbers.push_back(bytes_of(gst_pad_probe_info_get_buffer(info)));
    return GST_PAD_PROBE_OK;
}

TEST_F(Values, GoThroughTeesQueuesAndCopies) {
    const char* const element = "specklescope qos=false options=backend=cpu chain=\"temporal:frames=3 | "
                                "speckle:radius=2\" ";
    GstElement* const pipeline = gst_parse_launch(
        (std::string("videotestsrc pattern=snow num-buffers=12 ! "
                     "video/x-raw,format=GRAY16_LE,width=67,height=45,framerate=25/1 ! tee name=in "
                     "in. ! queue ! ") +
         element +
         "values=true ! video/x-raw,format=RGBA ! tee name=t "
         "t. ! queue ! fakesink name=one async=false t. ! queue ! fakesink name=two async=false "
         "t. ! queue ! videobalance hue=0.3 ! fakesink name=written async=false "
         "in. ! queue ! " +
         element + "! fakesink name=alone async=false")
            .c_str(),
        nullptr);
    ASSERT_NE(pipeline, nullptr);
    Branch one, two, written, alone;
    const auto probe = [&](const char* name, GstPadProbeCallback callback, Branch& branch) {
        GstElement* const sink = gst_bin_get_by_name(GST_BIN(pipeline), name);
        GstPad* const pad = gst_element_get_static_pad(sink, "sink");
        gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, callback, &branch, nullptr);
        gst_object_unref(pad);
        gst_object_unref(sink);
    };
    probe("one", keep_values, one);
    probe("two", keep_values, two);
    probe("written", keep_values, written); // into a copy of the image
    probe("alone", keep_bytes, alone);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    GstBus* const bus = gst_element_get_bus(pipeline);
    GstMessage* message = gst_bus_timed_pop_filtered(
        bus, 60 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_EOS));
    ASSERT_NE(message, nullptr);
    EXPECT_EQ(GST_MESSAGE_TYPE(message), GST_MESSAGE_EOS);
    gst_clear_message(&message);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(bus);
    gst_object_unref(pipeline);
    ASSERT_EQ(alone.numbers.size(), 12U);
    EXPECT_NE(alone.numbers.front(), alone.numbers.back()) << "a scene that stands shows nothing";
    EXPECT_EQ(one.numbers, alone.numbers);
    EXPECT_EQ(two.numbers, alone.numbers);
    EXPECT_EQ(written.numbers, alone.numbers);
    EXPECT_EQ(one.places, two.places) << "copied on the way";
}

} // namespace values_test
