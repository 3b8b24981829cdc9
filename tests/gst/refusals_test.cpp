// Refused settings before the start and while frames run: every error is reported, and the properties show
// the running chain.
#include "tests/gst/harness.hpp"

#include <functional>

namespace refusals_test {

using namespace element;

std::string text_of(GstElement* element, const char* property) {
    gchar* text = nullptr;
    g_object_get(element, property, &text, nullptr);
    const std::string made = text ? text : "";
    g_free(text);
    return made;
}

gint number_of(GstElement* element, const char* property) {
    gint number = 0;
    g_object_get(element, property, &number, nullptr);
    return number;
}

/// An element with a bus whose messages can be handled synchronously.
class Alone {
public:
    Alone() : element_(gst_object_ref_sink(gst_element_factory_make("specklescope", nullptr))) {
        g_object_set(element_, "options", "backend=cpu", nullptr);
        gst_element_set_bus(element(), bus_);
        gst_bus_set_sync_handler(bus_, answer, this, nullptr);
    }
    ~Alone() {
        gst_element_set_state(element(), GST_STATE_NULL);
        gst_element_set_bus(element(), nullptr);
        gst_object_unref(bus_);
        gst_object_unref(element_);
    }
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;

    GstElement* element() const { return GST_ELEMENT(element_); }
    bool start() { return gst_element_set_state(element(), GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE; }
    void stop() { gst_element_set_state(element(), GST_STATE_NULL); }
    /// Messages since the last call.
    std::vector<std::string> told() { return std::exchange(told_, {}); }

    std::function<void()> at_first_message;

private:
    static GstBusSyncReply answer(GstBus*, GstMessage* message, gpointer data) {
        auto& alone = *static_cast<Alone*>(data);
        GError* error = nullptr;
        if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
            gst_message_parse_error(message, &error, nullptr);
        else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING)
            gst_message_parse_warning(message, &error, nullptr);
        if (error) {
            alone.told_.emplace_back(error->message);
            g_error_free(error);
            if (const auto act = std::exchange(alone.at_first_message, nullptr))
                act();
        }
        gst_message_unref(message);
        return GST_BUS_DROP;
    }
    gpointer element_;
    GstBus* bus_ = gst_bus_new();
    std::vector<std::string> told_;
};

class Refusals : public testing::Test {
protected:
    std::mt19937 random{random_seed() + 51};
    std::vector<Picture> pictures;
    void SetUp() override {
        for (int i = 0; i < 8; ++i)
            pictures.push_back(random_picture("GRAY16_LE", 67, 45, random));
    }
    Bytes alone(const char* text, const Picture& picture) {
        const client::Chain chain(text, "backend=cpu");
        std::vector<Picture> one{picture};
        return by_library(chain, one)[0];
    }
};

/// Edits while the element queries the next element about another edit.
struct Meanwhile {
    GstElement* element;
    std::vector<std::pair<const char*, const char*>> sets;
};

GstPadProbeReturn set_meanwhile(GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto& meanwhile = *static_cast<Meanwhile*>(data);
    if (GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(info)) == GST_QUERY_CAPS)
        for (const auto& [property, value] : std::exchange(meanwhile.sets, {}))
            gst_util_set_object_arg(G_OBJECT(meanwhile.element), property, value);
    return GST_PAD_PROBE_OK;
}

TEST_F(Refusals, AnEditOfAChainThatIsRefusedIsNotMadeOfTheOneThatGoesOn) {
    Harness harness("chain=\"gaussian:sigma=1 | gaussian:sigma=2\"");
    harness.wanted("application/x-specklescope,width=67,height=45");
    harness.caps("GRAY16_LE", 67, 45);
    const std::string text = text_of(harness.element(), "chain");
    Meanwhile meanwhile{harness.element(), {}};
    gst_pad_add_probe(harness.get()->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, set_meanwhile, &meanwhile,
                      nullptr);
    g_object_set(harness.element(), "chain", "crop:width=32,height=16 | gamma | gaussian:sigma=3", nullptr);
    meanwhile.sets = {{"edit", "2.sigma=5"}, {"edit", "1.gamma=3"}};
    EXPECT_EQ(harness.through(pictures[0]), alone("gaussian:sigma=1 | gaussian:sigma=2", pictures[0]));
    // Edits of the refused chain are refused with it at the next frame.
    EXPECT_EQ(harness.through(pictures[1]), alone("gaussian:sigma=1 | gaussian:sigma=2", pictures[1]));
    for (int i = 0; i < 2; ++i)
        EXPECT_NE(harness.message(GST_MESSAGE_WARNING).find("32×16"), std::string::npos);
    EXPECT_EQ(text_of(harness.element(), "chain"), text);
    // A new chain takes effect, with the edits after it.
    g_object_set(harness.element(), "chain", "crop:width=32,height=16 | gaussian:sigma=3", nullptr);
    meanwhile.sets = {{"edit", "1.sigma=5"}, {"chain", "gamma | gaussian:sigma=4"}, {"edit", "1.sigma=6"}};
    EXPECT_EQ(harness.through(pictures[2]), alone("gaussian:sigma=1 | gaussian:sigma=2", pictures[2]));
    EXPECT_EQ(harness.through(pictures[3]), alone("gamma | gaussian:sigma=6", pictures[3]));
    EXPECT_NE(harness.message(GST_MESSAGE_WARNING).find("32×16"), std::string::npos);
    EXPECT_EQ(harness.message(GST_MESSAGE_WARNING) + harness.message(GST_MESSAGE_ERROR), "");
}

