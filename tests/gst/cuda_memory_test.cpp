// Frames in CUDAMemory are read in place with the bytes of the host path. Without a GPU CUDAMemory is not
// offered.
#include "tests/gst/cuda_uploads.hpp"

namespace cuda_memory_test {

using namespace element;

std::string sink_caps() {
    GstElementFactory* const factory = gst_element_factory_find("specklescope");
    std::string text;
    for (const GList* at = gst_element_factory_get_static_pad_templates(factory); at; at = at->next) {
        auto* const pad = static_cast<GstStaticPadTemplate*>(at->data);
        if (pad->direction == GST_PAD_SINK)
            text = pad->static_caps.string;
    }
    gst_object_unref(factory);
    return text;
}

std::string description() {
    GstElementFactory* const factory = gst_element_factory_find("specklescope");
    std::string text = gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_DESCRIPTION);
    gst_object_unref(factory);
    return text;
}

TEST(MemoryOfAGpu, IsOfferedWhereThereIsOneAndGstInspectSaysSo) {
    const bool driver = cuda().gpus() > 0, gst = cuda().gst != nullptr;
    std::size_t stages = 0;
    ASSERT_EQ(specklescope_stage_count(&stages), SPECKLESCOPE_OK);
    bool built = false;
    for (std::size_t i = 0; i < stages; ++i) {
        auto stage = client::sized<specklescope_stage_info>();
        ASSERT_EQ(specklescope_stage_describe(i, &stage), SPECKLESCOPE_OK);
        built = built || stage.on_device != 0;
    }
    const bool offered = sink_caps().find("CUDAMemory") != std::string::npos;
    EXPECT_EQ(offered, driver && gst && built) << sink_caps();
    EXPECT_NE(sink_caps().find("GRAY16_BE"), std::string::npos);
    const std::string words = description();
    EXPECT_NE(words.find(offered  ? "Frames in CUDAMemory are read where they lie"
                         : !built ? "not taken here: libspecklescope was built without CUDA"
                                  : "not taken here: "),
              std::string::npos)
        << words;
    EXPECT_TRUE(offered || !required()) << words;
}

TEST(MemoryOfAGpu, LeavesTheHostsPathAlone) {
    std::mt19937 random(random_seed() + 8);
    std::vector<Picture> pictures{random_picture("RGB", 61, 40, random)};
    const client::Chain chain("gaussian:sigma=1.5", "backend=cpu");
    Harness harness("chain=gaussian:sigma=1.5");
    harness.caps("RGB", 61, 40);
    EXPECT_EQ(harness.through(pictures[0]), by_library(chain, pictures)[0]);
    // Luma planes are accepted only in GPU memory.
    GstElementFactory* const factory = gst_element_factory_find("specklescope");
    GstCaps* const planes = gst_caps_from_string("video/x-raw,format=NV12,width=64,height=48");
    EXPECT_FALSE(gst_element_factory_can_sink_any_caps(factory, planes));
    gst_caps_unref(planes);
    gst_object_unref(factory);
}

TEST_P(CudaMemory, GivesTheBytesOfTheHostsPathWithoutACopy) {
    for (const char* chain :
         {"", "flip", "gaussian:sigma=2", "background:black=9 | speckle:radius=3", "temporal:frames=3",
          "rotate90 | speckle:radius=2,output=contrast2 | average:frames=2 | flow"})
        for (const auto& [width, height] : {std::pair{64, 48}, std::pair{150, 62}, std::pair{1, 2}}) {
            if (width == 1 && std::string(chain) != "flip") // some stages require larger images
                continue;
            Uploaded uploaded(std::string("options=backend=cuda chain=\"") + chain + "\"", GetParam(), width,
                              height);
            same(uploaded, chain, "backend=cuda", width, height);
            EXPECT_EQ(uploaded.seen.on_gpu, 4) << "frames came on the host";
            EXPECT_EQ(uploaded.seen.in_primary, 4) << "cudaupload did not take the element's context";
            EXPECT_EQ(uploaded.said(GST_MESSAGE_ERROR) + uploaded.said(GST_MESSAGE_WARNING), "");
        }
}

TEST_P(CudaMemory, OfAnotherContextIsCopiedWithinTheGpu) {
    const char* const chain = "speckle:radius=3";
    Uploaded uploaded(std::string("options=backend=cuda chain=") + chain, GetParam(), 150, 62,
                      ",colorimetry=1:4:0:0", true);
    same(uploaded, chain, "backend=cuda", 150, 62, 12);
    EXPECT_EQ(uploaded.seen.on_gpu, 12);
    EXPECT_EQ(uploaded.seen.in_primary, 0) << "cudaupload has no context of its own";
    uploaded.size(98, 40, ",colorimetry=1:4:0:0");
    same(uploaded, chain, "backend=cuda", 98, 40);
}

