// What a program that answers requests keeps for clients that send without end or read nothing.
#include "net/control/unix_socket.hpp"
#include "tests/support/control_client.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/stranger.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iostream>
#include <system_error>
#include <thread>

namespace specklescope::control_flood_test {

using test::ControlClient;
using test::ControlledRun;
using test::ControlTest;
using test::TcpStranger;
using test::ZmtpStranger;

/// At a Unix socket, and without a word.
class UnixStranger {
public:
    explicit UnixStranger(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un to{};
        to.sun_family = AF_UNIX;
        path.copy(to.sun_path, sizeof to.sun_path - 1);
        if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) // NOLINT: the call's way
            throw std::runtime_error("nobody listens: " + std::generic_category().message(errno));
    }
    UnixStranger(const UnixStranger&) = delete;
    UnixStranger& operator=(const UnixStranger&) = delete;
    ~UnixStranger() { ::close(fd_); }
    bool ended() const {
        char some[256];
        ssize_t got = 1;
        while (got > 0)
            got = ::recv(fd_, some, sizeof some, MSG_DONTWAIT);
        return got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    }

private:
    int fd_;
};

TEST_F(ControlTest, PartsWithoutEndEndTheConnection) {
    auto program = run();
    const std::string process = test::newest_child();
    const double before = test::resident_mib(process);
    const ZmtpStranger stranger(test::port_of(program->address), "DEALER");
    ASSERT_TRUE(stranger.well());
    const std::string part = ZmtpStranger::part(std::string(std::size_t{1} << 20, 'x'), true);
    constexpr int kMost = 1000;
    int parts = 0;
    for (bool heard = true; heard && parts < kMost; ++parts)
        heard = stranger.say(part);
    EXPECT_LT(parts, kMost) << "all of it was taken";
    EXPECT_LT(test::resident_mib(process) - before, 500.0);
    std::cout << parts << " MiB, " << test::resident_mib(process) - before << " MiB kept\n";
    EXPECT_TRUE(program->ask("get").ok());
    EXPECT_EQ(program->quit().status, 0);
}

/// As large requests as there may be, a second and more of them, are heard all the same.
TEST_F(ControlTest, AClientThatAsksMuchStays) {
    auto program = run();
    const std::string large = R"({"request":"get","stage":")" + std::string(1'000'000, 'x') + "\"}";
    for (int i = 0; i < 30; ++i)
        ASSERT_TRUE(program->client->ask_text(large).json.is_object()) << i;
    EXPECT_TRUE(program->ask("get").ok());
    const ChildResult done = program->quit();
    EXPECT_EQ(done.err.find("was ended"), std::string::npos) << done.all();
}

TEST_F(ControlTest, AClientThatReadsNothingCostsTwoAnswers) {
    ControlledRun program({"synthetic:vessels?width=1600&height=1600&rate=2", "--backend", "cpu"}, here());
    const std::string process = test::newest_child();
    const auto first = program.ask("frame", {{"raw", true}});
    ASSERT_TRUE(first.ok()) << first.error();
    ASSERT_EQ(first.parts.size(), 2U);
    const double answer = static_cast<double>(first.parts[0].size() + first.parts[1].size()) / (1 << 20);
    for (int i = 0; i < 5; ++i) // what the program takes once
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
    for (int i = 0; i < 80; ++i) // one of it for one of the other's
        ASSERT_TRUE(program.ask("get").ok());
    const double more = test::resident_mib(process) - before;
    std::cout << answer << " MiB an answer, " << more << " MiB more\n";
    EXPECT_LT(more, 5 * answer);
    EXPECT_EQ(program.quit().status, 0);
}

TEST_F(ControlTest, ConnectionsAreBounded) {
    auto program = run();
    std::vector<std::unique_ptr<ZmtpStranger>> strangers;
    for (int i = 0; i < 100; ++i)
        strangers.push_back(
            std::make_unique<ZmtpStranger>(test::port_of(program->address), "DEALER", "127.0.0.2"));
    EXPECT_TRUE(test::eventually([&] {
        return std::count_if(strangers.begin(), strangers.end(), [](const auto& s) { return s->ended(); }) >=
               100 - 64;
    }));
    EXPECT_TRUE(program->ask("get").ok());
    EXPECT_EQ(program->quit().status, 0);
}

/// ZeroMQ aborts where there is no descriptor left for a connection to a Unix socket.
TEST_F(ControlTest, ConnectionsToAUnixSocketAreBounded) {
    const std::string path = folder_ / "flow.socket";
    ControlledRun program({test::kScene}, here(), "ipc://" + path,
                          {"bash", "-c", "ulimit -n 300; exec \"$0\" run \"$@\"", test::program_path()});
    ASSERT_TRUE(program.ask("get").ok());
    std::vector<std::unique_ptr<UnixStranger>> strangers;
    for (int chunk = 0; chunk < 10; ++chunk) {
        for (int i = 0; i < 40; ++i)
            strangers.push_back(std::make_unique<UnixStranger>(path));
        EXPECT_TRUE(test::eventually([&] {
            return std::count_if(strangers.begin(), strangers.end(),
                                 [](const auto& s) { return !s->ended(); }) <= 64;
        })) << chunk;
    }
    EXPECT_TRUE(program.ask("get").ok()) << "who came first stays";
    strangers.clear();
    EXPECT_TRUE(test::eventually([&] {
        ControlClient another(program.address);
        another.wait_no_longer_than(5000);
        return another.ask("get").ok();
    })) << "there is room again";
    EXPECT_EQ(program.quit().status, 0);
}

/// The mask belongs to the process, and other threads make files with it.
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
