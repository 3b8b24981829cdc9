#include "net/control/server.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/sentence.hpp"
#include "have_zmq.hpp"
#include "net/address.hpp"
#include "net/control/unix_socket.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <unistd.h>

#ifdef SPECKLESCOPE_HAVE_ZMQ
#include "net/connection_watch.hpp"
#include "net/curve_guard.hpp"
#include "net/readable.hpp"
#endif

namespace specklescope {

std::string control_refusal(const std::exception& error) {
    const bool usage = dynamic_cast<const UsageError*>(&error) != nullptr;
    const nlohmann::ordered_json json = {
        {"ok", false}, {"kind", usage ? "usage" : "run"}, {"error", one_line(sentence_of(error))}};
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

#ifdef SPECKLESCOPE_HAVE_ZMQ

namespace {

zmq::message_t pixels_of(const Frame& frame) {
    const ConstHostView pixels = frame.host();
    const std::size_t bytes = pixels.shape.row_bytes();
    zmq::message_t message(pixels.shape.bytes());
    for (int y = 0; y < pixels.shape.height; ++y)
        std::copy_n(pixels.row(y), bytes, message.data<std::byte>() + static_cast<std::size_t>(y) * bytes);
    return message;
}

} // namespace

class ControlServer::Impl {
public:
    Impl(const std::string& text, ControlReader read, void (*wake)(), std::shared_ptr<const CurveKeys> keys)
        : asked_(parse_listen_address(text, kControlSyntax)), read_(std::move(read)), wake_(wake),
          guard_(context_, std::move(keys)), socket_(context_, ZMQ_REP), watch_(context_, kStrangers) {
        guard_.guard(socket_);
        watch_.watch(socket_, "--control");
        constexpr int kMostWaiting = 8; // messages of one client
        socket_.set(zmq::sockopt::rcvhwm, kMostWaiting);
        socket_.set(zmq::sockopt::sndhwm, 1);   // answers, which may have pictures with them
        socket_.set(zmq::sockopt::linger, 500); // ms; somebody who does not read holds up no end
        socket_.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(kMostBytes));
        socket_.set(zmq::sockopt::handshake_ivl, 5000); // ms
        socket_.set(zmq::sockopt::ipv6, asked_.host.starts_with('['));
        bind(text);
        address_ = asked_.shown(kControlSyntax.scheme, socket_.get(zmq::sockopt::last_endpoint));
        if (!guard_)
            warn_if_open(
                asked_, address_,
                "who does so sees and changes all that the program does, and can keep it busy, unencrypted");
        run_log().info("Requests are answered at {}.", address_);
        thread_ = std::thread([this] { run(); });
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() {
        {
            const std::scoped_lock lock(mutex_);
            closing_ = true;
        }
        changed_.notify_all();
        thread_.join();
        if (!asked_.path.empty())
            ::unlink(asked_.path.c_str()); // ZeroMQ leaves it
    }

    const std::string& address() const { return address_; }

    std::size_t poll(ControlTurn turn) {
        const auto end = std::chrono::steady_clock::now() + turn.most;
        std::size_t answered = 0;
        for (bool stays = true; stays && has_work(std::min(turn.next, turn.most), answered > 0); ++answered) {
            // While there is work the server's thread only waits: nobody else touches it.
            std::optional<ControlReply> reply;
            try {
                reply = work_();
            } catch (const std::exception& error) {
                reply = ControlReply{control_refusal(error)};
            }
            if (!reply)
                break;
            stays = std::chrono::steady_clock::now() < end;
            {
                const std::scoped_lock lock(mutex_);
                work_ = nullptr;
                reply_ = std::move(reply);
                attended_ = stays;
            }
            changed_.notify_all();
        }
        return answered;
    }

    void wait(std::chrono::milliseconds most) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, most, [this] { return fresh_; });
    }

private:
    /// A message may have parts without end, each as large as is allowed: ZeroMQ has no limit for that.
    static constexpr ConnectionLimits kStrangers{
        .most = 64, .each = 16 * kMostBytes, .total = 64 * kMostBytes};

