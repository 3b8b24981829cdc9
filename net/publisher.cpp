#include "net/publisher.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "have_zmq.hpp"
#include "net/address.hpp"
#include "net/messages.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#ifdef SPECKLESCOPE_HAVE_ZMQ
#include "net/curve_guard.hpp"
#include "net/readable.hpp"
#endif

namespace specklescope {

#ifdef SPECKLESCOPE_HAVE_ZMQ

class Publisher::Impl {
public:
    Impl(const std::string& text, std::shared_ptr<const CurveKeys> keys)
        : asked_(parse_listen_address(text, kPublishSyntax)), guard_(context_, std::move(keys)),
          socket_(context_, ZMQ_XPUB) {
        guard_.guard(socket_);
        constexpr int kMost = 1000; // messages queued for one subscriber
        socket_.set(zmq::sockopt::sndhwm, kMost);
        socket_.set(zmq::sockopt::linger,
                    500); // ms; a subscriber that does not read delays the end no longer
        socket_.set(zmq::sockopt::xpub_verbose, 1); // report every subscription, including duplicates
        socket_.set(zmq::sockopt::rcvhwm, kMostAtOnce);
        end_silent_connections(socket_);
        constexpr std::int64_t kHandshake = 4096; // longest message of a CURVE handshake, in bytes
        socket_.set(zmq::sockopt::maxmsgsize,     // incoming messages are subscriptions
                    guard_ ? kHandshake : kMostTopic + 1);
        socket_.set(zmq::sockopt::ipv6, asked_.host.starts_with('['));
        try {
            socket_.bind(asked_.endpoint());
        } catch (const zmq::error_t& error) {
            throw RunError("Results cannot be published at " + text + ": " + error.what() +
                           "; name another port, or end the program that has it.");
        }
        address_ = asked_.shown(kPublishSyntax.scheme, socket_.get(zmq::sockopt::last_endpoint));
        if (!guard_)
            warn_if_open(asked_, address_,
                         "results go out unencrypted, and whoever comes can slow them down");
        run_log().info("Results are published at {}.", address_);
        thread_ = std::thread([this] { run(); });
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() {
        {
            const std::scoped_lock lock(mutex_);
            closing_ = true;
        }
        work_.notify_all();
        room_.notify_all();
        thread_.join();
    }

    const std::string& address() const { return address_; }
    SinkStatus status() const {
        const std::scoped_lock lock(mutex_);
        return status_;
    }

    void begin(const StreamInfo& stream) {
        const std::scoped_lock lock(mutex_);
        queue_.emplace_back(stream);
        work_.notify_all();
    }
    /// False: it is dropped.
    bool frame(const Result& result, bool may_wait) {
        Item item = without_pixels(result);
        std::unique_lock lock(mutex_);
        if (may_wait) // of a file; but whatever happens on the socket, the run goes on
            room_.wait_for(lock, kLongestWait, [this] { return queue_.size() < kMostWaiting || stopped(); });
        if (queue_.size() >= kMostWaiting || stopped()) {
            ++status_.dropped;
            return false;
        }
        queue_.push_back(std::move(item));
        ++status_.queued;
        work_.notify_all();
        return true;
    }
    /// When all is sent that was pushed, or it takes too long: then what is left is dropped.
    SinkStatus drained() {
        std::unique_lock lock(mutex_);
        room_.wait_for(lock, kLongestWait, [this] { return status_.queued == 0 || stopped(); });
        SinkStatus status = status_;
        status.dropped += std::exchange(status.queued, 0);
        return status;
    }
    void event(const EventMark& event) {
        const std::scoped_lock lock(mutex_);
        if (stopped())
            return;
        queue_.emplace_back(event);
        work_.notify_all();
    }

private:
    using Item = std::variant<StreamInfo, Result, EventMark>;
    static constexpr std::size_t kMostWaiting = 4096;
    static constexpr std::chrono::seconds kLongestWait{2};
    static constexpr std::int64_t kMostTopic = 64; ///< bytes
    static constexpr int kMostAtOnce = 256;        ///< subscriptions between two looks at the queue

    bool stopped() const { return closing_ || !status_.error.empty(); } // under the mutex

    /// Nothing leaves the thread.
    void run() {
        while (true) {
            std::deque<Item> items;
            bool closing = false;
            {
                std::unique_lock lock(mutex_);
                // Subscriptions come on the socket, which belongs to this thread: looked for now and then.
                work_.wait_for(lock, std::chrono::milliseconds(20),
                               [this] { return closing_ || !queue_.empty(); });
                items.swap(queue_);
                closing = closing_;
            }
            room_.notify_all();
            try {
                if (subscribed())
                    tell_again();
                for (; !items.empty(); items.pop_front())
                    std::visit([this](const auto& one) { send(one); }, items.front());
            } catch (const std::exception& error) {
                fail("Publishing at " + address_ + " stopped. " + sentence_of(error), items);
            }
            if (closing)
                return;
        }
    }

    void fail(const std::string& sentence, const std::deque<Item>& unsent) {
        const auto frames =
            static_cast<std::uint64_t>(std::count_if(unsent.begin(), unsent.end(), [](const Item& item) {
                return std::holds_alternative<Result>(item);
            }));
        const std::scoped_lock lock(mutex_);
        status_.queued -= frames;
        status_.dropped += frames;
        if (!status_.error.empty())
            return;
        status_.error = sentence;
        run_log().error("{}", sentence);
        room_.notify_all();
    }

    /// True if a client has subscribed. Reads a limited number of subscriptions, so that a client that
    /// subscribes without end does not delay messages to the others.
    bool subscribed() {
        bool any = false;
        zmq::message_t message;
        for (int i = 0; i < kMostAtOnce && socket_.recv(message, zmq::recv_flags::dontwait); ++i)
            any = any || (!message.empty() && *message.data<char>() == 1);
        return any;
    }
    void tell_again() {
        if (stream_)
            put(stream_message(streams_ - 1, *stream_));
        if (told_)
            put(settings_message(settings_ - 1, *told_, stream_.value_or(StreamInfo())));
    }

    void send(const StreamInfo& stream) {
        stream_ = stream;
        told_.reset();
        put(stream_message(streams_++, stream));
    }
    void send(const Result& result) {
        if (!told_ || told_->info.version != result.info.version ||
            (told_->regions ? told_->regions->placed : nullptr) !=
                (result.regions ? result.regions->placed : nullptr) ||
            to_string(told_->exposure) != to_string(result.exposure)) {
            told_ = result;
            put(settings_message(settings_++, result, stream_.value_or(StreamInfo())));
        }
        put(frame_message(frames_++, result));
        const std::scoped_lock lock(mutex_);
        ++status_.written;
        if (--status_.queued == 0)
            room_.notify_all();
    }
    void send(const EventMark& event) { put(event_message(events_++, event)); }

    void put(const std::string& text) { (void)socket_.send(zmq::buffer(text), zmq::send_flags::dontwait); }

    const ListenAddress asked_;
    zmq::context_t context_;
    const CurveGuard guard_;
    zmq::socket_t socket_; ///< the thread's, once it runs
    std::string address_;

    mutable std::mutex mutex_;
    std::condition_variable work_, room_;
    std::deque<Item> queue_;
    SinkStatus status_;
    bool closing_ = false;
    std::thread thread_;

    // The thread's.
    std::uint64_t streams_ = 0, settings_ = 0, frames_ = 0, events_ = 0; ///< messages of each kind
    std::optional<StreamInfo> stream_;
    std::optional<Result> told_; ///< whose settings were sent last
};

std::string zeromq_version() {
    int major = 0, minor = 0, patch = 0;
    zmq_version(&major, &minor, &patch);
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

#else

class Publisher::Impl {
public:
    Impl(const std::string& text, const std::shared_ptr<const CurveKeys>&) {
        (void)parse_listen_address(text, kPublishSyntax);
        throw RunError("This build cannot publish: it was made without ZeroMQ; install libzmq3-dev and "
                       "cppzmq-dev, and build it again.");
    }
    const std::string& address() const { return address_; }
    SinkStatus status() const { return {}; }
    SinkStatus drained() { return {}; }
    void begin(const StreamInfo&) {}
    bool frame(const Result&, bool) { return false; }
    void event(const EventMark&) {}

private:
    std::string address_;
};

std::string zeromq_version() { return ""; }

#endif

Publisher::Publisher(const std::string& address, std::shared_ptr<const CurveKeys> keys)
    : impl_(std::make_unique<Impl>(address, std::move(keys))) {}
Publisher::~Publisher() = default;
std::string Publisher::address() const { return impl_->address(); }
SinkStatus Publisher::status() const { return impl_->status(); }
SinkStatus Publisher::drained() { return impl_->drained(); }
void Publisher::mark(const EventMark& event) { impl_->event(event); }

/// What one pipeline brings.
class PublishFeed final : public Sink {
public:
    explicit PublishFeed(std::shared_ptr<Publisher> to) : to_(std::move(to)) {}
    void open(const StreamInfo& stream) override { to_->impl_->begin(stream); }
    void push(const Result& result, bool may_wait) override {
        if (!result.repeated && !to_->impl_->frame(result, may_wait))
            ++dropped_;
    }
    void mark(const EventMark& event) override { to_->mark(event); }
    void close() noexcept override { closed_ = true; }
    bool wants_host_image() const override { return false; }
    SinkStatus status() const override {
        SinkStatus status;
        status.dropped = dropped_;
        status.closed = closed_;
        return status;
    }

private:
    const std::shared_ptr<Publisher> to_;
    std::atomic<std::uint64_t> dropped_{0};
    std::atomic<bool> closed_{false};
};

std::shared_ptr<Sink> Publisher::feed(std::shared_ptr<Publisher> publisher) {
    return std::make_shared<PublishFeed>(std::move(publisher));
}

} // namespace specklescope