TEST_P(CudaMemory, ComesDownForAChainOnTheHost) {
    const char* const chain = "gaussian:sigma=2 | speckle:radius=3";
    Uploaded uploaded(std::string("options=backend=cpu chain=\"") + chain + "\"", GetParam(), 150, 62);
    same(uploaded, chain, "backend=cpu", 150, 62);
    EXPECT_EQ(uploaded.seen.on_gpu, 4);
}

TEST_P(CudaMemory, EditsTakeEffectBetweenTwoFramesOrChangeNothing) {
    Uploaded uploaded("options=backend=cuda chain=\"average:frames=3 | flip\"", GetParam(), 150, 62);
    same(uploaded, "average:frames=3 | flip", "backend=cuda", 150, 62);
    for (const char* chain : {"crop:x=3,y=2,width=32,height=16", "speckle:radius=2", "rotate90", "flip"}) {
        uploaded.set("chain", chain);
        same(uploaded, chain, "backend=cuda", 150, 62);
    }
    EXPECT_EQ(uploaded.said(GST_MESSAGE_ERROR) + uploaded.said(GST_MESSAGE_WARNING), "");
    uploaded.wanted("application/x-specklescope,width=150,height=62");
    for (const char* refused :
         {"rotate90", "flip | crop:x=3,y=2,width=32,height=16", "crop:x=140,width=32"}) {
        uploaded.set("chain", refused);
        same(uploaded, "flip", "backend=cuda", 150, 62, 2);
        EXPECT_NE(uploaded.said(GST_MESSAGE_WARNING), "") << refused;
    }
    EXPECT_EQ(uploaded.said(GST_MESSAGE_ERROR), "");
}

TEST_P(CudaMemory, LumaThatDoesNotBeginAtBlackIsSaidOnce) {
    const bool luma = GetParam() != std::string("RGB");
    for (const bool known : {false, true}) {
        Uploaded uploaded(std::string("chain=flip ") + (known ? "full-scale=235" : ""), GetParam(), 64, 48,
                          ",colorimetry=bt709");
        const Picture picture = first_plane(GetParam(), 64, 48, random);
        uploaded.through(picture, random);
        uploaded.size(80, 48, ",colorimetry=bt709");
        uploaded.through(first_plane(GetParam(), 80, 48, random), random);
        const std::string said = uploaded.said(GST_MESSAGE_WARNING);
        EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), luma && !known ? 1 : 0) << said;
        EXPECT_EQ(said.find("background:black=") != std::string::npos, luma && !known) << said;
    }
}

TEST_P(CudaMemory, WithoutAWordOfItsRowsIsRefused) {
    Uploaded uploaded("chain=flip", GetParam(), 150, 62);
    uploaded.probe([](GstPad*, GstPadProbeInfo* info, gpointer) {
        GstBuffer* const given = gst_pad_probe_info_get_buffer(info);
        GstBuffer* const bare = gst_buffer_new();
        gst_buffer_append_memory(bare, gst_memory_ref(gst_buffer_peek_memory(given, 0)));
        gst_buffer_unref(given);
        info->data = bare;
        return GST_PAD_PROBE_OK;
    });
    EXPECT_EQ(uploaded.push(first_plane(GetParam(), 150, 62, random), random), GST_FLOW_ERROR);
    const std::string said = uploaded.said(GST_MESSAGE_ERROR);
    EXPECT_NE(said.find("has no GstVideoMeta"), std::string::npos) << said;
}

INSTANTIATE_TEST_SUITE_P(Formats, CudaMemory, testing::Values("RGB", "NV12", "I420", "P016_LE"),
                         [](const auto& of) { return std::string(of.param); });

TEST(CudaMemoryRefused, WhereABufferIsNotWhatItsCapsSay) {
    if (cuda().gpus() == 0) {
        ASSERT_FALSE(required()) << "SPECKLESCOPE_REQUIRE_GPU=1, but there is no GPU";
        GTEST_SKIP() << "no GPU";
    }
    std::mt19937 random(random_seed() + 9);
    Harness harness("chain=flip");
    gst_harness_set_src_caps_str(
        harness.get(), "video/x-raw(memory:CUDAMemory),format=RGB,width=32,height=16,framerate=25/1");
    GstBuffer* const buffer = buffer_of(random_picture("RGB", 32, 16, random), "RGB", 0);
    EXPECT_EQ(gst_harness_push(harness.get(), buffer), GST_FLOW_ERROR);
    const std::string said = harness.message(GST_MESSAGE_ERROR);
    EXPECT_NE(said.find("lies in other memory than CUDAMemory"), std::string::npos) << said;
}

} // namespace cuda_memory_test
