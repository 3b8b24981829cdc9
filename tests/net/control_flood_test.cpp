// Memory and connections of --control with clients that send much or do not read.
#include "net/control/pending.hpp"
#include "tests/support/control_client.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/stranger.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <iostream>
#include <thread>

namespace specklescope::control_flood_test {

using test::ControlClient;
using test::ControlledRun;
using test::ControlTest;
using test::TcpStranger;
using test::ZmtpStranger;

/// Many requests of maximum size are answered.
TEST_F(ControlTest, AClientThatAsksMuchStays) {
    auto program = run();
    const std::string large = R"({"request":"get","stage":")" + std::string(1'000'000, 'x') + "\"}";
    for (int i = 0; i < 30; ++i)
        ASSERT_TRUE(program->client->ask_text(large).json.is_object()) << i;
    EXPECT_TRUE(program->ask("get").ok());
    EXPECT_EQ(program->quit().status, 0);
}

TEST_F(ControlTest, APartThatIsTooLargeAndManyConnectionsKeepNobodyOut) {
    auto program = run();
    const int port = test::port_of(program->address);
    const ZmtpStranger large(port, "DEALER");
    ASSERT_TRUE(large.well());
    (void)large.say(ZmtpStranger::part(std::string(std::size_t{2} << 20, 'x')));
    EXPECT_TRUE(test::eventually([&] { return large.ended(); }));
    std::deque<ZmtpStranger> connected;
    std::deque<TcpStranger> silent;
    for (int i = 0; i < 100; ++i) {
        connected.emplace_back(port, "DEALER");
        ASSERT_TRUE(connected.back().well());
        silent.emplace_back(port);
    }
    EXPECT_TRUE(program->ask("get").ok());
    ControlClient another(program->address);
    EXPECT_TRUE(another.ask("get").ok());
    EXPECT_TRUE(test::eventually(
        [&] { return std::all_of(silent.begin(), silent.end(), [](const auto& s) { return s.ended(); }); }));
    EXPECT_EQ(program->quit().status, 0);
}

TEST_F(ControlTest, AClientThatReadsNothingCostsTwoAnswers) {
    ControlledRun program({"synthetic:vessels?width=1600&height=1600&rate=2", "--backend", "cpu"}, here());
    const std::string process = test::newest_child();
    const auto first = program.ask("frame", {{"raw", true}});
    ASSERT_TRUE(first.ok()) << first.error();
    ASSERT_EQ(first.parts.size(), 2U);
    const double answer = static_cast<double>(first.parts[0].size() + first.parts[1].size()) / (1 << 20);
    for (int i = 0; i < 5; ++i) // memory that the program allocates once
        ASSERT_TRUE(program.ask("frame", {{"raw", true}}).ok());
    const double before = test::resident_mib(process);
    zmq::context_t context;
    zmq::socket_t sleeper(context, ZMQ_DEALER);
    sleeper.set(zmq::sockopt::linger, 0);
    sleeper.set(zmq::sockopt::rcvhwm, 1);
    sleeper.set(zmq::sockopt::rcvbuf, 4096);
    sleeper.connect("tcp" + program.address.substr(3));
    for (int i = 0; i < 40; ++i) {
        (void)sleeper.send(zmq::message_t(), zmq::send_flags::sndmore);
        (void)sleeper.send(zmq::str_buffer(R"({"request":"frame","raw":true})"), zmq::send_flags::none);
    }
    for (int i = 0; i < 80; ++i) // alternating with those of the other client
        ASSERT_TRUE(program.ask("get").ok());
    const double more = test::resident_mib(process) - before;
    std::cout << answer << " MiB an answer, " << more << " MiB more\n";
    EXPECT_LT(more, 5 * answer);
    EXPECT_EQ(program.quit().status, 0);
}

/// The umask belongs to the process, and other threads create files with it.
TEST(UnixSocket, IsItsOwnersAndLeavesTheMaskAlone) {
    const TemporaryFolder folder;
    const mode_t mask = ::umask(0022);
    std::atomic<bool> ends{false};
    std::thread listening([&] {
        for (int i = 0; i < 3000; ++i) {
            const int fd = listen_at(folder / "s");
            struct stat file {};
            EXPECT_EQ(::stat((folder / "s").c_str(), &file), 0);
            EXPECT_EQ(file.st_mode & 0777U, 0600U);
            ::close(fd);
        }
        ends = true;
    });
    while (!ends) {
        write_text(folder / "recording", "x");
        struct stat file {};
        EXPECT_EQ(::stat((folder / "recording").c_str(), &file), 0);
        EXPECT_EQ(file.st_mode & 0777U, 0644U);
        std::filesystem::remove(folder / "recording");
    }
    listening.join();
    ::umask(mask);
}

} // namespace specklescope::control_flood_test