TEST_F(Refusals, OfOneEditUndoAllSinceTheLastFrame) {
    Harness harness("chain=\"crop:x=3,width=32,height=16 | gamma:gamma=1\"");
    harness.caps("GRAY16_LE", 67, 45);
    harness.through(pictures[0]);
    g_object_set(harness.element(), "crop-x", 60, "gamma-gamma", 2.0, nullptr);
    EXPECT_EQ(harness.through(pictures[1]),
              alone("crop:x=3,width=32,height=16 | gamma:gamma=1", pictures[1]));
    EXPECT_NE(harness.message(GST_MESSAGE_WARNING).find("crop"), std::string::npos);
    gdouble gamma = 0;
    g_object_get(harness.element(), "gamma-gamma", &gamma, nullptr);
    EXPECT_EQ(gamma, 1.0);
}

TEST_F(Refusals, OfASizeThatNobodyTakesLeaveHowOftenAButtonWasPressed) {
    const char* const text = "background:dark=capture,frames=1 | crop:width=32,height=16";
    Harness harness(std::string("chain=\"") + text + "\"");
    harness.wanted("application/x-specklescope,width=32,height=16");
    harness.caps("GRAY16_LE", 67, 45);
    const client::Chain chain(text, "backend=cpu");
    for (std::size_t i = 0; i < pictures.size(); ++i) {
        if (i == 2) {
            g_object_set(harness.element(), "background-capture-dark", 1, nullptr);
            ASSERT_EQ(specklescope_chain_set(chain, 0, "capture_dark", "1"), SPECKLESCOPE_OK);
        }
        if (i == 4)
            g_object_set(harness.element(), "crop-width", 40, nullptr);
        if (i == 6) // no press: it was already pressed
            g_object_set(harness.element(), "background-capture-dark", 1, nullptr);
        std::vector<Picture> one{pictures[i]};
        EXPECT_EQ(harness.through(pictures[i]), by_library(chain, one)[0]) << "frame " << i;
        EXPECT_EQ(number_of(harness.element(), "background-capture-dark"), i < 2 ? 0 : 1) << "frame " << i;
        EXPECT_EQ(harness.message(GST_MESSAGE_WARNING).empty(), i != 4) << "frame " << i;
    }
}

TEST_F(Refusals, LeaveTheHistoryOfTheStageThatIsEdited) {
    const char* const text = "average:frames=4 | crop:width=32,height=16";
    Harness harness(std::string("chain=\"") + text + "\"");
    harness.wanted("application/x-specklescope,width=32,height=16");
    harness.caps("GRAY16_LE", 67, 45);
    const client::Chain chain(text, "backend=cpu");
    const std::vector<Bytes> expected = by_library(chain, pictures);
    for (std::size_t i = 0; i < pictures.size(); ++i) {
        if (i == 5)
            g_object_set(harness.element(), "chain", "average:frames=6 | crop:width=40,height=16", nullptr);
        EXPECT_EQ(harness.through(pictures[i]), expected[i]) << "frame " << i;
        EXPECT_EQ(harness.message(GST_MESSAGE_WARNING).empty(), i != 5) << "frame " << i;
    }
}

TEST_F(Refusals, OfARangeInTheMiddleOfANegotiationAreForTheNextFrame) {
    for (const bool first_automatic : {true, false}) {
        SCOPED_TRACE(first_automatic);
        Harness harness(std::string("chain=speckle:radius=2 ") + (first_automatic ? "" : "low=0 high=65535"));
        harness.wanted("video/x-raw,format=GRAY16_LE");
        harness.caps("GRAY16_LE", 67, 45);
        harness.through(pictures[0]);
        Meanwhile meanwhile{harness.element(), {}};
        gst_pad_add_probe(harness.get()->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, set_meanwhile,
                          &meanwhile, nullptr);
        if (first_automatic)
            meanwhile.sets = {{"low", "0"}, {"high", "131070"}};
        else
            meanwhile.sets = {{"automatic", "true"}};
        g_object_set(harness.element(), "chain", "rotate90 | speckle:radius=1", nullptr);
        for (int i = 1; i < 3; ++i) { // the second frame has the other range
            GstBuffer* const made = harness.result(pictures[static_cast<std::size_t>(i)]);
            ASSERT_NE(made, nullptr);
            GstCaps* const caps = gst_caps_from_string(harness.output_caps().c_str());
            const GstStructure* const structure = gst_caps_get_structure(caps, 0);
            double scale = 0, offset = 0;
            const bool told = gst_structure_get(structure, "scale", G_TYPE_DOUBLE, &scale, "offset",
                                                G_TYPE_DOUBLE, &offset, nullptr) != FALSE;
            EXPECT_EQ(told, first_automatic == (i == 2)) << harness.output_caps();
            if (told) {
                EXPECT_EQ(scale, fact<double>(made, "scale")) << "frame " << i;
                EXPECT_EQ(offset, fact<double>(made, "offset")) << "frame " << i;
            }
            gst_caps_unref(caps);
            gst_buffer_unref(made);
        }
    }
}

