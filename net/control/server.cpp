#include "net/control/server.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "have_zmq.hpp"
#include "net/address.hpp"
#include "net/control/pending.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>

#ifdef SPECKLESCOPE_HAVE_ZMQ
#include "net/zmq_socket.hpp"
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

/// Waits until one of them has a message, at most `most`.
void wait_for(zmq::socket_t& one, zmq::socket_t& other, std::chrono::milliseconds most) {
    zmq::pollitem_t items[] = {{one.handle(), 0, ZMQ_POLLIN, 0}, {other.handle(), 0, ZMQ_POLLIN, 0}};
    if (zmq_poll(items, 2, static_cast<long>(most.count())) < 0 && zmq_errno() != EINTR)
        throw zmq::error_t();
}

/// A message, parsed as REP would.
struct Received {
    Envelope from;
    std::optional<zmq::message_t> request{};
    bool whole = true; ///< the request has one part
};

Received receive(zmq::socket_t& socket, zmq::message_t part) {
    constexpr std::size_t kMostParts = 4, kMostBytes = 255; // of an envelope, also from brokers
    Received received;
    bool opened = false; // the request follows
    while (true) {
        if (received.request)
            received.whole = false;
        else if (opened)
            received.request = std::move(part);
        else if (received.from.size() < kMostParts && part.size() <= kMostBytes)
            received.from.push_back(part.to_string());
        opened = opened || (received.from.size() > 1 && received.from.back().empty());
        if (!socket.get(zmq::sockopt::rcvmore))
            return received;
        part = zmq::message_t();
        (void)socket.recv(part, zmq::recv_flags::none);
    }
}

} // namespace

class ControlServer::Impl {
public:
    Impl(const std::string& text, ControlReader read, void (*wake)(), std::shared_ptr<const CurveKeys> keys)
        : asked_(parse_listen_address(text, kControlSyntax)), read_(std::move(read)), wake_(wake),
          guard_(context_, std::move(keys)), socket_(context_, ZMQ_ROUTER), heard_(context_, ZMQ_PAIR),
          tells_(context_, ZMQ_PAIR) {
        guard_.guard(socket_);
        constexpr int kMostUnread = 8; // messages of one client
        socket_.set(zmq::sockopt::rcvhwm, kMostUnread);
        socket_.set(zmq::sockopt::sndhwm, 1);              // answers, which may contain images
        socket_.set(zmq::sockopt::router_mandatory, true); // report dropped answers
        socket_.set(zmq::sockopt::linger, 500); // ms; the maximum delay at the end if a client does not read
        socket_.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(kMostBytes));
        end_silent_connections(socket_);
        socket_.set(zmq::sockopt::ipv6, asked_.host.starts_with('['));
        bind(text);
        file_.emplace(asked_.path);
        constexpr const char* kNews = "inproc://news";
        heard_.set(zmq::sockopt::linger, 0);
        tells_.set(zmq::sockopt::linger, 0);
        heard_.bind(kNews);
        tells_.connect(kNews);
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
    ~Impl() { close(); }

    void close() {
        if (!thread_.joinable())
            return;
        closing_ = true;
        tell();
        thread_.join();
    }

    const std::string& address() const { return address_; }
    ControlCounts counts() const { return clients_.counts(); }

    std::size_t poll(const ControlTurn& turn) {
        const std::size_t answered = pending_.poll(turn, [this] { tell(); });
        if (wake_ && pending_.left()) // the turn was over
            wake_();
        return answered;
    }

    void wait(std::chrono::milliseconds most) { pending_.wait(most); }

private:
    void bind(const std::string& text) {
        try {
            if (!asked_.path.empty())
                socket_.set(zmq::sockopt::use_fd, listen_at(asked_.path));
            socket_.bind(asked_.endpoint());
        } catch (const zmq::error_t& error) {
            throw RunError("Requests cannot be accepted at " + text + ": " + error.what() +
                           ". Name another address, or end the program that uses it.");
        }
    }

    /// On the main thread: wakes the server's thread.
    void tell() { (void)tells_.send(zmq::message_t(), zmq::send_flags::dontwait); }

