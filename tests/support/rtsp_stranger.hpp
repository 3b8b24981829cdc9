// An arbitrary client at the RTSP port.
#pragma once

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

namespace specklescope::test {

/// A minimal RTSP client, which reads only on request.
class RtspStranger {
public:
    explicit RtspStranger(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const int few = 4096;
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &few, sizeof few);
        const timeval most{.tv_sec = 20, .tv_usec = 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(static_cast<std::uint16_t>(port));
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        // A client above the limit may be disconnected before this call returns.
        if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) !=
                0 && // NOLINT: the call's way
            errno != ECONNRESET)
            throw std::runtime_error("nobody listens: " + std::generic_category().message(errno));
    }
    RtspStranger(const RtspStranger&) = delete;
    RtspStranger& operator=(const RtspStranger&) = delete;
    ~RtspStranger() { ::close(fd_); }
    /// False: the connection was closed.
    bool say(const std::string& text) const {
        return ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
    }
    /// Discards earlier data.
    bool ended() const {
        char some[4096];
        ssize_t got = 1;
        while (got > 0)
            got = ::recv(fd_, some, sizeof some, MSG_DONTWAIT);
        return got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    }
    /// Reads up to an empty line, and the body of the length in the header.
    std::string answer() const {
        std::string text;
        char c = 0;
        while (!text.ends_with("\r\n\r\n") && ::read(fd_, &c, 1) == 1)
            text += c;
        if (const std::size_t at = text.find("Content-Length: "); at != std::string::npos)
            for (int left = std::stoi(text.substr(at + 16)); left > 0 && ::read(fd_, &c, 1) == 1; --left)
                text += c;
        return text;
    }
    /// Requests the stream over this connection, without reading it.
    void play(const std::string& address) const {
        say("DESCRIBE " + address + " RTSP/1.0\r\nCSeq: 1\r\nAccept: application/sdp\r\n\r\n");
        EXPECT_NE(answer().find("200 OK"), std::string::npos);
        say("SETUP " + address +
            "/stream=0 RTSP/1.0\r\nCSeq: 2\r\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n\r\n");
        const std::string set_up = answer();
        const std::size_t at = set_up.find("Session: ");
        ASSERT_NE(at, std::string::npos) << set_up;
        const std::string session = set_up.substr(at + 9, set_up.find_first_of(";\r", at) - at - 9);
        say("PLAY " + address + " RTSP/1.0\r\nCSeq: 3\r\nSession: " + session + "\r\n\r\n");
    }

private:
    int fd_;
};

/// Bytes in connections to this port of the machine that its program has not read yet.
inline std::uint64_t unread_at(int port) {
    std::ifstream connections("/proc/net/tcp");
    std::string line;
    std::getline(connections, line);
    std::uint64_t bytes = 0;
    while (std::getline(connections, line)) {
        unsigned address = 0, local = 0, to = 0, remote = 0, state = 0;
        unsigned long unsent = 0, unread = 0;
        if (std::sscanf(line.c_str(), "%*u: %8X:%4X %8X:%4X %2X %8lX:%8lX", // NOLINT: the kernel's table
                        &address, &local, &to, &remote, &state, &unsent, &unread) == 7 &&
            static_cast<int>(local) == port && state == 1)
            bytes += unread;
    }
    return bytes;
}

} // namespace specklescope::test
