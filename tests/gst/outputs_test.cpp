// Formats of a result: values, 16 bits with a scale, colours.
#include "tests/gst/harness.hpp"

#include <cmath>
#include <fstream>

namespace outputs_test {

using namespace element;

class Outputs : public testing::Test {
protected:
    std::mt19937 random{random_seed() + 3};
    Picture picture = random_picture("GRAY16_LE", 67, 45, random);
    std::vector<float> values = numbers("speckle:radius=2");

    std::vector<float> numbers(const char* text) {
        const client::Chain chain(text, "backend=cpu");
        std::vector<Picture> one{picture};
        const Bytes bytes = by_library(chain, one)[0];
        std::vector<float> made(bytes.size() / sizeof(float));
        std::memcpy(made.data(), bytes.data(), bytes.size());
        return made;
    }
    /// Colours of `values` from the library.
    Bytes colours(const char* view_text) {
        specklescope_view* view = nullptr;
        EXPECT_EQ(specklescope_view_create(view_text, &view), SPECKLESCOPE_OK) << specklescope_last_error();
        auto in = client::image_of(values, 67, 45);
        Bytes made(values.size() * 3);
        auto out = in;
        out.data = made.data();
        out.type = SPECKLESCOPE_U8;
        out.channels = 3;
        EXPECT_EQ(specklescope_view_colors(view, &in, &out, nullptr, nullptr), SPECKLESCOPE_OK)
            << specklescope_last_error();
        specklescope_view_free(view);
        return made;
    }
};

TEST_F(Outputs, LevelsAreTheNumbersToHalfAStep) {
    for (const bool fixed : {true, false}) {
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        const std::string range = fixed ? "low=" + std::to_string(*least) + " high=" + std::to_string(*most)
                                        : "low-percentile=0 high-percentile=100";
        SCOPED_TRACE(range);
        Harness harness("chain=speckle:radius=2 " + range);
        harness.wanted("video/x-raw,format=GRAY16_LE");
        harness.caps("GRAY16_LE", 67, 45);
        GstBuffer* made = harness.result(picture);
        ASSERT_NE(made, nullptr);
        const auto scale = fact<double>(made, "scale"), offset = fact<double>(made, "offset");
        const Bytes bytes = packed(made, "GRAY16_LE", 67, 45);
        EXPECT_NEAR(offset, *least, 1e-5 * std::abs(*least) + 1e-6);
        EXPECT_NEAR(offset + 65535 * scale, *most, 1e-5 * std::abs(*most));
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double level = bytes[2 * i] + 256.0 * bytes[2 * i + 1];
            ASSERT_NEAR(offset + scale * level, values[i], 0.5001 * scale + 1e-6 * std::abs(values[i])) << i;
        }
        // A fixed range is in the caps.
        GstCaps* const caps = gst_caps_from_string(harness.output_caps().c_str());
        double of_caps = 0;
        EXPECT_EQ(gst_structure_get_double(gst_caps_get_structure(caps, 0), "scale", &of_caps), fixed);
        if (fixed) {
            EXPECT_NEAR(of_caps, scale, 1e-12 * scale);
        }
        EXPECT_EQ(harness.message(GST_MESSAGE_INFO).find("The range is automatic") == 0, !fixed);
        gst_caps_unref(caps);
        EXPECT_TRUE(fact<std::string>(made, "quantity").starts_with("speckle flow index"));
        EXPECT_EQ(fact<std::string>(made, "unit"), "1/s");
        gst_buffer_unref(made);
    }
}

TEST_F(Outputs, ARangeThatIsSetWhileItPlaysIsInTheCapsOfTheNextFrame) {
    Harness harness("chain=speckle:radius=2 low=0 high=65535");
    harness.wanted("video/x-raw,format=GRAY16_LE");
    harness.caps("GRAY16_LE", 67, 45);
    harness.through(picture);
    EXPECT_NE(harness.output_caps().find("scale=(double)1,"), std::string::npos) << harness.output_caps();
    g_object_set(harness.element(), "high", 131070.0, nullptr);
    harness.through(picture);
    EXPECT_NE(harness.output_caps().find("scale=(double)2,"), std::string::npos) << harness.output_caps();
}

