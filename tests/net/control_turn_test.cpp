// Number of requests answered in one turn of the main thread: all pending ones, without blocking it.
#include "net/control/server.hpp"

#include "tests/support/eventually.hpp"

#include <gtest/gtest.h>
#include <zmq.hpp>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace specklescope::control_turn_test {

using namespace std::chrono_literals;

/// Clients with one pending request each.
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
    ASSERT_TRUE(test::eventually([&] { return read == kClients; }));
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
    ASSERT_TRUE(test::eventually([&] { return read == kClients; }));
    for (int turn = 1; turn <= kClients; ++turn) {
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

/// A server whose "wait" requests are complete when `over` returns true, and others at once.
struct Patient {
    std::atomic<int> read{0};
    std::atomic<bool> over{false};
    std::unique_ptr<ControlServer> server = std::make_unique<ControlServer>(
        "zmq://127.0.0.1:0",
        [this](std::string_view text) -> ControlWork {
            ++read;
            return [this, name = std::string(text)]() -> std::optional<ControlReply> {
                if (name == "wait" && !over)
                    return std::nullopt;
                return ControlReply{name};
            };
        },
        nullptr);
};

/// A client that sends requests without waiting for answers.
class Hasty {
public:
    explicit Hasty(const ControlServer& server) : socket_(context_, ZMQ_DEALER) {
        socket_.set(zmq::sockopt::linger, 0);
        socket_.set(zmq::sockopt::rcvtimeo, 60'000);
        socket_.connect("tcp" + server.address().substr(3));
    }
    void ask(const std::string& request) {
        (void)socket_.send(zmq::message_t(), zmq::send_flags::sndmore);
        (void)socket_.send(zmq::buffer(request), zmq::send_flags::none);
    }
    std::string answer() {
        zmq::message_t part;
        if (!socket_.recv(part) || !socket_.recv(part))
            return "nothing";
        return part.to_string();
    }

private:
    zmq::context_t context_;
    zmq::socket_t socket_;
};

TEST(ControlTurn, OneThatIsNotDoneHoldsUpNobodyElse) {
    Patient patient;
    Hasty waits(*patient.server), other(*patient.server);
    waits.ask("wait");
    ASSERT_TRUE(test::eventually([&] { return patient.read == 1; }));
    EXPECT_EQ(patient.server->poll(kLong), 0U);
    for (int i = 0; i < 4; ++i) {
        const std::string request = "mark " + std::to_string(i);
        other.ask(request);
        ASSERT_TRUE(test::eventually([&] { return patient.server->poll({.most = 0us, .next = 0us}) == 1; }));
        EXPECT_EQ(other.answer(), request);
    }
    patient.over = true;
    EXPECT_EQ(patient.server->poll(kLong), 1U);
    EXPECT_EQ(waits.answer(), "wait");
}

TEST(ControlTurn, AnswersOverOneConnectionComeInTheOrderOfItsRequests) {
    Patient patient;
    Hasty client(*patient.server);
    for (const char* request : {"wait", "a", "b"})
        client.ask(request);
    ASSERT_TRUE(test::eventually([&] { return patient.read == 3; }));
    EXPECT_EQ(patient.server->poll(kLong), 0U);
    patient.over = true;
    for (const char* request : {"wait", "a", "b"}) {
        EXPECT_EQ(patient.server->poll({.most = 0us, .next = 0us}), 1U);
        EXPECT_EQ(client.answer(), request);
    }
}

TEST(ControlTurn, MoreThanAFewOfOneClientAreRefusedAndThoseOfOthersAreNot) {
    constexpr int kHeld = 8, kAsked = 12;
    Patient patient;
    Hasty greedy(*patient.server), other(*patient.server);
    for (int i = 0; i < kHeld; ++i)
        greedy.ask("wait");
    for (int i = kHeld; i < kAsked; ++i) {
        greedy.ask("wait");
        EXPECT_NE(greedy.answer().find("requests of this connection are waiting"), std::string::npos);
    }
    other.ask("get");
    ASSERT_TRUE(test::eventually([&] { return patient.server->poll() == 1; }));
    EXPECT_EQ(other.answer(), "get");
    patient.over = true;
    EXPECT_EQ(patient.server->poll(kLong), static_cast<std::size_t>(kHeld));
}

TEST(ControlTurn, WhoeverWaitsAtTheEndIsToldSo) {
    Patient patient;
    Hasty client(*patient.server);
    client.ask("wait");
    ASSERT_TRUE(test::eventually([&] { return patient.read == 1; }));
    patient.server.reset();
    EXPECT_NE(client.answer().find("The program is ending"), std::string::npos);
}

} // namespace specklescope::control_turn_test
