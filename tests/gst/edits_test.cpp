// Edits while frames run: a valid edit takes effect with the next frame, an invalid one is reported and
// changes nothing.
#include "tests/gst/harness.hpp"

#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

namespace edits_test {

using namespace element;

class Edits : public testing::Test {
protected:
    std::mt19937 random{random_seed() + 2};
    std::vector<Picture> pictures;
    void SetUp() override {
        for (int i = 0; i < 6; ++i)
            pictures.push_back(random_picture("GRAY16_LE", 67, 45, random));
    }
    /// Result of this chain for one image, by the library.
    Bytes alone(const char* text, const Picture& picture) {
        const client::Chain chain(text, "backend=cpu");
        std::vector<Picture> one{picture};
        return by_library(chain, one)[0];
    }
};

TEST_F(Edits, APropertyOfAStageTakesEffectWithTheNextFrame) {
    Harness harness("chain=speckle:radius=2");
    harness.caps("GRAY16_LE", 67, 45);
    EXPECT_EQ(harness.through(pictures[0]), alone("speckle:radius=2", pictures[0]));
    g_object_set(harness.element(), "speckle-radius", 5, nullptr);
    gst_util_set_object_arg(G_OBJECT(harness.element()), "speckle-output", "contrast");
    EXPECT_EQ(harness.through(pictures[1]), alone("speckle:radius=5,output=contrast", pictures[1]));
    gint radius = 0;
    gchar* text = nullptr;
    g_object_get(harness.element(), "speckle-radius", &radius, "chain", &text, nullptr);
    EXPECT_EQ(radius, 5);
    EXPECT_TRUE(std::string(text).starts_with("speckle:radius=5,")) << text;
    g_free(text);
    EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "");
}

TEST_F(Edits, AChainThatMakesOtherNumbersIsShownInTheSamePicture) {
    for (const std::string format : {"RGBA", "RGB", "GRAY8"}) {
        Harness harness("chain=flip low=0 high=1000");
        harness.wanted("video/x-raw,format=" + format);
        harness.caps("GRAY16_LE", 68, 45); // no padding between rows
        const Picture picture = random_picture("GRAY16_LE", 68, 45, random);
        const std::string before = harness.output_caps();
        std::vector<Bytes> seen;
        for (const char* text : {"flip", "speckle:radius=2", "flip"}) { // 16 bits, float, 16 bits
            SCOPED_TRACE(format + " " + text);
            g_object_set(harness.element(), "chain", text, nullptr);
            Harness anew(std::string("low=0 high=1000 chain=") + text);
            anew.wanted("video/x-raw,format=" + format);
            anew.caps("GRAY16_LE", 68, 45);
            seen.push_back(harness.through(picture));
            EXPECT_EQ(seen.back(), anew.through(picture));
        }
        EXPECT_NE(seen[0], seen[1]);
        EXPECT_EQ(harness.output_caps(), before);
    }
}

TEST_F(Edits, PropertiesMayComeBeforeTheirStage) {
    Harness harness("speckle-radius=4 chain=speckle");
    harness.caps("GRAY16_LE", 67, 45);
    EXPECT_EQ(harness.through(pictures[0]), alone("speckle:radius=4", pictures[0]));
}

TEST_F(Edits, APropertyWithoutItsStageIsSaid) {
    Harness harness("chain=gamma");
    harness.caps("GRAY16_LE", 67, 45);
    harness.through(pictures[0]);
    g_object_set(harness.element(), "speckle-radius", 5, nullptr);
    const std::string said = harness.message(GST_MESSAGE_WARNING);
    EXPECT_NE(said.find("The chain has no stage 'speckle'; it is made of gamma"), std::string::npos) << said;
}

TEST_F(Edits, APropertyOutOfRangeIsRefusedAsAnEditIs) {
    Harness harness("chain=speckle:radius=2");
    harness.caps("GRAY16_LE", 67, 45);
    g_object_set(harness.element(), "speckle-radius", 99, nullptr);
    EXPECT_NE(harness.message(GST_MESSAGE_WARNING).find("radius = 99"), std::string::npos);
    gint radius = 0;
    g_object_get(harness.element(), "speckle-radius", &radius, nullptr);
    EXPECT_EQ(radius, 2);
    EXPECT_EQ(harness.through(pictures[1]), alone("speckle:radius=2", pictures[1]));
    g_object_set(harness.element(), "edit", "nonsense", nullptr);
    EXPECT_NE(harness.message(GST_MESSAGE_WARNING).find("nonsense"), std::string::npos);
}

TEST_F(Edits, AnotherShapeIsAgreedOnBetweenTwoFrames) {
    Harness harness("chain=speckle");
    harness.caps("GRAY16_LE", 67, 45);
    harness.through(pictures[0]);
    g_object_set(harness.element(), "chain", "crop:x=3,y=2,width=32,height=16", nullptr);
    EXPECT_EQ(harness.through(pictures[1]), alone("crop:x=3,y=2,width=32,height=16", pictures[1]));
    EXPECT_NE(harness.output_caps().find("format=(string)gray16le, width=(int)32, height=(int)16"),
              std::string::npos)
        << harness.output_caps();
    // Outside the frame: reported with the next frame, which is processed as before.
    g_object_set(harness.element(), "edit", "0.x=60", nullptr);
    EXPECT_EQ(harness.through(pictures[2]), alone("crop:x=3,y=2,width=32,height=16", pictures[2]));
    const std::string said = harness.message(GST_MESSAGE_WARNING);
    EXPECT_NE(said.find("crop"), std::string::npos) << said;
    EXPECT_EQ(harness.message(GST_MESSAGE_ERROR), "");
    gint x = 0;
    g_object_get(harness.element(), "crop-x", &x, nullptr);
    EXPECT_EQ(x, 3);
}

