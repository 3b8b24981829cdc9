// Every stage gives the same bytes through the element and through the library, with any row layout.
#include "tests/gst/harness.hpp"

namespace stages_test {

using namespace element;

class EveryStage : public testing::TestWithParam<const char*> {};

TEST_P(EveryStage, GivesTheBytesOfTheLibrary) {
    const std::string format = GetParam();
    std::mt19937 random(random_seed());
    const std::vector<std::string> names = stage_names();
    ASSERT_GT(names.size(), 10U);
    for (const std::string& name : names) {
        const std::string text = default_chain(name);
        SCOPED_TRACE(text);
        std::vector<Picture> pictures;
        for (int i = 0; i < 4; ++i)
            pictures.push_back(random_picture(format, 67, 45, random));
        const client::Chain chain(text.c_str(), "backend=cpu");
        specklescope_image shape{};
        const std::vector<Bytes> expected = by_library(chain, pictures, &shape);
        Harness harness("chain=\"" + text + "\"");
        harness.caps(format, 67, 45);
        for (std::size_t i = 0; i < pictures.size(); ++i)
            // Packed as in caps, and with an odd number of bytes between rows.
            ASSERT_EQ(harness.through(pictures[i], i % 2 == 0 ? -1 : 5), expected[i]) << "frame " << i;
        const std::string caps = harness.output_caps();
        EXPECT_TRUE(caps.starts_with("application/x-specklescope")) << caps;
        EXPECT_NE(caps.find("framerate=(fraction)25/1"), std::string::npos) << caps;
        EXPECT_NE(caps.find("width=(int)" + std::to_string(shape.width)), std::string::npos) << caps;
        EXPECT_NE(caps.find(shape.type == SPECKLESCOPE_F32   ? "32f"
                            : shape.type == SPECKLESCOPE_U16 ? "16le"
                                                             : "8"),
                  std::string::npos)
            << caps;
        EXPECT_EQ(harness.message(GST_MESSAGE_WARNING), "");
    }
}

INSTANTIATE_TEST_SUITE_P(Formats, EveryStage, testing::Values("GRAY8", "GRAY16_LE", "GRAY16_BE", "RGB"));

TEST(Rows, MayLieApartAsTheMetaSays) {
    std::mt19937 random(random_seed() + 1);
    for (const std::string format : {"GRAY8", "GRAY16_LE", "GRAY16_BE", "RGB"})
        for (const auto& [width, height] : {std::pair{1, 1}, {17, 13}, {631, 79}}) {
            Harness harness("chain=\"\"");
            harness.caps(format, width, height);
            for (const int gap : {0, 1, 2, 7, 64}) {
                SCOPED_TRACE(format + " " + std::to_string(width) + " gap " + std::to_string(gap));
                const Picture picture = random_picture(format, width, height, random);
                EXPECT_EQ(harness.through(picture, gap), picture.bytes);
            }
        }
}

TEST(Properties, AreThoseOfTheDeclarations) {
    GstElement* element = gst_element_factory_make("specklescope", nullptr);
    ASSERT_NE(element, nullptr);
    GObjectClass* const of = G_OBJECT_GET_CLASS(element);
    int declared = 0;
    const auto look = [&](const std::string& prefix, const specklescope_parameter_info& info) {
        ++declared;
        std::string name = prefix + info.name;
        std::replace(name.begin(), name.end(), '_', '-');
        SCOPED_TRACE(name);
        GParamSpec* const spec = g_object_class_find_property(of, name.c_str());
        ASSERT_NE(spec, nullptr);
        const std::string blurb = g_param_spec_get_blurb(spec);
        EXPECT_EQ(blurb.rfind(info.doc, 0), 0U) << blurb;
        EXPECT_NE(spec->flags & GST_PARAM_MUTABLE_PLAYING, 0);
        GValue value = G_VALUE_INIT;
        g_object_get_property(G_OBJECT(element), name.c_str(), &value);
        if (info.kind == SPECKLESCOPE_INTEGER) {
            EXPECT_EQ(G_PARAM_SPEC_INT(spec)->minimum, info.minimum);
            EXPECT_EQ(g_value_get_int(&value), std::stoi(info.default_value));
            EXPECT_NE(blurb.find(info.allowed), std::string::npos) << blurb;
        } else if (info.kind == SPECKLESCOPE_REAL) {
            EXPECT_EQ(G_PARAM_SPEC_DOUBLE(spec)->minimum, info.minimum);
            EXPECT_EQ(G_PARAM_SPEC_DOUBLE(spec)->maximum, info.maximum);
            EXPECT_EQ(g_value_get_double(&value), std::stod(info.default_value));
            EXPECT_EQ((spec->flags & GST_PARAM_CONTROLLABLE) != 0, !info.rebuilds);
        } else if (info.kind == SPECKLESCOPE_CHOICE) {
            const GEnumValue* const usual =
                g_enum_get_value(G_ENUM_CLASS(g_type_class_peek(spec->value_type)), g_value_get_enum(&value));
            EXPECT_STREQ(usual->value_nick, info.default_value);
            for (guint i = 0; info.choices[i]; ++i)
                EXPECT_STREQ(G_PARAM_SPEC_ENUM(spec)->enum_class->values[i].value_nick, info.choices[i]);
        } else if (info.kind == SPECKLESCOPE_BOOLEAN) {
            EXPECT_EQ(g_value_get_boolean(&value) ? "true" : "false", std::string(info.default_value));
        }
        g_value_unset(&value);
    };
    for (const std::string& stage : stage_names())
        for (std::size_t k = 0;; ++k) {
            auto info = client::sized<specklescope_parameter_info>();
            if (specklescope_parameter_describe(stage.c_str(), k, &info) != SPECKLESCOPE_OK)
                break;
            look(stage + "-", info);
        }
    std::size_t of_view = 0;
    ASSERT_EQ(specklescope_view_count(&of_view), SPECKLESCOPE_OK);
    for (std::size_t k = 0; k < of_view; ++k) {
        auto info = client::sized<specklescope_parameter_info>();
        ASSERT_EQ(specklescope_view_describe(k, &info), SPECKLESCOPE_OK);
        look("", info);
    }
    EXPECT_GT(declared, 40);
    gst_object_unref(element);
}

} // namespace stages_test
