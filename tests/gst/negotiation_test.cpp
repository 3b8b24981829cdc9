// Edits during a negotiation, which must see one chain and one view: such edits apply to the next frame.
#include "tests/gst/harness.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace negotiation_test {

using namespace element;

/// Calls of a negotiation to the next element, in this order.
enum class Moment { caps, accept, event, allocation };

Moment moment_of(GstPadProbeInfo* info) {
    if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM)
        return Moment::event;
    const GstQueryType type = GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(info));
    return type == GST_QUERY_CAPS          ? Moment::caps
           : type == GST_QUERY_ACCEPT_CAPS ? Moment::accept
                                           : Moment::allocation;
}

bool is_a_moment(GstPadProbeInfo* info) {
    if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM)
        return GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_CAPS;
    const GstQueryType type = GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(info));
    return type == GST_QUERY_CAPS || type == GST_QUERY_ACCEPT_CAPS || type == GST_QUERY_ALLOCATION;
}

/// Sets a property at the n-th call of this kind.
class Editor {
public:
    explicit Editor(Harness& harness) : element_(harness.element()) {
        gst_pad_add_probe(harness.get()->sinkpad,
                          static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM |
                                                       GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
                          look, this, nullptr);
    }
    void at(Moment moment, const char* property, const std::string& value, int nth = 1) {
        moment_ = moment;
        property_ = property;
        value_ = value;
        left_ = nth;
    }
    bool done() const { return left_ == 0; }

private:
    static GstPadProbeReturn look(GstPad*, GstPadProbeInfo* info, gpointer data) {
        auto& editor = *static_cast<Editor*>(data);
        if (editor.left_ > 0 && is_a_moment(info) && moment_of(info) == editor.moment_ && --editor.left_ == 0)
            gst_util_set_object_arg(G_OBJECT(editor.element_), editor.property_, editor.value_.c_str());
        return GST_PAD_PROBE_OK;
    }
    GstElement* element_;
    Moment moment_ = Moment::caps;
    const char* property_ = "chain";
    std::string value_;
    int left_ = 0;
};

/// With other sizes, types and, for colour, channels.
const char* const kChains[] = {"flip", "speckle:radius=2", "crop:x=3,y=2,width=32,height=16",
                               "rotate90 | speckle:radius=1", "gamma:gamma=0.5"};
const Moment kMoments[] = {Moment::caps, Moment::accept, Moment::event, Moment::allocation};

class Negotiations : public testing::TestWithParam<std::tuple<const char*, const char*>> {
protected:
    const std::string in = std::get<0>(GetParam()), out = std::get<1>(GetParam());
    std::mt19937 random{random_seed() + 41};
    Picture picture = random_picture(in, 68, 44, random);

    /// Result of a new element with this chain; empty if the next element does not accept it.
    Bytes alone(const std::string& chain, std::string* caps = nullptr) {
        Harness anew("low=0 high=1000 chain=\"" + chain + "\"");
        anew.wanted(out);
        anew.caps(in, 68, 44);
        if (anew.output_caps().empty())
            return {};
        if (caps)
            *caps = anew.output_caps();
        return anew.through(picture);
    }
    std::string chain_of(Harness& harness) {
        gchar* text = nullptr;
        g_object_get(harness.element(), "chain", &text, nullptr);
        const std::string made = text;
        g_free(text);
        return made;
    }
};

INSTANTIATE_TEST_SUITE_P(Formats, Negotiations,
                         testing::Combine(testing::Values("GRAY8", "GRAY16_LE", "RGB"),
                                          testing::Values("ANY", "application/x-specklescope",
                                                          "other/tensors", "video/x-raw,format=RGBA",
                                                          "video/x-raw,format=GRAY16_LE")));

