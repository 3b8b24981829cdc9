#include "bench/stalled.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace specklescope::bench {

namespace {

sockaddr_in here(int port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(static_cast<std::uint16_t>(port));
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
}

/// One part of a message of ZMTP 3, which ZeroMQ speaks (rfc.zeromq.org/spec/23), of at most 255 bytes.
std::string part(const std::string& bytes, char flags = 0) {
    return std::string(1, flags) + static_cast<char>(bytes.size()) + bytes;
}

/// How a socket of this type begins.
std::string greeting(const std::string& type) {
    constexpr char kCommand = 4;
    std::string text("\xff\0\0\0\0\0\0\0\0\x7f\3\0NULL", 16);
    text.resize(64);
    return text + part(std::string("\5READY\13Socket-Type\0\0\0", 21) + static_cast<char>(type.size()) + type,
                       kCommand);
}

std::unique_ptr<Stalled> subscriber(int port) {
    auto made = std::make_unique<Stalled>(port);
    made->say(greeting("SUB") + part("\1"));
    return made;
}

std::unique_ptr<Stalled> asker(int port) {
    constexpr int kRequests = 200;
    constexpr char kMore = 1;
    auto made = std::make_unique<Stalled>(port);
    made->say(greeting("DEALER"));
    for (int i = 0; i < kRequests; ++i)
        made->say(part("", kMore) + part(R"({"request":"frame","raw":true})"));
    return made;
}

std::unique_ptr<Stalled> scraper(int port) {
    constexpr int kRequests = 100;
    auto made = std::make_unique<Stalled>(port);
    for (int i = 0; i < kRequests; ++i)
        made->say("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    return made;
}

std::unique_ptr<Stalled> watcher(int port) {
    auto made = std::make_unique<Stalled>(port);
    const std::string url = "rtsp://127.0.0.1:" + std::to_string(port) + "/flow";
    made->say("DESCRIBE " + url + " RTSP/1.0\r\nCSeq: 1\r\nAccept: application/sdp\r\n\r\n");
    (void)made->answer();
    made->say("SETUP " + url +
              "/stream=0 RTSP/1.0\r\nCSeq: 2\r\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n\r\n");
    const std::string set_up = made->answer(), key = "Session: ";
    const std::size_t at = set_up.find(key);
    if (at == std::string::npos)
        throw RunError("The program serves no pictures: " + one_line(set_up) + ".");
    const std::size_t begin = at + key.size();
    const std::string session = set_up.substr(begin, set_up.find_first_of(";\r", begin) - begin);
    made->say("PLAY " + url + " RTSP/1.0\r\nCSeq: 3\r\nSession: " + session + "\r\n\r\n");
    return made;
}

} // namespace

Stalled::Stalled(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (fd_ < 0)
        throw RunError("There is no socket to be had: " + std::generic_category().message(errno) + ".");
    const int few = 4096;
    const timeval most{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &few, sizeof few);
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    const sockaddr_in to = here(port);
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
        ::close(fd_);
        throw RunError("Nobody listens at port " + std::to_string(port) + ".");
    }
}

Stalled::~Stalled() { ::close(fd_); }

void Stalled::say(const std::string& bytes) const {
    if (::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size()))
        throw RunError("A door of the program ended the connection.");
}

std::string Stalled::answer() const {
    std::string text;
    char c = 0;
    while (!text.ends_with("\r\n\r\n") && ::read(fd_, &c, 1) == 1)
        text += c;
    const std::string key = "Content-Length: ";
    if (const std::size_t at = text.find(key); at != std::string::npos)
        for (int left = std::stoi(text.substr(at + key.size())); left > 0 && ::read(fd_, &c, 1) == 1; --left)
            text += c;
    return text;
}

long Stalled::unread() const {
    int bytes = 0;
    return ::ioctl(fd_, FIONREAD, &bytes) == 0 ? bytes : 0;
}

DoorPorts free_ports(bool metrics, bool serve) {
    std::array<int, 4> fds{}, ports{};
    for (std::size_t i = 0; i < fds.size(); ++i) { // all at once: four different ones
        fds[i] = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in at = here(0);
        socklen_t size = sizeof at;
        if (::bind(fds[i], reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 &&
            ::getsockname(fds[i], reinterpret_cast<sockaddr*>(&at), &size) == 0)
            ports[i] = ntohs(at.sin_port);
    }
    for (const int fd : fds)
        ::close(fd);
    if (std::find(ports.begin(), ports.end(), 0) != ports.end())
        throw RunError("This machine has no free ports for the doors of the program.");
    return {ports[0], ports[1], metrics ? ports[2] : 0, serve ? ports[3] : 0};
}

std::vector<std::unique_ptr<Stalled>> stalled_clients(const DoorPorts& ports) {
    std::vector<std::unique_ptr<Stalled>> all;
    if (ports.publish > 0)
        all.push_back(subscriber(ports.publish));
    if (ports.control > 0)
        all.push_back(asker(ports.control));
    if (ports.metrics > 0)
        all.push_back(scraper(ports.metrics));
    if (ports.serve > 0)
        all.push_back(watcher(ports.serve));
    return all;
}

} // namespace specklescope::bench