TEST_F(Outputs, LevelsOfWholeNumbersAreTheNumbers) {
    Harness harness("chain=flip");
    harness.wanted("video/x-raw,format=GRAY16_LE");
    harness.caps("GRAY16_LE", 67, 45);
    GstBuffer* made = harness.result(picture);
    ASSERT_NE(made, nullptr);
    const Bytes bytes = packed(made, "GRAY16_LE", 67, 45);
    for (int y = 0; y < 45; ++y)
        for (int x = 0; x < 67; ++x)
            for (int b = 0; b < 2; ++b)
                ASSERT_EQ(bytes[static_cast<std::size_t>((y * 67 + x) * 2 + b)],
                          picture.bytes[static_cast<std::size_t>((y * 67 + 66 - x) * 2 + b)]);
    EXPECT_EQ(fact<double>(made, "scale"), 1);
    EXPECT_EQ(fact<double>(made, "offset"), 0);
    gst_buffer_unref(made);
}

TEST_F(Outputs, ColoursAreThoseOfTheView) {
    const Bytes expected = colours("colormap=inferno,low=5,high=900");
    for (const std::string format : {"RGB", "RGBA"}) {
        Harness harness("chain=speckle:radius=2 colormap=inferno low=5 high=900");
        harness.wanted("video/x-raw,format=" + format);
        harness.caps("GRAY16_LE", 67, 45);
        GstBuffer* made = harness.result(picture);
        ASSERT_NE(made, nullptr);
        const Bytes bytes = packed(made, format.c_str(), 67, 45);
        const std::size_t step = format.size();
        ASSERT_EQ(bytes.size(), values.size() * step);
        for (std::size_t i = 0; i < values.size(); ++i) {
            for (std::size_t c = 0; c < 3; ++c)
                ASSERT_EQ(bytes[i * step + c], expected[i * 3 + c]) << format << " " << i;
            if (step == 4) {
                ASSERT_EQ(bytes[i * 4 + 3], 255);
            }
        }
        EXPECT_EQ(fact<double>(made, "low"), 5);
        EXPECT_EQ(fact<double>(made, "high"), 900);
        gst_buffer_unref(made);
        // Another map and range, while playing.
        gst_util_set_object_arg(G_OBJECT(harness.element()), "colormap", "viridis");
        g_object_set(harness.element(), "high", 500.0, nullptr);
        made = harness.result(picture);
        ASSERT_NE(made, nullptr);
        const Bytes other = colours("colormap=viridis,low=5,high=500"),
                    now = packed(made, format.c_str(), 67, 45);
        for (std::size_t i = 0; i < values.size(); ++i)
            ASSERT_EQ(now[i * step + 1], other[i * 3 + 1]);
        gst_buffer_unref(made);
    }
}

/// The further image has the caps, the pixels and the facts of a chain that ends with it.
TEST_F(Outputs, AFurtherImageGoesOutInsteadOfTheLast) {
    const std::vector<float> contrast = numbers("speckle:radius=2,output=contrast");
    Harness harness(
        "chain=\"speckle:radius=2,also=contrast+mean | crop:x=4,y=2,width=20,height=10\" output=contrast");
    harness.wanted("application/x-specklescope");
    harness.caps("GRAY16_LE", 67, 45);
    for (int i = 0; i < 3; ++i) {
        GstBuffer* made = harness.result(picture);
        ASSERT_NE(made, nullptr);
        const Bytes bytes = bytes_of(made);
        ASSERT_EQ(bytes.size(), contrast.size() * sizeof(float));
        EXPECT_EQ(std::memcmp(bytes.data(), contrast.data(), bytes.size()), 0);
        EXPECT_EQ(fact<std::string>(made, "symbol"), "K");
        EXPECT_EQ(fact<guint64>(made, "sequence"), static_cast<guint64>(i));
        gst_buffer_unref(made);
    }
    const std::string caps = harness.output_caps();
    EXPECT_NE(caps.find("width=(int)67"), std::string::npos) << caps;
    // An edit that takes it away is refused, with the next frame.
    g_object_set(harness.element(), "chain", "speckle:radius=2,also=mean", nullptr);
    EXPECT_EQ(harness.through(picture).size(), contrast.size() * sizeof(float));
    EXPECT_NE(harness.message(GST_MESSAGE_WARNING).find("contrast"), std::string::npos);
    g_object_set(harness.element(), "chain", "speckle:radius=3,also=contrast", nullptr);
    const std::vector<float> other = numbers("speckle:radius=3,output=contrast");
    const Bytes bytes = harness.through(picture);
    ASSERT_EQ(bytes.size(), other.size() * sizeof(float));
    EXPECT_EQ(std::memcmp(bytes.data(), other.data(), bytes.size()), 0);
    EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "");
}

