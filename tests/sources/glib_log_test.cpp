// Messages of GLib and GStreamer go to our log, without secrets.
#include "base/log.hpp"
#include "base/source_argument.hpp"
#include "files/gst_init.hpp"
#include "sources/registry.hpp"

#include <glib.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <sstream>

namespace specklescope::glib_log_test {

/// Collects log messages during its lifetime.
class Logged {
public:
    Logged() {
        const auto logger = std::make_shared<spdlog::logger>(
            "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_, true));
        logger->set_level(spdlog::level::debug);
        log_to(logger);
    }
    Logged(const Logged&) = delete;
    Logged& operator=(const Logged&) = delete;
    ~Logged() { log_to(nullptr); }
    std::string text() const { return text_.str(); }

private:
    std::ostringstream text_;
};

std::string logged(GLogLevelFlags level, const std::string& message) {
    init_gstreamer();
    const Logged log;
    g_log("Camera", level, "%s", message.c_str());
    return log.text();
}

TEST(GlibLog, IsRedirected) {
    EXPECT_NE(logged(G_LOG_LEVEL_WARNING, "no such pad").find("Camera (message): no such pad"),
              std::string::npos);
    EXPECT_NE(logged(G_LOG_LEVEL_CRITICAL, "no such pad").find("Camera (critical): no such pad"),
              std::string::npos);
}

TEST(GlibLog, ContainsNoSecretOfAnAddress) {
    const std::string text =
        logged(G_LOG_LEVEL_WARNING, "could not open rtsp://user:geheim4711@host/x?token=tok-98-tok now");
    EXPECT_NE(text.find("could not open rtsp://user:***@host/x?token=*** now"), std::string::npos) << text;
}

TEST(GlibLog, ContainsNoSecretOfASource) {
    const std::string word = "geheim-4712", element = "no-such-element-of-this-test";
    EXPECT_NE(logged(G_LOG_LEVEL_WARNING, "value " + word + " is odd").find(word), std::string::npos)
        << "nobody knows yet that it is one";
    try {
        (void)make_source(SourceArgument("gst:" + element + " user-pw=" + word), {.trusted = true});
    } catch (const Error&) { // opening it is not tested here
    }
    const std::string text = logged(G_LOG_LEVEL_WARNING, "value " + word + " is odd");
    EXPECT_NE(text.find("value *** is odd"), std::string::npos) << text;
}

TEST(GlibLog, OfManyThreadsContainsNoSecret) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([i] {
            for (int k = 0; k < 100; ++k) {
                const std::string word =
                    "geheim-of-thread-" + std::to_string(i) + "-" + std::to_string(k % 10);
                remember_secrets(SourceArgument("rtsp://user:" + word + "@host/x"));
                EXPECT_EQ(without_secrets("it is " + word + "."), "it is ***.");
            }
        });
    for (std::thread& thread : threads)
        thread.join();
}

} // namespace specklescope::glib_log_test