TEST_P(Negotiations, SeeOneChainThoughItIsReplacedInTheirMiddle) {
    const bool few = in == "RGB" && out.ends_with("GRAY16_LE"); // colour is not supported
    int edited = 0, between = 0;
    for (const char* from : kChains)
        for (const char* to : kChains) {
            std::string caps;
            const Bytes before = alone(from), after = alone(to, &caps);
            if (before.empty() || after.empty())
                continue;
            for (const Moment moment : kMoments) {
                SCOPED_TRACE(std::string(from) + " to " + to + " at " +
                             std::to_string(static_cast<int>(moment)));
                Harness harness(std::string("low=0 high=1000 chain=\"") + from + "\"");
                harness.wanted(out);
                Editor editor(harness);
                editor.at(moment, "chain", to);
                harness.caps(in, 68, 44); // the first negotiation
                ASSERT_TRUE(editor.done());
                ASSERT_TRUE(harness.through(picture) == after);
                EXPECT_EQ(harness.output_caps(), caps);
                // One edit between two frames, towards the first chain, if it is needed.
                g_object_set(harness.element(), "chain", from, nullptr);
                editor.at(moment, "chain", to);
                ASSERT_TRUE(harness.through(picture) == before);
                if (editor.done()) {
                    ASSERT_TRUE(harness.through(picture) == after);
                    EXPECT_EQ(harness.output_caps(), caps);
                    ++between;
                }
                EXPECT_EQ(harness.message(GST_MESSAGE_ERROR) + harness.message(GST_MESSAGE_WARNING), "");
                ++edited;
            }
        }
    EXPECT_GE(edited, few ? 16 : 100);
    EXPECT_GE(between, few ? 0 : 48);
}

TEST_P(Negotiations, SeeOneChainWhereNewFramesComeToo) {
    for (const char* to : {"speckle:radius=2", "crop:x=3,y=2,width=32,height=16"}) {
        const Bytes after = alone(to);
        if (after.empty())
            continue;
        for (const Moment moment : kMoments) {
            SCOPED_TRACE(std::string(to) + " at " + std::to_string(static_cast<int>(moment)));
            Harness harness("low=0 high=1000 chain=speckle:radius=1");
            harness.wanted(out);
            harness.caps(in, 90, 60);
            harness.through(random_picture(in, 90, 60, random));
            g_object_set(harness.element(), "chain", "gaussian:sigma=1 | speckle:radius=1", nullptr);
            Editor editor(harness);
            editor.at(moment, "chain", to);
            harness.caps(in, 68, 44);
            ASSERT_TRUE(editor.done());
            ASSERT_TRUE(harness.through(picture) == after);
            EXPECT_EQ(harness.message(GST_MESSAGE_ERROR) + harness.message(GST_MESSAGE_WARNING), "");
        }
    }
}

/// The next element renegotiates at any moment, and another thread edits: each frame belongs to one chain
/// and has its caps.
TEST_P(Negotiations, OfEveryFrameAreThoseOfItsChain) {
    std::vector<std::pair<Bytes, std::string>> possible; // and their caps
    std::vector<std::string> texts;
    for (const char* text : kChains) {
        std::string caps;
        if (const Bytes made = alone(text, &caps); !made.empty()) {
            possible.emplace_back(made, caps);
            texts.emplace_back(text);
        }
    }
    Harness harness("low=0 high=1000 chain=\"" + texts.front() + "\"");
    harness.wanted(out);
    harness.caps(in, 68, 44);
    std::atomic<bool> over{false};
    std::thread editor([&] {
        for (std::size_t i = 0; !over; ++i) {
            g_object_set(harness.element(), "chain", texts[i % texts.size()].c_str(), nullptr);
            if (i % 3 == 0)
                gst_harness_push_upstream_event(harness.get(), gst_event_new_reconfigure());
            std::this_thread::yield();
        }
    });
    for (int i = 0; i < 300; ++i) {
        const Bytes came = harness.through(picture);
        const auto made = std::find_if(possible.begin(), possible.end(),
                                       [&](const auto& one) { return one.first == came; });
        EXPECT_TRUE(made != possible.end()) << "frame " << i;
        if (made != possible.end()) {
            EXPECT_EQ(harness.output_caps(), made->second);
        }
        if (HasFailure())
            break;
    }
    over = true;
    editor.join();
    EXPECT_EQ(harness.message(GST_MESSAGE_ERROR) + harness.message(GST_MESSAGE_WARNING), "");
}

class EditsThatFollow : public Negotiations {};
INSTANTIATE_TEST_SUITE_P(
    Formats, EditsThatFollow,
    testing::Values(std::tuple("GRAY16_LE", "application/x-specklescope,width=68,height=44"),
                    std::tuple("GRAY16_LE", "video/x-raw,format=RGBA,width=68,height=44"),
                    std::tuple("GRAY16_LE", "other/tensors,types=(string)uint16"),
                    std::tuple("RGB", "video/x-raw,format=GRAY16_LE")));