TEST_F(Outputs, AFurtherImageIsScaledByItsOwnRange) {
    const std::vector<float> contrast = numbers("speckle:radius=2,output=contrast");
    Harness harness("chain=speckle:radius=2,also=contrast output=contrast low=0 high=2");
    harness.wanted("video/x-raw,format=GRAY16_LE");
    harness.caps("GRAY16_LE", 67, 45);
    GstBuffer* made = harness.result(picture);
    ASSERT_NE(made, nullptr);
    const auto scale = fact<double>(made, "scale");
    const Bytes bytes = packed(made, "GRAY16_LE", 67, 45);
    for (std::size_t i = 0; i < contrast.size(); ++i)
        ASSERT_NEAR(scale * (bytes[2 * i] + 256.0 * bytes[2 * i + 1]), contrast[i], 0.5001 * scale + 1e-6)
            << i;
    gst_buffer_unref(made);
}

TEST_F(Outputs, AnImageThatTheChainDoesNotGiveIsAnError) {
    Harness harness("chain=speckle output=contrast");
    harness.caps("GRAY16_LE", 67, 45);
    EXPECT_NE(harness.push(picture), GST_FLOW_OK);
    EXPECT_NE(harness.message(GST_MESSAGE_ERROR).find("contrast"), std::string::npos);
}

TEST_F(Outputs, GreyIsTheViewInGrey) {
    Harness harness("chain=speckle:radius=2 low=0 high=1024");
    harness.wanted("video/x-raw,format=GRAY8");
    harness.caps("GRAY16_LE", 67, 45);
    GstBuffer* made = harness.result(picture);
    ASSERT_NE(made, nullptr);
    const Bytes bytes = packed(made, "GRAY8", 67, 45);
    for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(bytes[i], std::clamp(static_cast<int>(std::floor(values[i] / 4)), 0, 255)) << values[i];
    gst_buffer_unref(made);
}

TEST_F(Outputs, AViewThatDoesNotGoTogetherIsToldAndChangesNothing) {
    Harness harness("chain=speckle:radius=2 low=5 high=900");
    harness.wanted("video/x-raw,format=RGB");
    harness.caps("GRAY16_LE", 67, 45);
    const auto shown = [&] {
        GstBuffer* made = harness.result(picture);
        const Bytes bytes = made ? packed(made, "RGB", 67, 45) : Bytes();
        gst_clear_buffer(&made);
        return bytes;
    };
    const Bytes before = shown();
    g_object_set(harness.element(), "low", 1000.0, nullptr);
    EXPECT_TRUE(shown() == before);
    const std::string said = harness.message(GST_MESSAGE_WARNING);
    EXPECT_NE(said.find("low = 1000 is not below high = 900"), std::string::npos) << said;
    EXPECT_TRUE(shown() == before);
    EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "");
    g_object_set(harness.element(), "high", 2000.0, nullptr);
    EXPECT_TRUE(shown() == colours("low=1000,high=2000"));
}

