// Results as other/tensors: the bytes of application/x-specklescope, with NNStreamer's caps.
#include "tests/gst/pipelines.hpp"

namespace tensors_test {

using namespace element;

class Tensors : public testing::TestWithParam<const char*> {};

const char* const kScene = "videotestsrc num-buffers=3 ! video/x-raw,format=GRAY8,width=64,height=48 ! ";

/// As NNStreamer writes them for one tensor.
std::string tensor_caps(const specklescope_image& shape) {
    const char* const types[] = {"uint8", "uint16", "float32"};
    return std::string("other/tensors, format=(string)static, num_tensors=(int)1, types=(string)") +
           types[shape.type] + ", dimensions=(string)" + std::to_string(shape.channels) + ":" +
           std::to_string(shape.width) + ":" + std::to_string(shape.height) + ":1, framerate=(fraction)25/1";
}

bool same_caps(const std::string& one, const std::string& other) {
    GstCaps* const first = gst_caps_from_string(one.c_str());
    GstCaps* const second = gst_caps_from_string(other.c_str());
    const bool same = first && second && gst_caps_is_fixed(first) && gst_caps_is_equal(first, second);
    gst_clear_caps(const_cast<GstCaps**>(&first));
    gst_clear_caps(const_cast<GstCaps**>(&second));
    return same;
}

/// Caps sent to a next element that accepts these caps.
std::string sent_to(const std::string& taken, const char* chain) {
    Harness harness(std::string("chain=") + chain);
    harness.wanted(taken);
    harness.caps("GRAY8", 67, 45);
    std::mt19937 random(random_seed() + 21);
    EXPECT_EQ(harness.push(random_picture("GRAY8", 67, 45, random)), GST_FLOW_OK) << taken;
    return harness.output_caps();
}

TEST_P(Tensors, AreTheBytesOfTheNumbers) {
    const std::string format = GetParam();
    std::mt19937 random(random_seed() + 20);
    std::vector<std::string> chains{"background:black=64 | speckle:radius=2,output=contrast2 | flow",
                                    "temporal:frames=3 | speckle:radius=2 | average:frames=4"};
    for (const std::string& name : stage_names())
        chains.push_back(default_chain(name));
    ASSERT_GT(chains.size(), 12U);
    for (const std::string& text : chains) {
        SCOPED_TRACE(text);
        std::vector<Picture> pictures;
        for (int i = 0; i < 4; ++i)
            pictures.push_back(random_picture(format, 67, 45, random));
        const client::Chain chain(text.c_str(), "backend=cpu");
        specklescope_image shape{};
        const std::vector<Bytes> expected = by_library(chain, pictures, &shape);
        Harness tensors("chain=\"" + text + "\""), numbers("chain=\"" + text + "\"");
        tensors.wanted("other/tensors");
        tensors.caps(format, 67, 45);
        numbers.caps(format, 67, 45);
        for (std::size_t i = 0; i < pictures.size(); ++i) {
            GstBuffer* const made = tensors.result(pictures[i]);
            ASSERT_NE(made, nullptr);
            EXPECT_EQ(gst_buffer_n_memory(made), 1U) << "a memory is a tensor";
            ASSERT_EQ(bytes_of(made), expected[i]) << "frame " << i;
            ASSERT_EQ(bytes_of(made), numbers.through(pictures[i])) << "frame " << i;
            EXPECT_EQ(fact<guint64>(made, "sequence"), i);
            gst_buffer_unref(made);
        }
        EXPECT_TRUE(same_caps(tensors.output_caps(), tensor_caps(shape))) << tensors.output_caps() << "\n"
                                                                          << tensor_caps(shape);
    }
}

INSTANTIATE_TEST_SUITE_P(Formats, Tensors, testing::Values("GRAY8", "GRAY16_LE", "RGB"));

TEST(TensorsNegotiated, AreBehindNumbersAndBeforePictures) {
    const std::string numbers = "application/x-specklescope", tensors = "other/tensors,format=static",
                      picture = "video/x-raw,format=RGBA";
    EXPECT_TRUE(sent_to(tensors + ";" + numbers, "speckle").starts_with(numbers));
    EXPECT_TRUE(sent_to(picture + ";" + tensors, "speckle").starts_with("other/tensors"));
    EXPECT_TRUE(sent_to("ANY", "speckle").starts_with(numbers));
    // As in the templates of NNStreamer's elements.
    EXPECT_TRUE(sent_to("other/tensors,format={static,flexible},framerate=(fraction)[0,max]", "speckle")
                    .starts_with("other/tensors, format=(string)static"));
}

TEST(TensorsNegotiated, MayBeWrittenWithoutTheLastDimension) {
    for (const char* dimensions : {"1:67:45:1", "1:67:45"})
        EXPECT_NE(sent_to(std::string("other/tensors,dimensions=(string)") + dimensions, "speckle")
                      .find(std::string("dimensions=(string)") + dimensions + ","),
                  std::string::npos)
            << dimensions;
}

TEST(TensorsNegotiated, SizesThatAreAskedForAreAskedOfWhatComesBefore) {
    EXPECT_EQ(run("videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8 ! specklescope chain=gamma ! "
                  "other/tensors,dimensions=(string)1:50:40:1 ! fakesink"),
              "");
    EXPECT_EQ(run(std::string(kScene) +
                  "specklescope chain=rotate90 ! other/tensors,dimensions=(string)1:48:64:1 ! fakesink"),
              "");
}

TEST(TensorsNegotiated, WithoutARateOfTheFramesHaveTheRateNought) {
    Harness harness("chain=flip");
    harness.wanted("other/tensors");
    gst_harness_set_src_caps_str(harness.get(), "video/x-raw,format=GRAY8,width=8,height=4");
    EXPECT_NE(harness.output_caps().find("framerate=(fraction)0/1"), std::string::npos)
        << harness.output_caps();
}

TEST(TensorsNegotiated, WhatDoesNotFitIsRefusedInASentence) {
    for (const char* never : {"format=flexible", "types=(string)float64", "num_tensors=2"})
        EXPECT_NE(run(std::string(kScene) + "specklescope ! other/tensors," + never + " ! fakesink")
                      .find("could not link"),
                  std::string::npos)
            << never;
    for (const char* other :
         {"types=(string)uint16", "dimensions=(string)1:48:64:1", "dimensions=(string)3:64:48:1",
          "dimensions=(string)1:64:48:2", "dimensions=(string)nonsense"}) {
        const std::string said = run(std::string(kScene) +
                                     "specklescope chain=\"speckle | rotate90 | rotate90\" ! other/tensors," +
                                     other + " ! fakesink");
        EXPECT_NE(said.find("The chain makes 64×48 pixels, gray32f of these frames, and what follows takes "
                            "other/tensors"),
                  std::string::npos)
            << other << ": " << said;
        EXPECT_TRUE(said.ends_with("; ask for a format and a size that hold it.")) << said;
    }
}

} // namespace tensors_test