    /// Throws nothing.
    void run() {
        try {
            constexpr std::chrono::milliseconds kLook(1000);
            constexpr int kAtOnce = 16; // maximum before answers are sent
            while (!closing_) {
                wait_for(socket_, heard_, kLook);
                for (zmq::message_t news; heard_.recv(news, zmq::recv_flags::dontwait);) {
                }
                for (const PendingRequests::Answered& one : pending_.take_answered())
                    send(one.to, one.reply);
                for (int i = 0; i < kAtOnce && take_one(); ++i) {
                }
            }
            for (const PendingRequests::Answered& one : pending_.take_answered())
                send(one.to, one.reply);
            const ControlReply ends{control_refusal(RunError("The program is ending. Start it again."))};
            for (const Envelope& to : pending_.asking())
                send(to, ends);
        } catch (const std::exception& error) {
            run_log().error("Requests at {} are not answered any more. {}", address_, sentence_of(error));
        }
    }

    bool take_one() {
        zmq::message_t part;
        if (!socket_.recv(part, zmq::recv_flags::dontwait))
            return false;
        Received received = receive(socket_, std::move(part));
        if (!received.request)
            return true;
        clients_.asked(received.from.front(), zmq_msg_gets(received.request->handle(), "Peer-Address"));
        try {
            if (!received.whole)
                throw UsageError("A request must have one part. Send one JSON object.");
            if (pending_.put(received.from, read_(received.request->to_string_view())) && wake_)
                wake_();
        } catch (const std::exception& error) {
            send(received.from, {control_refusal(error)});
        }
        return true;
    }

    void send(const Envelope& to, const ControlReply& reply) {
        // ZeroMQ drops messages for a client that has not read enough, and only sometimes checks what it has
        // read. This call makes it check.
        (void)socket_.get(zmq::sockopt::events);
        std::vector<zmq::message_t> parts;
        try {
            parts.emplace_back(reply.text);
            for (const Frame& frame : reply.frames)
                parts.push_back(pixels_of(frame));
        } catch (const std::exception& error) { // no memory
            parts.clear();
            parts.emplace_back(control_refusal(error));
        }
        clients_.answered(to.front(), taken(to, parts));
    }

    /// True if the connection accepted the message. The first part, the client's name, fails if there is no
    /// space or no such client; the other parts follow it.
    bool taken(const Envelope& to, std::vector<zmq::message_t>& parts) {
        constexpr auto kMore = zmq::send_flags::dontwait | zmq::send_flags::sndmore;
        try {
            for (const std::string& part : to)
                if (!socket_.send(zmq::buffer(part), kMore))
                    return false;
        } catch (const zmq::error_t& error) {
            if (error.num() != EHOSTUNREACH)
                throw;
            return false;
        }
        for (std::size_t i = 0; i < parts.size(); ++i)
            (void)socket_.send(parts[i], i + 1 < parts.size() ? kMore : zmq::send_flags::dontwait);
        return true;
    }

    const ListenAddress asked_;
    const ControlReader read_;
    void (*const wake_)();
    zmq::context_t context_;
    const CurveGuard guard_;
    zmq::socket_t socket_, heard_; ///< used by the thread, once it runs
    zmq::socket_t tells_;          ///< used by the main thread: connected to heard_
    std::optional<BoundSocketFile> file_;
    std::string address_;
    PendingRequests pending_;
    ControlClients clients_;
    std::atomic<bool> closing_{false};
    std::thread thread_;
};

#else

class ControlServer::Impl {
public:
    Impl(const std::string& text, const ControlReader&, void (*)(), const std::shared_ptr<const CurveKeys>&) {
        (void)parse_listen_address(text, kControlSyntax);
        throw RunError("Requests are not available: built without ZeroMQ. Install libzmq3-dev and "
                       "cppzmq-dev, and build again.");
    }
    const std::string& address() const { return address_; }
    std::size_t poll(ControlTurn) { return 0; }
    void wait(std::chrono::milliseconds) {}
    ControlCounts counts() const { return {}; }
    void close() {}

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
ControlCounts ControlServer::counts() const { return impl_->counts(); }
void ControlServer::close() { impl_->close(); }

} // namespace specklescope
