// With keys only their clients are accepted. Errors in a key file are reported before the run.
#include "base/error.hpp"
#include "net/address.hpp"
#include "tests/support/control_client.hpp"
#include "tests/support/curve_pair.hpp"

#include <sys/stat.h>

#include <set>

namespace specklescope::curve_test {

using Pair = test::CurvePair;

class Curve : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(zmq_has("curve"), 1) << "this machine's ZeroMQ has no CURVE";
        write_text(folder_ / "server.key_secret", server_.certificate(true));
        chmod((folder_ / "server.key_secret").c_str(), 0600);
        std::filesystem::create_directory(folder_ / "clients");
        write_text(folder_ / "clients/friend.key", friend_.certificate(false));
    }
    /// Answer to a request with these keys; empty: none within `ms`.
    std::string asked(const std::string& address, const Pair* keys, int ms) const {
        zmq::context_t context;
        zmq::socket_t socket(context, ZMQ_REQ);
        socket.set(zmq::sockopt::linger, 0);
        socket.set(zmq::sockopt::rcvtimeo, ms);
        if (keys)
            keys->give(socket, server_);
        socket.connect("tcp" + address.substr(3));
        (void)socket.send(zmq::str_buffer(R"({"request":"get"})"), zmq::send_flags::none);
        zmq::message_t answer;
        return socket.recv(answer) ? answer.to_string() : "";
    }
    void expect_refused(const std::string& key, const std::string& clients, const char* says) const {
        try {
            (void)load_curve_keys(key, clients);
            ADD_FAILURE() << key << " and " << clients << " are taken";
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
        }
    }
    TemporaryFolder folder_;
    Pair server_, friend_, stranger_;
};

TEST_F(Curve, OnlyKnownKeysAreLetIn) {
    test::ControlledRun run({"synthetic?width=64&height=48&rate=100", "--curve-key", "server.key_secret",
                             "--curve-clients", "clients"},
                            folder_.path().string());
    EXPECT_NE(asked(run.address, &friend_, 30'000).find("\"ok\":true"), std::string::npos);
    EXPECT_EQ(asked(run.address, &stranger_, 500), "");
    EXPECT_EQ(asked(run.address, nullptr, 500), "");
    EXPECT_NE(asked(run.address, &friend_, 30'000).find("\"ok\":true"), std::string::npos);
    run.child->signal(SIGINT);
    const ChildResult end = run.child->finish();
    EXPECT_EQ(end.status, 0) << end.all();
    EXPECT_EQ(end.all().find(server_.secret.data()), std::string::npos);
}

TEST_F(Curve, ResultsGoToKnownKeysAlone) {
    Child run({test::program_path(), "run", "synthetic?width=64&height=48&rate=100", "--publish",
               "zmq://127.0.0.1:0", "--curve-key", "server.key_secret", "--curve-clients",
               "clients/friend.key"},
              folder_.path().string());
    const std::string address = test::told_behind(run, "Results are published at ");
    ASSERT_FALSE(address.empty());
    zmq::context_t context;
    const auto hears = [&](const Pair& keys, int ms) {
        zmq::socket_t socket(context, ZMQ_SUB);
        socket.set(zmq::sockopt::linger, 0);
        socket.set(zmq::sockopt::rcvtimeo, ms);
        keys.give(socket, server_);
        socket.set(zmq::sockopt::subscribe, "");
        socket.connect("tcp" + address.substr(3));
        zmq::message_t message;
        return socket.recv(message).has_value();
    };
    EXPECT_TRUE(hears(friend_, 30'000));
    EXPECT_FALSE(hears(stranger_, 500));
}

TEST_F(Curve, FilesOfKeysAreReadOrRefusedInASentence) {
    const std::string key = folder_ / "server.key_secret", clients = folder_ / "clients";
    EXPECT_EQ(load_curve_keys("", ""), nullptr);
    const auto keys = load_curve_keys(key, clients);
    EXPECT_EQ(keys->secret, server_.secret.data());
    EXPECT_EQ(keys->clients, std::set<std::string>{friend_.open.data()});
    expect_refused(key, "", "curve_key and curve_clients");
    expect_refused("", clients, "curve_key and curve_clients");
    expect_refused(folder_ / "none", clients, "cannot be read");
    expect_refused(folder_.path().string(), clients, "cannot be read");
    expect_refused(folder_ / "clients/friend.key", clients, "chmod 600");
    chmod(key.c_str(), 0640);
    expect_refused(key, clients, "chmod 600");
    chmod(key.c_str(), 0600);
    write_text(key, friend_.certificate(false));
    expect_refused(key, clients, "no line secret-key");
    write_text(key, "secret-key = \"short\"");
    expect_refused(key, clients, "40 characters");
    std::string cut = server_.certificate(true); // with a NUL between groups of five
    cut[cut.find(server_.secret.data()) + 10] = '\0';
    write_text(key, cut);
    expect_refused(key, clients, "40 characters");
    write_text(key, server_.certificate(true));
    std::filesystem::create_directory(folder_ / "empty");
    expect_refused(key, folder_ / "empty", "no *.key file");
}

} // namespace specklescope::curve_test