TEST_F(Outputs, WhatIsKnownOfAResultIsOnItsBuffer) {
    Harness harness("chain=temporal:frames=3 full-scale=4095 exposure=2.5");
    harness.caps("GRAY16_LE", 67, 45);
    guint64 at_full_scale = 0;
    for (std::size_t i = 0; i < picture.bytes.size(); i += 2) {
        picture.bytes[i + 1] &= 0x0F;
        at_full_scale += picture.bytes[i] == 0xFF && picture.bytes[i + 1] == 0x0F ? 1 : 0;
    }
    for (int i = 1; i <= 4; ++i) {
        GstBuffer* made = harness.result(picture);
        ASSERT_NE(made, nullptr);
        EXPECT_EQ(fact<guint64>(made, "sequence"), static_cast<guint64>(i - 1));
        EXPECT_EQ(fact<guint64>(made, "raw-samples"), 67U * 45U);
        EXPECT_EQ(fact<guint64>(made, "raw-saturated"), at_full_scale);
        EXPECT_EQ(fact<std::string>(made, "exposure-origin"), "camera");
        EXPECT_EQ(fact<double>(made, "exposure-ms"), 2.5);
        if (i < 3) {
            EXPECT_EQ(fact<int>(made, "warmup-frames"), i);
            EXPECT_EQ(fact<int>(made, "warmup-wanted"), 3);
        }
        gst_buffer_unref(made);
    }
}

/// Each field of specklescope_result, as the library returns it for the same frames.
TEST_F(Outputs, AllThatTheLibraryKnowsOfAResultIsOnItsBuffer) {
    for (const char* text : {"temporal:frames=3 | speckle:radius=2,output=contrast2 | flow",
                             "speckle:radius=2,output=contrast", "flip"}) {
        SCOPED_TRACE(text);
        const client::Chain chain(text, "backend=cpu");
        Harness harness(std::string("full-scale=4095 exposure=2.5 chain=\"") + text + "\"");
        harness.caps("GRAY16_LE", 67, 45);
        int warming = 0;
        for (int i = 0; i < 5; ++i) {
            auto in = client::sized<specklescope_image>(), out = client::sized<specklescope_image>();
            auto facts = client::sized<specklescope_facts>();
            auto known = client::sized<specklescope_result>();
            in.data = picture.bytes.data();
            in.width = picture.width;
            in.height = picture.height;
            in.type = SPECKLESCOPE_U16;
            facts.time_ns = std::int64_t{40'000'000} * i;
            facts.exposure_ms = 2.5;
            facts.full_scale = 4095;
            ASSERT_EQ(specklescope_chain_output(chain, &in, &out), SPECKLESCOPE_OK);
            Bytes room(out.pitch * static_cast<std::size_t>(out.height));
            out.data = room.data();
            ASSERT_EQ(specklescope_chain_process(chain, &in, &facts, &out, &known), SPECKLESCOPE_OK)
                << specklescope_last_error();
            const gint64 before = g_get_monotonic_time();
            GstBuffer* const made = harness.result(picture);
            const gint64 after = g_get_monotonic_time();
            ASSERT_NE(made, nullptr);
            EXPECT_EQ(fact<guint64>(made, "sequence"), known.sequence);
            EXPECT_EQ(fact<guint64>(made, "version"), known.version);
            EXPECT_EQ(fact<gint64>(made, "time-ns"), known.time_ns);
            EXPECT_EQ(fact<gint64>(made, "time-ns"), facts.time_ns);
            EXPECT_EQ(fact<double>(made, "exposure-ms"), known.exposure_ms);
            EXPECT_EQ(fact<std::string>(made, "exposure-origin"), known.exposure_origin);
            EXPECT_EQ(fact<std::string>(made, "quantity"), known.quantity);
            EXPECT_EQ(fact<std::string>(made, "symbol"), known.symbol);
            EXPECT_EQ(fact<std::string>(made, "unit"), known.unit);
            EXPECT_EQ(fact<std::string>(made, "measure"), known.measure);
            EXPECT_EQ(fact<guint64>(made, "undefined"), known.undefined);
            EXPECT_EQ(fact<guint64>(made, "infinite"), known.infinite);
            EXPECT_EQ(fact<guint64>(made, "saturated"), known.saturated);
            EXPECT_EQ(fact<guint64>(made, "windows"), known.windows);
            EXPECT_EQ(fact<guint64>(made, "raw-saturated"), known.raw_saturated);
            EXPECT_EQ(fact<guint64>(made, "raw-samples"), known.raw_samples);
            EXPECT_EQ(fact<int>(made, "warmup-frames"), known.warmup_frames);
            EXPECT_EQ(fact<int>(made, "warmup-wanted"), known.warmup_wanted);
            EXPECT_EQ(fact<bool>(made, "warming-up"), known.warming_up != 0);
            EXPECT_EQ(fact<gint64>(made, "position"), known.position);
            const auto arrival = fact<gint64>(made, "arrival-ns");
            EXPECT_GE(arrival, before * 1000);
            EXPECT_LE(arrival, (after + 1) * 1000);
            warming += fact<bool>(made, "warming-up");
            gst_buffer_unref(made);
        }
        EXPECT_EQ(warming, std::string(text).starts_with("temporal") ? 2 : 0);
    }
}