TEST_F(Edits, HistoriesStayWhereTheirStageDoes) {
    Harness harness("chain=\"average:frames=4 | gamma:gamma=0.5\"");
    harness.caps("GRAY16_LE", 67, 45);
    const client::Chain chain("average:frames=4 | gamma:gamma=0.5", "backend=cpu");
    std::vector<Picture> first{pictures[0], pictures[1]}, rest{pictures[2], pictures[3]};
    for (const Bytes& expected : by_library(chain, first)) {
        EXPECT_EQ(harness.through(first.front()), expected);
        std::swap(first[0], first[1]);
    }
    g_object_set(harness.element(), "gamma-gamma", 2.0, nullptr);
    ASSERT_EQ(specklescope_chain_set(chain, 1, "gamma", "2"), SPECKLESCOPE_OK);
    const std::vector<Bytes> expected = by_library(chain, rest);
    EXPECT_EQ(harness.through(rest[0]), expected[0]);
    EXPECT_EQ(harness.through(rest[1]), expected[1]);
}

TEST_F(Edits, AButtonActsOnce) {
    const char* const text = "background:dark=capture,frames=1";
    Harness harness(std::string("chain=") + text);
    harness.caps("GRAY16_LE", 67, 45);
    const client::Chain chain(text, "backend=cpu");
    for (std::size_t i = 0; i < pictures.size(); ++i) {
        if (i == 2) {
            g_object_set(harness.element(), "background-capture-dark", 1, nullptr);
            ASSERT_EQ(specklescope_chain_set(chain, 0, "capture_dark", "1"), SPECKLESCOPE_OK);
        }
        std::vector<Picture> one{pictures[i]};
        EXPECT_EQ(harness.through(pictures[i]), by_library(chain, one)[0]) << "frame " << i;
    }
}

TEST_F(Edits, AControllerMovesAParameterFromFrameToFrame) {
    Harness harness("chain=gamma:gamma=1");
    harness.caps("GRAY16_LE", 67, 45);
    GstControlSource* const source = gst_interpolation_control_source_new();
    g_object_set(source, "mode", GST_INTERPOLATION_MODE_LINEAR, nullptr);
    gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), 0, 0.5);
    gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), 160 * GST_MSECOND, 2.5);
    gst_object_add_control_binding(
        GST_OBJECT(harness.element()),
        gst_direct_control_binding_new_absolute(GST_OBJECT(harness.element()), "gamma-gamma", source));
    for (std::size_t i = 0; i < 5; ++i) {
        const std::string text = "gamma:gamma=" + std::to_string(0.5 * static_cast<double>(i + 1));
        EXPECT_EQ(harness.through(pictures[i]), alone(text.c_str(), pictures[i])) << text;
    }
    gst_object_unref(source);
    EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "");
}

TEST_F(Edits, AControllerWithoutItsStageIsToldOnce) {
    Harness harness("chain=gamma");
    harness.caps("GRAY16_LE", 67, 45);
    GstControlSource* const source = gst_interpolation_control_source_new();
    g_object_set(source, "mode", GST_INTERPOLATION_MODE_LINEAR, nullptr);
    gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), 0, 1);
    gst_timed_value_control_source_set(GST_TIMED_VALUE_CONTROL_SOURCE(source), GST_SECOND, 100);
    gst_object_add_control_binding(
        GST_OBJECT(harness.element()),
        gst_direct_control_binding_new_absolute(GST_OBJECT(harness.element()), "background-black", source));
    for (const Picture& picture : pictures)
        EXPECT_EQ(harness.through(picture), alone("gamma", picture));
    EXPECT_NE(harness.message(GST_MESSAGE_WARNING).find("no stage 'background'"), std::string::npos);
    EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "");
    gst_object_unref(source);
}

TEST_F(Edits, FromAnotherThreadNoFrameIsLostOrHalfEdited) {
    Harness harness("chain=speckle:radius=1");
    harness.caps("GRAY16_LE", 67, 45);
    std::vector<Bytes> possible;
    for (int radius = 1; radius <= 5; ++radius)
        possible.push_back(alone(("speckle:radius=" + std::to_string(radius)).c_str(), pictures[0]));
    std::atomic<bool> over{false};
    std::thread editor([&] {
        for (int i = 0; !over; ++i)
            g_object_set(harness.element(), "speckle-radius", 1 + i % 5, nullptr);
    });
    for (int i = 0; i < 200; ++i)
        EXPECT_NE(std::find(possible.begin(), possible.end(), harness.through(pictures[0])), possible.end());
    over = true;
    editor.join();
    EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "");
}

} // namespace edits_test
