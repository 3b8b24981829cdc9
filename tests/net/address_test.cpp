// Addresses of outputs are accepted, or refused with a message that lists the allowed forms.
#include "base/error.hpp"
#include "net/address.hpp"
#include "net/outlet.hpp"

#include <gtest/gtest.h>

namespace specklescope::address_test {

void expect_refused(const char* text, const ListenSyntax& syntax) {
    try {
        (void)parse_listen_address(text, syntax);
        ADD_FAILURE() << "'" << text << "' is taken";
    } catch (const UsageError& error) {
        const std::string said = error.what();
        EXPECT_EQ(said.rfind(std::string(syntax.option) + " = '", 0), 0U) << said;
        EXPECT_NE(said.find("allowed: " + std::string(syntax.scheme) + "HOST:PORT"), std::string::npos)
            << said;
        EXPECT_EQ(said.find("ipc://PATH") != std::string::npos, syntax.paths) << said;
    }
}

TEST(ListenAddress, IsAcceptedOrRefusedInASentence) {
    for (const char* good : {"zmq://127.0.0.1:5556", "zmq://localhost:1", "zmq://*:65535", "zmq://[::1]:80",
                             "zmq://192.168.1.7:5556", "zmq://lab-pc.local:9000"})
        for (const ListenSyntax& syntax : {kPublishSyntax, kControlSyntax})
            EXPECT_NO_THROW((void)parse_listen_address(good, syntax)) << good;
    for (const char* bad : {"", "zmq://", "zmq://127.0.0.1", "zmq://:5", "tcp://127.0.0.1:5", "127.0.0.1:5",
                            "zmq://a b:5", "zmq://h:65536", "zmq://h:-1", "zmq://h:1x",
                            "zmq://h:", "zmq://h\n:5", "zmq://h;x:5", "zmq://h:99999999999999999999"})
        for (const ListenSyntax& syntax : {kPublishSyntax, kControlSyntax})
            expect_refused(bad, syntax);
    EXPECT_NO_THROW((void)parse_listen_address("127.0.0.1:9464", kMetricsSyntax));
    for (const char* bad : {"", "9464", ":9464", "http://127.0.0.1:9464", "127.0.0.1:", "127.0.0.1:65536"})
        expect_refused(bad, kMetricsSyntax);
}

TEST(ListenAddress, SaysWhoReachesIt) {
    const auto loopback = [](const char* text) {
        return parse_listen_address(text, kControlSyntax).loopback;
    };
    EXPECT_TRUE(loopback("zmq://127.0.0.1:5"));
    EXPECT_TRUE(loopback("zmq://[::1]:5"));
    EXPECT_TRUE(loopback("ipc:///run/user/1000/flow"));
    EXPECT_TRUE(loopback("zmq://localhost:5"));
    EXPECT_TRUE(loopback("zmq://127.250.0.9:5"));
    for (const char* name : {"127.example.org", "127.0.0.1.example.org", "127.", "127.0.0.256",
                             "localhost.org", "0.0.0.0", "[::]", "27.0.0.1", "126.0.0.1"}) {
        EXPECT_FALSE(loopback(("zmq://" + std::string(name) + ":5").c_str())) << name;
        EXPECT_FALSE(parse_serve_address(SourceArgument("rtsp://" + std::string(name) + ":5/flow")).loopback)
            << name;
    }
    EXPECT_TRUE(parse_serve_address(SourceArgument("rtsp://127.1.2.3:5/flow")).loopback);
    EXPECT_FALSE(loopback("zmq://*:5"));
    EXPECT_FALSE(loopback("zmq://128.127.0.1:5"));
}

TEST(ServeAddress, WhoseUserEndsNowhereIsRefusedWithoutThePassword) {
    for (const char* bad : {"rtsp://me:0?geheim@127.0.0.1:5/flow", "rtsp://me?x:geheim@127.0.0.1:5/flow"}) {
        try {
            (void)parse_serve_address(SourceArgument(bad));
            ADD_FAILURE() << bad << " is taken";
        } catch (const UsageError& error) {
            const std::string said = error.what();
            EXPECT_EQ(said.find("geheim"), std::string::npos) << said;
            EXPECT_NE(said.find("rtsp://***@127.0.0.1:5/flow"), std::string::npos) << said;
        }
    }
    const ServeAddress address = parse_serve_address(SourceArgument("rtsp://me:0%3Fx@127.0.0.1:5/flow"));
    EXPECT_EQ(address.password, "0?x");
}

TEST(ListenAddress, MayBeAUnixSocketWhereThatIsOffered) {
    const ListenAddress address = parse_listen_address("ipc://flow.socket", kControlSyntax);
    EXPECT_EQ(address.endpoint(), "ipc://flow.socket");
    EXPECT_EQ(address.shown("zmq://", "ipc://flow.socket"), "ipc://flow.socket");
    expect_refused("ipc://flow.socket", kPublishSyntax);
    for (const std::string& bad : {std::string("ipc://"), std::string("ipc://@flow"), std::string("ipc://*"),
                                   "ipc://" + std::string(108, 'x'), std::string("ipc://a\nb")})
        expect_refused(bad.c_str(), kControlSyntax);
    EXPECT_NO_THROW((void)parse_listen_address("ipc://" + std::string(107, 'x'), kControlSyntax));
}

} // namespace specklescope::address_test