TEST_F(Outputs, WhatIsKnownIsOfTheLastElementAlone) {
    Harness harness("chain=temporal:frames=3 values=true ! video/x-raw,format=GRAY16_LE ! specklescope "
                    "options=backend=cpu chain=speckle:radius=2");
    harness.wanted("video/x-raw,format=RGBA");
    harness.caps("GRAY16_LE", 67, 45);
    for (int i = 0; i < 4; ++i) {
        GstBuffer* const made = harness.result(picture);
        ASSERT_NE(made, nullptr);
        int metas = 0;
        gpointer state = nullptr;
        while (GstMeta* const meta = gst_buffer_iterate_meta(made, &state))
            metas += gst_meta_info_is_custom(meta->info) &&
                     gst_custom_meta_has_name(reinterpret_cast<GstCustomMeta*>(meta), "SpecklescopeResult");
        EXPECT_EQ(metas, 1);
        EXPECT_FALSE(gst_structure_has_field(
            gst_custom_meta_get_structure(gst_buffer_get_custom_meta(made, "SpecklescopeResult")), "values"));
        EXPECT_TRUE(fact<std::string>(made, "quantity").starts_with("speckle flow index"));
        EXPECT_EQ(fact<bool>(made, "warming-up"), i < 2) << "the element before was, frame " << i;
        EXPECT_EQ(fact<int>(made, "warmup-wanted"), 0) << "this one has no history";
        gst_buffer_unref(made);
    }
}

TEST_F(Outputs, RegionsAreMeasuredOnEveryResult) {
    const std::string file = testing::TempDir() + "/element_regions.json";
    std::ofstream(file) << R"({"regions":[{"name":"box","shape":"rectangle","points":[[2,3],[5,6]]}]})";
    Harness harness("chain=speckle:radius=2 regions=" + file);
    harness.caps("GRAY16_LE", 67, 45);
    GstBuffer* made = harness.result(picture);
    ASSERT_NE(made, nullptr);
    GstStructure* const facts =
        gst_custom_meta_get_structure(gst_buffer_get_custom_meta(made, "SpecklescopeResult"));
    const GValue* const regions = gst_structure_get_value(facts, "regions");
    ASSERT_TRUE(regions && GST_VALUE_HOLDS_ARRAY(regions));
    ASSERT_EQ(gst_value_array_get_size(regions), 1U);
    const GstStructure* const box = gst_value_get_structure(gst_value_array_get_value(regions, 0));
    EXPECT_STREQ(gst_structure_get_string(box, "name"), "box");
    double least = INFINITY, most = -INFINITY, minimum = 0, maximum = 0;
    guint64 pixels = 0;
    ASSERT_TRUE(gst_structure_get(box, "pixels", G_TYPE_UINT64, &pixels, "minimum", G_TYPE_DOUBLE, &minimum,
                                  "maximum", G_TYPE_DOUBLE, &maximum, nullptr));
    for (int y = 3; y <= 6; ++y) // includes both corners
        for (int x = 2; x <= 5; ++x) {
            const double value = values[static_cast<std::size_t>(y * 67 + x)];
            least = std::min(least, value);
            most = std::max(most, value);
        }
    EXPECT_EQ(pixels, 16U);
    EXPECT_EQ(minimum, least);
    EXPECT_EQ(maximum, most);
    gst_buffer_unref(made);
}

} // namespace outputs_test