    void bind(const std::string& text) {
        try {
            if (!asked_.path.empty())
                socket_.set(zmq::sockopt::use_fd, listen_at(asked_.path));
            socket_.bind(asked_.endpoint());
        } catch (const zmq::error_t& error) {
            throw RunError("Requests cannot be answered at " + text + ": " + error.what() +
                           "; name another place, or end the program that has it.");
        }
    }

    /// Behind an answer another request may be on its way.
    bool has_work(std::chrono::microseconds most, bool waits) {
        std::unique_lock lock(mutex_);
        if (waits)
            changed_.wait_for(lock, most, [this] { return work_ != nullptr; });
        attended_ = false;
        fresh_ = false;
        return work_ != nullptr;
    }

    bool closing() const {
        const std::scoped_lock lock(mutex_);
        return closing_;
    }

    /// Nothing leaves the thread.
    void run() {
        try {
            constexpr std::chrono::milliseconds kLook(20); // whether the program ends
            while (!closing()) {
                if (readable(socket_, kLook))
                    answer_one();
            }
        } catch (const std::exception& error) {
            run_log().error("Requests at {} are not answered any more. {}", address_, sentence_of(error));
        }
    }

    void answer_one() {
        zmq::message_t request;
        if (!socket_.recv(request, zmq::recv_flags::dontwait))
            return;
        watch_.heard(request);
        bool whole = true;
        for (zmq::message_t rest; socket_.get(zmq::sockopt::rcvmore);) {
            whole = false;
            (void)socket_.recv(rest, zmq::recv_flags::none);
        }
        std::vector<zmq::message_t> parts;
        try {
            if (!whole)
                throw UsageError("A request of several parts is not understood; send one JSON object.");
            const ControlReply reply = carried_out(read_(request.to_string_view()));
            parts.emplace_back(reply.text);
            for (const Frame& frame : reply.frames)
                parts.push_back(pixels_of(frame));
        } catch (const std::exception& error) {
            parts.clear();
            parts.emplace_back(control_refusal(error));
        }
        for (std::size_t i = 0; i < parts.size(); ++i)
            (void)socket_.send(parts[i],
                               zmq::send_flags::dontwait |
                                   (i + 1 < parts.size() ? zmq::send_flags::sndmore : zmq::send_flags::none));
    }

    ControlReply carried_out(ControlWork work) {
        std::unique_lock lock(mutex_);
        work_ = std::move(work);
        reply_.reset();
        fresh_ = true;
        const bool wakes = wake_ && !attended_;
        lock.unlock();
        changed_.notify_all();
        if (wakes)
            wake_();
        lock.lock();
        changed_.wait(lock, [this] { return reply_ || closing_; });
        if (!reply_)
            throw RunError("The program is ending; start it again.");
        return std::move(*reply_);
    }

    const ListenAddress asked_;
    const ControlReader read_;
    void (*const wake_)();
    zmq::context_t context_;
    const CurveGuard guard_;
    zmq::socket_t socket_; ///< the thread's, once it runs
    ConnectionWatch watch_;
    std::string address_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    ControlWork work_;
    std::optional<ControlReply> reply_;
    bool fresh_ = false;    ///< the main thread has not looked at the work yet
    bool attended_ = false; ///< it waits for the next
    bool closing_ = false;
    std::thread thread_;
};

#else

class ControlServer::Impl {
public:
    Impl(const std::string& text, const ControlReader&, void (*)(), const std::shared_ptr<const CurveKeys>&) {
        (void)parse_listen_address(text, kControlSyntax);
        throw RunError("This build answers no requests: it was made without ZeroMQ; install libzmq3-dev and "
                       "cppzmq-dev, and build it again.");
    }
    const std::string& address() const { return address_; }
    std::size_t poll(ControlTurn) { return 0; }
    void wait(std::chrono::milliseconds) {}

private:
    std::string address_;
};

#endif

ControlServer::ControlServer(const std::string& address, ControlReader read, void (*wake)(),
                             std::shared_ptr<const CurveKeys> keys)
    : impl_(std::make_unique<Impl>(address, std::move(read), wake, std::move(keys))) {}
ControlServer::~ControlServer() = default;
std::string ControlServer::address() const { return impl_->address(); }
std::size_t ControlServer::poll(ControlTurn turn) { return impl_->poll(turn); }
void ControlServer::wait(std::chrono::milliseconds most) { impl_->wait(most); }

} // namespace specklescope
