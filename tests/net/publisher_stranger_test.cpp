// Clients that misbehave at a publisher's port take neither results from other clients nor much memory.
#include "net/publisher.hpp"
#include "tests/support/child.hpp"
#include "tests/support/control_client.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/running_film.hpp"
#include "tests/support/stranger.hpp"

#include <gtest/gtest.h>
#include <zmq.hpp>

#include <algorithm>
#include <deque>
#include <iostream>

namespace specklescope::publisher_stranger_test {

using test::eventually;
using test::Film;
using test::TcpStranger;
using test::ZmtpStranger;

class PublisherStranger : public testing::Test {
protected:
    void SetUp() override {
        film_.pipeline->add_sink(Publisher::feed(publisher_));
        film_.pipeline->start();
    }
    int port() const { return test::port_of(publisher_->address()); }
    /// True if a new client gets results.
    bool serves() const {
        zmq::context_t context;
        zmq::socket_t socket(context, ZMQ_SUB);
        socket.set(zmq::sockopt::linger, 0);
        socket.set(zmq::sockopt::rcvtimeo, 20'000);
        socket.set(zmq::sockopt::subscribe, R"({"content":"frame")");
        socket.connect("tcp" + publisher_->address().substr(3));
        zmq::message_t message;
        return socket.recv(message).has_value();
    }
    template <class Strangers> static std::size_t ended(const Strangers& strangers) {
        return static_cast<std::size_t>(
            std::count_if(strangers.begin(), strangers.end(), [](const auto& s) { return s.ended(); }));
    }
    const std::shared_ptr<Publisher> publisher_ = std::make_shared<Publisher>("zmq://127.0.0.1:0");
    Film film_{test::kLong};
};

TEST_F(PublisherStranger, TheSameTopicAgainAndAgainLocksNobodyOut) {
    std::string often;
    for (int i = 0; i < 1000; ++i)
        often += ZmtpStranger::part("\1same");
    {
        std::deque<ZmtpStranger> strangers;
        for (int i = 0; i < 20; ++i) {
            strangers.emplace_back(port(), "SUB");
            ASSERT_TRUE(strangers.back().well());
            ASSERT_TRUE(strangers.back().say(often));
        }
        EXPECT_TRUE(serves()) << "while they are there";
        EXPECT_EQ(ended(strangers), 0U);
    }
    for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(serves()) << "when they have gone";
}

TEST_F(PublisherStranger, SilentConnectionsAreClosedAndKeepNobodyOut) {
    std::deque<TcpStranger> strangers;
    for (int i = 0; i < 300; ++i)
        strangers.emplace_back(port());
    EXPECT_TRUE(serves()) << "while they are connected";
    EXPECT_TRUE(eventually([&] { return ended(strangers) == 300; })) << ended(strangers);
}

TEST_F(PublisherStranger, ATopicThatIsTooLongEndsItsConnection) {
    const ZmtpStranger stranger(port(), "SUB");
    ASSERT_TRUE(stranger.well());
    ASSERT_TRUE(stranger.say(ZmtpStranger::part("\1" + std::string(1000, 'x'))));
    EXPECT_TRUE(eventually([&] { return stranger.ended(); }));
    EXPECT_TRUE(serves());
}

/// Every subscriber's queue shares the same messages.
TEST_F(PublisherStranger, SubscribersThatDoNotReadShareBoundedMemory) {
    ASSERT_TRUE(serves());
    const double before = test::resident_mib();
    std::deque<ZmtpStranger> sleepers;
    for (int i = 0; i < 100; ++i) {
        sleepers.emplace_back(port(), "SUB");
        ASSERT_TRUE(sleepers.back().well());
        ASSERT_TRUE(sleepers.back().say(ZmtpStranger::part("\1")));
    }
    const std::uint64_t sent = publisher_->status().written;
    EXPECT_TRUE(
        eventually([&] { return publisher_->status().written > sent + 3000; }, std::chrono::seconds(60)));
    EXPECT_TRUE(serves());
    EXPECT_EQ(publisher_->status().error, "");
    EXPECT_LT(test::resident_mib() - before, 150.0);
    std::cout << test::resident_mib() - before << " MiB for 100 subscribers that do not read\n";
}

/// With the default limit of file descriptors.
TEST(PublishCommand, ConnectionsTakeNoFileFromARecording) {
    const TemporaryFolder folder;
    Child child({"bash", "-c",
                 "ulimit -Sn 100; exec '" + test::program_path() +
                     "' run 'synthetic:vessels?width=64&height=48&rate=100' --backend cpu --threads 1 "
                     "--record-raw s.tiff --split-s 1 --publish zmq://127.0.0.1:0"},
                folder.path().string());
    const std::string address = test::told_behind(child, "Results are published at ");
    ASSERT_NE(address, "") << child.so_far().all();
    std::deque<TcpStranger> strangers;
    for (int i = 0; i < 200; ++i)
        strangers.emplace_back(test::port_of(address));
    const auto there = [&](const char* name) { return std::filesystem::exists(folder / name); };
    EXPECT_TRUE(child.until(
        [&](const ChildResult& said) {
            return there("s-4.tiff") || said.err.find("stopped") != std::string::npos;
        },
        std::chrono::seconds(60)))
        << child.so_far().all();
    child.signal(SIGTERM);
    const ChildResult done = child.finish();
    EXPECT_EQ(done.status, 0) << done.all();
    EXPECT_TRUE(there("s-4.tiff")) << done.all();
}

} // namespace specklescope::publisher_stranger_test
