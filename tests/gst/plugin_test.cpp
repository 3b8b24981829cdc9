// GStreamer with the built plugin, for all tests of this program; its warnings are fatal.
#include <gst/gst.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace plugin_test {

class WithPlugin : public testing::Environment {
public:
    void SetUp() override {
        gst_init(nullptr, nullptr);
        g_log_set_always_fatal(
            static_cast<GLogLevelFlags>(G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING));
        GError* error = nullptr;
        GstPlugin* const plugin = gst_plugin_load_file(SPECKLESCOPE_GST_PLUGIN, &error);
        ASSERT_NE(plugin, nullptr) << (error ? error->message : "");
        gst_object_unref(plugin);
    }
};

const testing::Environment* const with_plugin = testing::AddGlobalTestEnvironment(new WithPlugin);

TEST(Plugin, IsWhatWasBuilt) {
    ASSERT_NE(with_plugin, nullptr);
    GstPlugin* const plugin = gst_registry_find_plugin(gst_registry_get(), "specklescope");
    ASSERT_NE(plugin, nullptr);
    EXPECT_STREQ(gst_plugin_get_filename(plugin), SPECKLESCOPE_GST_PLUGIN);
    gst_object_unref(plugin);
}

} // namespace plugin_test
