// An arbitrary TCP client for unexpected input.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace specklescope::test {

/// The port of "zmq://127.0.0.1:5556".
inline int port_of(const std::string& address) { return std::stoi(address.substr(address.rfind(':') + 1)); }

class TcpStranger {
public:
    explicit TcpStranger(int port, const char* from = "127.0.0.1")
        : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const timeval most{.tv_sec = 20, .tv_usec = 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
        ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
        const sockaddr_in here = place(from, 0), there = place("127.0.0.1", port);
        connected_ = ::bind(fd_, reinterpret_cast<const sockaddr*>(&here), sizeof here) == 0 &&
                     ::connect(fd_, reinterpret_cast<const sockaddr*>(&there), sizeof there) == 0;
    }
    TcpStranger(const TcpStranger&) = delete;
    TcpStranger& operator=(const TcpStranger&) = delete;
    ~TcpStranger() { ::close(fd_); }

    bool connected() const { return connected_; }
    /// False: the connection was closed.
    bool say(std::string_view bytes) const {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0)
                return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }
    /// Reads this number of bytes; fewer on a timeout.
    std::string hear(std::size_t bytes) const {
        std::string text(bytes, '\0');
        const ssize_t got = ::recv(fd_, text.data(), bytes, MSG_WAITALL);
        text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        return text;
    }
    /// True if the other side has closed the connection. Discards earlier data.
    bool ended() const {
        char some[4096];
        while (true) {
            const ssize_t got = ::recv(fd_, some, sizeof some, MSG_DONTWAIT);
            if (got <= 0)
                return got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
        }
    }

private:
    static sockaddr_in place(const char* host, int port) {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(static_cast<std::uint16_t>(port));
        ::inet_pton(AF_INET, host, &at.sin_addr);
        return at;
    }
    int fd_;
    bool connected_ = false;
};

/// Speaks ZMTP 3.0 as a socket of the type, with a valid greeting.
class ZmtpStranger : public TcpStranger {
public:
    ZmtpStranger(int port, const std::string& type, const char* from = "127.0.0.1")
        : TcpStranger(port, from) {
        using namespace std::string_literals;
        const std::string ready = "\5READY\13Socket-Type\0\0\0"s + static_cast<char>(type.size()) + type;
        well_ = say("\xff\0\0\0\0\0\0\0\0\x7f\3\0NULL"s + std::string(48, '\0')) && hear(64).size() == 64 &&
                say("\4"s + static_cast<char>(ready.size()) + ready);
        const std::string its = hear(2);
        well_ = well_ && its.size() == 2 && !hear(static_cast<unsigned char>(its[1])).empty();
    }
    bool well() const { return well_; }
    /// One part of a message.
    static std::string part(std::string_view bytes, bool more = false) {
        const bool is_long = bytes.size() > 255;
        std::string text(1, static_cast<char>((is_long ? 2 : 0) | (more ? 1 : 0)));
        for (int shift = is_long ? 56 : 0; shift >= 0; shift -= 8)
            text += static_cast<char>(bytes.size() >> static_cast<unsigned>(shift));
        return text.append(bytes);
    }

private:
    bool well_ = false;
};

} // namespace specklescope::test
