// Whoever reaches a publisher's port: what they ask for is forgotten, and takes neither the results from
// others nor the memory from the machine.
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
#include <random>

namespace specklescope::publisher_stranger_test {

using test::eventually;
using test::Film;
using test::TcpStranger;
using test::ZmtpStranger;

class PublisherStranger : public testing::Test {
protected:
    void SetUp() override {
        std::cout << "seed " << seed_ << '\n';
        film_.pipeline->add_sink(Publisher::feed(publisher_));
        film_.pipeline->start();
    }
    int port() const { return test::port_of(publisher_->address()); }
    std::string noise(std::size_t bytes) {
        std::string noise(bytes, '\0');
        for (char& c : noise)
            c = static_cast<char>(random_());
        return noise;
    }
    /// Whether one that comes now gets results.
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
    const unsigned seed_ = std::random_device{}();
    std::mt19937 random_{seed_};
    const std::shared_ptr<Publisher> publisher_ = std::make_shared<Publisher>("zmq://127.0.0.1:0");
    Film film_{test::kLong};
};

TEST_F(PublisherStranger, AFloodOfTopicsIsEndedBeforeItTakesTheMemory) {
    const double before = test::resident_mib();
    const ZmtpStranger flood(port(), "SUB");
    ASSERT_TRUE(flood.well());
    constexpr int kThousands = 1000;
    int thousands = 0;
    for (bool heard = true; heard && thousands < kThousands; ++thousands) {
        std::string topics;
        for (int i = 0; i < 1000; ++i)
            topics += ZmtpStranger::part("\1" + noise(63));
        heard = flood.say(topics);
    }
    EXPECT_LT(thousands, kThousands) << "all of it was taken";
    EXPECT_TRUE(serves());
    EXPECT_LT(test::resident_mib() - before, 1000.0) << "2200 for all of it";
    EXPECT_EQ(publisher_->status().error, "");
    std::cout << thousands << " thousand topics, " << test::resident_mib() - before << " MiB\n";
}

/// Each stays below what a connection may send.
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

TEST_F(PublisherStranger, ThreeHundredConnectionsAreSixtyFour) {
    std::deque<TcpStranger> strangers;
    for (int i = 0; i < 300; ++i)
        strangers.emplace_back(port());
    EXPECT_TRUE(eventually([&] { return ended(strangers) >= 300 - 64; })) << ended(strangers);
    EXPECT_LE(ended(strangers), 300U - 60U) << "the first of them stay for a while";
    EXPECT_TRUE(serves()) << "who says nothing leaves after a while";
}

TEST_F(PublisherStranger, OneHostDoesNotKeepAnotherOut) {
    std::deque<ZmtpStranger> strangers;
    for (int i = 0; i < 80; ++i) {
        strangers.emplace_back(port(), "SUB", "127.0.0.2");
        ASSERT_TRUE(strangers.back().connected());
    }
    ASSERT_TRUE(eventually([&] { return ended(strangers) >= 16; }));
    EXPECT_TRUE(serves());
    EXPECT_LE(ended(strangers), 20U) << "most of them stay";
}

TEST_F(PublisherStranger, PartsWithoutEndAreEnded) {
    const ZmtpStranger stranger(port(), "SUB");
    ASSERT_TRUE(stranger.well());
    std::string parts;
    for (int i = 0; i < 100'000; ++i)
        parts += ZmtpStranger::part("\1y", true);
    int times = 0;
    for (bool heard = true; heard && times < 300; ++times)
        heard = stranger.say(parts);
    EXPECT_LT(times, 300) << "120 MB were taken";
    EXPECT_TRUE(serves());
}

/// With as few descriptors as a program has that asks for no more.
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
