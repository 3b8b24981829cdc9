// How many requests one turn of the main thread answers: all that wait, and none that could hold it up.
#include "net/control/server.hpp"

#include "tests/support/eventually.hpp"

#include <gtest/gtest.h>
#include <zmq.hpp>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace specklescope {
namespace {

using namespace std::chrono_literals;

/// Clients that have each sent one request.
class Clients {
public:
    Clients(const std::string& address, int count) {
        for (int i = 0; i < count; ++i) {
            sockets_.emplace_back(context_, ZMQ_REQ);
            sockets_.back().set(zmq::sockopt::linger, 0);
            sockets_.back().set(zmq::sockopt::rcvtimeo, 60'000);
            sockets_.back().connect("tcp" + address.substr(3));
            (void)sockets_.back().send(zmq::str_buffer("{}"), zmq::send_flags::none);
        }
    }
    bool all_are_answered() {
        for (zmq::socket_t& socket : sockets_)
            if (zmq::message_t answer; !socket.recv(answer))
                return false;
        return true;
    }

private:
    zmq::context_t context_;
    std::vector<zmq::socket_t> sockets_;
};

std::unique_ptr<ControlServer> server_of(ControlWork work, std::atomic<int>* read = nullptr) {
    return std::make_unique<ControlServer>(
        "zmq://127.0.0.1:0",
        [work = std::move(work), read](std::string_view) {
            if (read)
                ++*read;
            return work;
        },
        nullptr);
}

constexpr int kClients = 7;
constexpr ControlTurn kLong{.most = 60s, .next = 2s};

TEST(ControlTurn, AnswersAllThatWait) {
    std::atomic<int> read{0};
    const auto server = server_of([] { return ControlReply{"{}"}; }, &read);
    Clients clients(server->address(), kClients);
    ASSERT_TRUE(test::eventually([&] { return read == 1; })) << "the others wait behind it";
    EXPECT_EQ(server->poll(kLong), static_cast<std::size_t>(kClients));
    EXPECT_TRUE(clients.all_are_answered());
    EXPECT_EQ(server->poll(kLong), 0U) << "nobody is waited for where nobody asks";
}

TEST(ControlTurn, WhoseTimeIsOverAnswersOneAndNoMore) {
    std::atomic<int> read{0}, done{0};
    const auto server = server_of(
        [&done] {
            ++done;
            return ControlReply{"{}"};
        },
        &read);
    Clients clients(server->address(), kClients);
    for (int turn = 1; turn <= kClients; ++turn) {
        ASSERT_TRUE(test::eventually([&] { return read == turn; }));
        EXPECT_EQ(server->poll({.most = 0us, .next = 0us}), 1U);
        EXPECT_EQ(done, turn);
    }
    EXPECT_TRUE(clients.all_are_answered());
}

TEST(ControlTurn, WhatIsNotDoneIsAskedOnceATurn) {
    std::atomic<int> read{0}, asked{0};
    const auto server = server_of(
        [&asked]() -> std::optional<ControlReply> {
            if (++asked < 3)
                return std::nullopt;
            return ControlReply{"{}"};
        },
        &read);
    Clients clients(server->address(), 1);
    ASSERT_TRUE(test::eventually([&] { return read == 1; }));
    for (const std::size_t answers : {0U, 0U, 1U})
        EXPECT_EQ(server->poll(kLong), answers);
    EXPECT_EQ(asked, 3);
    EXPECT_TRUE(clients.all_are_answered());
}

} // namespace
} // namespace specklescope