TEST(RefusedBeforeTheStart, ValuesThatWaitForTheirStageAreToldAndTheOthersHold) {
    for (const bool stage_first : {true, false}) {
        Alone alone;
        GstElement* const element = alone.element();
        if (stage_first)
            g_object_set(element, "chain", "average | gaussian | speckle | temporal", nullptr);
        g_object_set(element, "gaussian-sigma", 3.0, "speckle-radius", 99, "temporal-frames", 7,
                     "average-frames", 5, nullptr);
        if (!stage_first)
            g_object_set(element, "chain", "average | gaussian | speckle | temporal", nullptr);
        EXPECT_FALSE(alone.start());
        std::vector<std::string> told = alone.told();
        ASSERT_EQ(told.size(), 1U);
        EXPECT_NE(told[0].find("radius = 99 is not possible"), std::string::npos) << told[0];
        // A new chain does not resolve this error.
        g_object_set(element, "chain", text_of(element, "chain").c_str(), nullptr);
        EXPECT_FALSE(alone.start());
        alone.told();
        g_object_set(element, "speckle-radius", 2, nullptr);
        EXPECT_TRUE(alone.start());
        EXPECT_TRUE(alone.told().empty());
        gdouble sigma = 0;
        g_object_get(element, "gaussian-sigma", &sigma, nullptr);
        EXPECT_EQ(sigma, 3.0);
        EXPECT_EQ(number_of(element, "speckle-radius"), 2);
        EXPECT_EQ(number_of(element, "temporal-frames"), 7);
        EXPECT_EQ(number_of(element, "average-frames"), 5);
    }
}

TEST(RefusedBeforeTheStart, AnEditIsToldThoughAnotherOneIsRight) {
    Alone alone;
    g_object_set(alone.element(), "chain", "gaussian", "edit", "7.sigma=2", "edit", "0.sigma=3", nullptr);
    EXPECT_FALSE(alone.start());
    const std::vector<std::string> told = alone.told();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_NE(told[0].find("no stage number 7"), std::string::npos) << told[0];
    EXPECT_TRUE(alone.start()) << "it was told";
    EXPECT_TRUE(alone.told().empty());
    // Each one in sequence, in addition to another error.
    alone.stop();
    g_object_set(alone.element(), "chain", "nonsense", "edit", "7.sigma=2", nullptr);
    for (const char* sentence : {"nonsense", "no stage number 7"}) {
        EXPECT_FALSE(alone.start());
        const std::vector<std::string> said = alone.told();
        ASSERT_EQ(said.size(), 1U);
        EXPECT_NE(said[0].find(sentence), std::string::npos) << said[0];
        g_object_set(alone.element(), "chain", "gaussian", nullptr);
    }
    EXPECT_TRUE(alone.start());
}

TEST(RefusedBeforeTheStart, AViewIsRefusedEachTime) {
    Alone alone;
    for (const double low : {3.0, 30.0}) { // the second time after a valid view
        g_object_set(alone.element(), "low", low, "high", 2.0, nullptr);
        for (int i = 0; i < 2; ++i) {
            EXPECT_FALSE(alone.start());
            const std::vector<std::string> told = alone.told();
            ASSERT_EQ(told.size(), 1U);
            EXPECT_NE(told[0].find(low == 3 ? "low = 3 is not below" : "low = 30 is not below"),
                      std::string::npos)
                << told[0];
        }
        g_object_set(alone.element(), "high", 40.0, nullptr);
        EXPECT_TRUE(alone.start());
        alone.stop();
    }
}

/// A property set during the start takes effect or is refused with a message.
TEST(RefusedBeforeTheStart, WhatComesWhileItStartsIsToldAtOnce) {
    Alone alone;
    GstElement* const element = alone.element();
    g_object_set(element, "chain", "gamma", "speckle-radius", 2, nullptr); // a warning in the middle
    alone.at_first_message = [&] {
        g_object_set(element, "chain", "nonsense", nullptr);
        g_object_set(element, "temporal-frames", 3, nullptr);
        g_object_set(element, "gamma-gamma", 2.0, nullptr);
    };
    EXPECT_TRUE(alone.start());
    const std::vector<std::string> told = alone.told();
    ASSERT_EQ(told.size(), 3U);
    EXPECT_NE(told[0].find("speckle-radius has no effect"), std::string::npos) << told[0];
    EXPECT_NE(told[1].find("nonsense"), std::string::npos) << told[1];
    EXPECT_NE(told[2].find("no stage 'temporal'"), std::string::npos) << told[2];
    EXPECT_TRUE(text_of(element, "chain").starts_with("gamma:gamma=2")) << text_of(element, "chain");
}

} // namespace refusals_test
