// A live camera that a test holds still: small grey frames as datagrams.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace specklescope {

class DatagramCamera {
public:
    static constexpr int kWidth = 48, kHeight = 24, kRate = 20;

    DatagramCamera() {
        const int probe = ::socket(AF_INET, SOCK_DGRAM, 0); // a free port
        address_.sin_family = AF_INET;
        address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ::bind(probe, reinterpret_cast<const sockaddr*>(&address_), sizeof address_);
        socklen_t size = sizeof address_;
        ::getsockname(probe, reinterpret_cast<sockaddr*>(&address_), &size);
        ::close(probe);
        sender_ = std::thread([this] { send(); });
    }
    DatagramCamera(const DatagramCamera&) = delete;
    DatagramCamera& operator=(const DatagramCamera&) = delete;
    ~DatagramCamera() {
        stop_ = true;
        sender_.join();
    }
    /// SOURCE argument.
    std::string source() const {
        return "gst:udpsrc address=127.0.0.1 port=" + std::to_string(ntohs(address_.sin_port)) +
               " ! rawvideoparse width=" + std::to_string(kWidth) + " height=" + std::to_string(kHeight) +
               " format=gray8 framerate=" + std::to_string(kRate) + "/1";
    }
    std::atomic<bool> silent{false};
    std::atomic<int> saturated{0}; ///< % of the pixels

private:
    void send() {
        const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
        std::string frame(std::size_t{kWidth} * kHeight, '\0');
        for (unsigned n = 0; !stop_; ++n) {
            for (std::size_t i = 0; i < frame.size(); ++i)
                frame[i] = static_cast<char>(i * 100 < static_cast<std::size_t>(saturated) * frame.size()
                                                 ? 255
                                                 : 40 + (i * 7919 + n * 104729) % 150);
            if (!silent)
                ::sendto(socket, frame.data(), frame.size(), 0, reinterpret_cast<const sockaddr*>(&address_),
                         sizeof address_);
            std::this_thread::sleep_for(std::chrono::milliseconds(1000 / kRate));
        }
        ::close(socket);
    }
    sockaddr_in address_{};
    std::atomic<bool> stop_{false};
    std::thread sender_;
};

} // namespace specklescope