TEST_P(EditsThatFollow, DoNotFitAreToldAndChangeNothing) {
    // Gamma keeps colour; a crop changes the size, and the flow index the type.
    const std::string fits = in == "RGB" ? "speckle:radius=2" : "flip",
                      other = in == "RGB"                               ? "flip"
                              : out.find("uint16") != std::string::npos ? "speckle:radius=2"
                                                                        : "crop:x=3,y=2,width=32,height=16";
    Harness harness("low=0 high=1000 chain=" + fits);
    harness.wanted(out);
    harness.caps(in, 68, 44);
    const Bytes expected = alone(fits);
    ASSERT_TRUE(harness.through(picture) == expected);
    const std::string caps = harness.output_caps(), text = chain_of(harness);
    for (int i = 0; i < 2; ++i) {
        g_object_set(harness.element(), "chain", other.c_str(), nullptr);
        EXPECT_TRUE(harness.through(picture) == expected);
        const std::string said = harness.message(GST_MESSAGE_WARNING);
        EXPECT_TRUE(said.starts_with("The chain makes ")) << said;
        EXPECT_NE(said.find(" of these frames, and what follows takes "), std::string::npos) << said;
        EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "");
        EXPECT_EQ(chain_of(harness), text);
        EXPECT_EQ(harness.output_caps(), caps);
    }
    // Also with other frames, and before the first frames.
    g_object_set(harness.element(), "chain", other.c_str(), nullptr);
    harness.caps(in, 68, 44);
    Harness first("low=0 high=1000 chain=" + fits);
    first.wanted(out);
    g_object_set(first.element(), "chain", other.c_str(), nullptr);
    first.caps(in, 68, 44);
    for (Harness* one : {&harness, &first}) {
        EXPECT_TRUE(one->through(picture) == expected);
        EXPECT_TRUE(one->message(GST_MESSAGE_WARNING).starts_with("The chain makes "));
        EXPECT_EQ(one->message(GST_MESSAGE_ERROR), "");
        EXPECT_EQ(chain_of(*one), text);
    }
}

GstPadProbeReturn flush(GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto& harness = *static_cast<Harness*>(data);
    if (GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(info)) == GST_QUERY_CAPS)
        gst_harness_push_event(harness.get(), gst_event_new_flush_start());
    return GST_PAD_PROBE_OK;
}

TEST(NegotiationsThatEnd, InAFlushAreNoErrors) {
    std::mt19937 random(random_seed() + 42);
    const Picture picture = random_picture("GRAY8", 68, 44, random);
    Harness harness("chain=flip"), anew("chain=rotate90");
    for (Harness* one : {&harness, &anew})
        one->caps("GRAY8", 68, 44);
    harness.through(picture);
    const gulong probe = gst_pad_add_probe(harness.get()->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, flush,
                                           &harness, nullptr);
    g_object_set(harness.element(), "chain", "rotate90", nullptr);
    EXPECT_EQ(harness.push(picture), GST_FLOW_FLUSHING);
    gst_pad_remove_probe(harness.get()->sinkpad, probe);
    ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_flush_stop(TRUE)));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_segment(&segment)));
    EXPECT_EQ(harness.through(picture), anew.through(picture));
    EXPECT_EQ(harness.message(GST_MESSAGE_ERROR) + harness.message(GST_MESSAGE_WARNING), "");
}

TEST(NegotiationsThatEnd, AtFramesTooLargeForGStreamerSayWhy) {
    for (const auto& [format, side, out] :
         {std::tuple{"RGB", 65536, "ANY"}, std::tuple{"GRAY8", 65536, "ANY"},
          std::tuple{"GRAY8", 32768, "video/x-raw,format=RGBA"}}) {
        Harness harness("chain=\"\"");
        harness.wanted(out);
        harness.caps(format, side, side);
        const std::string said = harness.message(GST_MESSAGE_ERROR);
        EXPECT_TRUE(said.starts_with("GStreamer does not know how frames of video/x-raw, format=(string)"))
            << said;
        EXPECT_TRUE(said.ends_with(" lie in memory; send smaller ones.")) << said;
        EXPECT_EQ(harness.output_caps(), "");
    }
}

} // namespace negotiation_test
