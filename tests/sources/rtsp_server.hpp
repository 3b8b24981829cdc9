// A minimal RTSP server: one session on 127.0.0.1, JPEG over RTP over UDP (RFC 2326, RFC 2435).
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>

namespace specklescope::test {

/// Serves on a free port from its own thread; after PLAY a gst-launch-1.0 process sends the RTP packets.
class RtspServer {
public:
    explicit RtspServer(std::string pipeline) : pipeline_(std::move(pipeline)) {
        listener_ = socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (listener_ < 0 || bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
            listen(listener_, 4) != 0 ||
            getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
            throw std::runtime_error("no port on the loopback");
        port_ = ntohs(address.sin_port);
        thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
    }
    ~RtspServer() {
        thread_.request_stop();
        thread_.join();
        stop_sending();
        close(listener_);
    }
    RtspServer(const RtspServer&) = delete;
    RtspServer& operator=(const RtspServer&) = delete;

    std::string url() const { return "rtsp://127.0.0.1:" + std::to_string(port_) + "/camera"; }

private:
    static bool readable(int socket) {
        pollfd wait{socket, POLLIN, 0};
        return poll(&wait, 1, 100) > 0;
    }

    void serve(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            if (!readable(listener_))
                continue;
            const int client = accept(listener_, nullptr, nullptr);
            std::string text;
            while (!stop.stop_requested()) {
                if (!readable(client))
                    continue;
                char bytes[2048];
                const ssize_t got = recv(client, bytes, sizeof bytes, 0);
                if (got <= 0)
                    break;
                text.append(bytes, static_cast<std::size_t>(got));
                for (std::size_t end = text.find("\r\n\r\n"); end != std::string::npos;
                     end = text.find("\r\n\r\n")) {
                    answer(client, text.substr(0, end));
                    text.erase(0, end + 4);
                }
            }
            close(client);
        }
    }

    static std::string header(const std::string& request, const std::string& name) {
        const std::size_t at = request.find("\r\n" + name + ":");
        if (at == std::string::npos)
            return {};
        const std::size_t start = at + name.size() + 3;
        return request.substr(start, request.find("\r\n", start) - start);
    }

    void answer(int client, const std::string& request) {
        const std::string method = request.substr(0, request.find(' '));
        std::string headers;
        std::string body;
        if (method == "OPTIONS")
            headers = "Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN, GET_PARAMETER\r\n";
        if (method == "DESCRIBE") {
            body = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=test\r\nt=0 0\r\nc=IN IP4 127.0.0.1\r\n"
                   "m=video 0 RTP/AVP 26\r\na=control:stream=0\r\n";
            headers = "Content-Type: application/sdp\r\nContent-Base: " + url() + "/\r\n";
        }
        if (method == "SETUP") {
            const std::string transport = header(request, "Transport");
            client_port_ = std::stoi(transport.substr(transport.find("client_port=") + 12));
            const std::string ports = std::to_string(client_port_) + "-" + std::to_string(client_port_ + 1);
            headers = "Transport: RTP/AVP;unicast;client_port=" + ports + "\r\nSession: 1;timeout=60\r\n";
        }
        if (method == "PLAY") {
            headers = "Session: 1\r\n";
            start_sending();
        }
        const std::string reply = "RTSP/1.0 200 OK\r\nCSeq:" + header(request, "CSeq") + "\r\n" + headers +
                                  "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
        (void)!send(client, reply.data(), reply.size(), MSG_NOSIGNAL);
        if (method == "TEARDOWN")
            stop_sending();
    }

    void start_sending() {
        const std::string command =
            "exec gst-launch-1.0 -q " + pipeline_ + " ! jpegenc ! rtpjpegpay pt=26 ! udpsink " +
            "host=127.0.0.1 port=" + std::to_string(client_port_) + " >/dev/null 2>&1";
        sender_ = fork();
        if (sender_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); // a killed test must leave no process
            execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
            _exit(127);
        }
    }

    void stop_sending() {
        if (sender_ <= 0)
            return;
        kill(sender_, SIGTERM);
        waitpid(sender_, nullptr, 0);
        sender_ = 0;
    }

    std::string pipeline_;
    int listener_ = -1;
    int port_ = 0;
    int client_port_ = 0;
    pid_t sender_ = 0;
    std::jthread thread_;
};

} // namespace specklescope::test
