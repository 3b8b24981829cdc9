// Answers that a client does not read are lost and counted: per client in the statistics, in the metrics,
// and in the total at the end.
#include "have_microhttpd.hpp"
#include "have_rtsp.hpp"
#include "net/control/server.hpp"
#include "tests/support/control_client.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/rtsp_stranger.hpp"
#include "tests/support/stranger.hpp"

namespace specklescope::lost_answers_test {

using test::ControlClient;
using test::ControlledRun;
using test::ControlTest;
using test::eventually;
using test::Json;

/// Requests images that fill all buffers on the way, and reads none.
class Sleeper {
public:
    Sleeper(const std::string& address, int requests) : socket_(context_, ZMQ_DEALER) {
        socket_.set(zmq::sockopt::linger, 0);
        socket_.set(zmq::sockopt::rcvhwm, 1);
        socket_.set(zmq::sockopt::rcvbuf, 4096);
        socket_.connect("tcp" + address.substr(3));
        for (int i = 0; i < requests; ++i) {
            (void)socket_.send(zmq::message_t(), zmq::send_flags::sndmore);
            (void)socket_.send(zmq::str_buffer(R"({"request":"frame","raw":true})"), zmq::send_flags::none);
        }
    }

private:
    zmq::context_t context_;
    zmq::socket_t socket_;
};

std::string page(const std::string& address) {
    const test::TcpStranger client(test::port_of(address));
    (void)client.say("GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    return client.hear(1U << 20);
}

double value_in(const std::string& page, const std::string& name) {
    const std::size_t at = page.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stod(page.substr(at + name.size() + 2));
}

TEST_F(ControlTest, AnswersThatNobodyReadsAreCountedForTheirClient) {
    constexpr int kAsked = 60;
    std::vector<std::string> words = {"synthetic:vessels?width=1000&height=800&rate=20", "--backend", "cpu"};
#ifdef SPECKLESCOPE_HAVE_MICROHTTPD
    words.insert(words.end(), {"--metrics", "127.0.0.1:0"});
#endif
    ControlledRun program(words, here());
    ASSERT_TRUE(program.ask("frame").ok());
    const Sleeper sleeper(program.address, kAsked);
    const auto doors = [&] { return program.ask("stats").json["doors"]["control"]; };
    Json told;
    ASSERT_TRUE(eventually([&] {
        told = doors();
        for (const Json& client : told["clients"])
            if (client["answers"].get<int>() + client["answers_lost"].get<int>() == kAsked)
                return true;
        return false;
    })) << told;
    ASSERT_EQ(told["clients"].size(), 2U) << told;
    std::uint64_t requests = 0, lost = 0;
    for (const Json& client : told["clients"]) {
        EXPECT_EQ(client["from"], "127.0.0.1");
        EXPECT_GE(client["since_s"], client["silent_s"]);
        requests += client["requests"].get<std::uint64_t>();
        lost += client["answers_lost"].get<std::uint64_t>();
        if (client["requests"] == kAsked) {
            EXPECT_GT(client["answers_lost"], kAsked / 2) << "a few fit into what lies between: " << told;
        } else {
            EXPECT_EQ(client["answers_lost"], 0) << "who reads loses nothing: " << told;
        }
    }
    EXPECT_EQ(told["requests"], requests);
    EXPECT_EQ(told["answers_lost"], lost);
    EXPECT_EQ(told["answers"].get<std::uint64_t>() + lost + 1, requests) << "this one is not answered yet";
#ifdef SPECKLESCOPE_HAVE_MICROHTTPD
    const std::string url = test::told_behind(*program.child, "Metrics are told at http://");
    const std::string at = url.substr(0, url.find('/'));
    std::string text;
    EXPECT_TRUE(eventually([&] {
        text = page(at);
        return value_in(text, R"(specklescope_door_lost_total{door="control"})") == static_cast<double>(lost);
    })) << text;
    EXPECT_GE(value_in(text, R"(specklescope_door_sent_total{door="control"})"), told["answers"]);
#endif
    const ChildResult end = program.quit();
    EXPECT_EQ(end.status, 0) << end.all();
    EXPECT_NE(end.out.find(std::to_string(lost) + " answers lost: 1 client does"), std::string::npos)
        << end.all();
}

TEST_F(ControlTest, AnAnswerForOneThatHasGoneIsLost) {
    auto program = run();
    {
        ControlClient leaves(program->address);
        leaves.only_ask(R"({"request":"frame","version":1000000})");
        ASSERT_TRUE(eventually(
            [&] { return program->ask("stats").json["doors"]["control"]["clients"].size() == 2; }));
    }
    ASSERT_TRUE(eventually([&] {
        return program->ask("stats").json["doors"]["control"]["answers_lost"] == 1;
    })) << "10 s later it would be refused";
    EXPECT_EQ(program->quit().status, 0);
}

TEST_F(ControlTest, WhoReadsEverythingLosesNothing) {
    auto program = run();
    for (int i = 0; i < 200; ++i)
        ASSERT_TRUE(program->ask("frame", {{"raw", true}}).ok());
    const ChildResult end = program->quit();
    EXPECT_NE(end.out.find("201 of 201 requests at zmq://"), std::string::npos) << end.all();
    EXPECT_EQ(end.out.find("lost"), std::string::npos) << end.all();
}

TEST(ControlClients, ForgetsTheOneThatIsSilentLongestAndNoneOfTheSums) {
    ControlClients clients;
    for (std::size_t i = 0; i < ControlClients::kMost; ++i)
        clients.asked("client " + std::to_string(i), "10.0.0.1");
    clients.answered("client 1", false);
    clients.answered("client 0", true);
    clients.asked("client 0", "10.0.0.1");
    clients.asked("one more", nullptr);
    clients.answered("client 1", false); // no longer listed
    const ControlCounts counts = clients.counts();
    ASSERT_EQ(counts.clients.size(), ControlClients::kMost);
    EXPECT_EQ(counts.clients.front().requests, 2U) << "client 0 has asked again: it stays";
    EXPECT_EQ(counts.clients.front().answers, 1U);
    EXPECT_EQ(counts.clients.back().from, "");
    EXPECT_EQ(counts.requests, ControlClients::kMost + 2);
    EXPECT_EQ(counts.answers, 1U);
    EXPECT_EQ(counts.lost, 2U);
    for (const ControlClientCounts& client : counts.clients)
        EXPECT_EQ(client.lost, 0U) << "that was of client 1";
}

#ifdef SPECKLESCOPE_HAVE_RTSP
/// All viewers share an encoder: an image without room is missing for each of them.
TEST_F(ControlTest, WhoWatchesIsToldWithThePicturesThatItLacks) {
    ControlledRun program({"synthetic:vessels?width=320&height=240&rate=60", "--backend", "cpu",
                           "--screen-zoom", "4", "--serve", "rtsp://127.0.0.1:0/flow"},
                          here());
    const std::string url = test::told_behind(*program.child, "Images are served at ");
    ASSERT_FALSE(url.empty());
    const auto served = [&] { return program.ask("stats").json["doors"]["serve"]; };
    EXPECT_EQ(served()["address"], url);
    EXPECT_TRUE(served()["clients"].empty());
    const test::RtspStranger still(test::port_of(url.substr(0, url.find("/flow"))));
    still.play(url);
    Json told;
    ASSERT_TRUE(eventually(
        [&] {
            told = served();
            return !told["clients"].empty() && told["clients"][0]["dropped"] > 20 &&
                   told["clients"][0]["takes_nothing_s"] > 0.5;
        },
        std::chrono::seconds(120)))
        << told;
    EXPECT_EQ(told["clients"].size(), 1U);
    EXPECT_EQ(told["clients"][0]["from"], "127.0.0.1");
    EXPECT_GT(told["clients"][0]["pictures"], 0);
    for (const char* count : {"pictures", "dropped"}) // counted for the viewer first and for the total later
        EXPECT_LE(told["clients"][0][count], told[count].get<int>() + 1) << count;
    const test::RtspStranger second(test::port_of(url.substr(0, url.find("/flow"))));
    second.play(url);
    ASSERT_TRUE(eventually([&] {
        told = served();
        for (const Json& client : told["clients"])
            if (client["since_s"] < 5 && client["dropped"] < told["dropped"])
                return true;
        return false;
    })) << "what was dropped before it came is not its: "
        << told;
    ASSERT_TRUE(eventually([&] { return served()["clients"].size() < 2; }))
        << "the first takes nothing while another watches: it is let go";
    EXPECT_EQ(program.quit().status, 0);
}
#endif

} // namespace specklescope::lost_answers_test
