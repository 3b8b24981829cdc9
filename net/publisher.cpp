#include "net/publisher.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "have_zmq.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "pipeline/threaded_sink.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#ifdef SPECKLESCOPE_HAVE_ZMQ
#include "net/zmq_socket.hpp"
#endif

namespace specklescope {

namespace {

using Json = nlohmann::ordered_json;

/// A message begins with its kind, by which subscribers choose.
Json message(const char* content, std::uint64_t n) { return {{"content", content}, {"n", n}}; }

/// File names may contain any bytes.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

} // namespace

std::string stream_message(std::uint64_t n, const StreamInfo& stream) {
    Json json = message("stream", n);
    json["program"] = "Specklescope " SPECKLESCOPE_VERSION;
    json["source"] = stream.source_text;
    json["source_name"] = stream.source.name;
    json["live"] = stream.source.live;
    json["rate"] = stream.source.rate > 0 ? Json(stream.source.rate) : Json();
    json["backend"] = stream.backend;
    return text_of(json);
}

std::string settings_message(std::uint64_t n, const Result& result, const StreamInfo& stream) {
    Json json = message("settings", n);
    json["version"] = result.info.version;
    json["parameters"] = result.chain ? to_string(*result.chain) : "";
    json["quantity"] = result.quantity.name;
    json["symbol"] = result.quantity.symbol;
    json["unit"] = result.quantity.unit;
    if (const double um = um_per_px(stream, result.chain.get()); um > 0)
        json["um_per_px"] = um;
    json["exposure"] = result.exposure.known() ? to_string(result.exposure) : "unknown";
    if (result.also) {
        Json also = Json::array();
        for (const NamedImage& one : *result.also)
            also.push_back({{"name", one.name},
                            {"quantity", one.quantity.name},
                            {"symbol", one.quantity.symbol},
                            {"unit", one.quantity.unit}});
        json["also"] = std::move(also);
    }
    if (result.regions) {
        json["mean"] = mean_text(result.regions->mean);
        Json regions = Json::array();
        for (const PlacedRegion& region : result.regions->placed->regions)
            regions.push_back({{"name", region.name},
                               {"shape", region.shape},
                               {"pixels", region.pixels},
                               {"fit", to_string(region.fit)}});
        json["regions"] = std::move(regions);
    }
    return text_of(json);
}

namespace {

/// Numbers of each region by its name.
Json json_of(const RegionValues& values) {
    Json::object_t regions; // no two names are equal; a lookup in a long list would dominate the time
    regions.reserve(values.statistics.size());
    for (std::size_t i = 0; i < values.statistics.size(); ++i) {
        const RegionStatistics& region = values.statistics[i];
        Json numbers = {{"mean", region.mean},     {"std", region.std},
                        {"min", region.min},       {"max", region.max},
                        {"valid", region.valid},   {"infinite", region.infinite},
                        {"pixels", region.pixels}, {"mean_of_map", region.mean_of_map}};
        if (region.saturated >= 0)
            numbers["saturated"] = region.saturated;
        if (values.placed->medians)
            numbers["median"] = region.median;
        regions.push_back({values.placed->regions[i].name, std::move(numbers)});
    }
    return regions;
}

} // namespace

void add_result(Json& json, const Result& result) {
    const FrameInfo& info = result.info;
    json["capture_ns"] = info.has_time() ? Json(info.capture_ns) : Json();
    json["arrival_ns"] =
        std::chrono::duration_cast<std::chrono::nanoseconds>(info.arrival.time_since_epoch()).count();
    json["sequence"] = info.sequence;
    if (info.position)
        json["position"] = *info.position;
    json["version"] = info.version;
    json["exposure_ms"] = result.exposure.ms;
    json["raw_saturated"] = result.counts.raw_saturated;
    json["raw_samples"] = result.counts.raw_samples;
    json["warming_up"] = result.warming_up();
    if (result.regions)
        json["regions"] = json_of(*result.regions);
    if (!result.also)
        return;
    Json also = Json::object();
    for (const NamedImage& one : *result.also)
        if (one.regions)
            also[one.name] = {{"regions", json_of(*one.regions)}};
    if (!also.empty())
        json["also"] = std::move(also);
}

std::string frame_message(std::uint64_t n, const Result& result) {
    Json json = message("frame", n);
    if (result.info.has_time())
        json["timestamp"] = seconds(result.info.capture_ns); // PlotJuggler's name for the time
    add_result(json, result);
    return text_of(json);
}

void add_event(Json& json, const EventMark& event) {
    json["capture_ns"] = event.timed ? Json(event.capture_ns) : Json();
    json["sequence"] = event.sequence;
    json["number"] = event.number;
    if (event.removed)
        json["removed"] = true;
    else
        json["label"] = event.label;
}

std::string event_message(std::uint64_t n, const EventMark& event) {
    Json json = message("event", n);
    json["timestamp"] = seconds(event.capture_ns);
    add_event(json, event);
    return text_of(json);
}

#ifdef SPECKLESCOPE_HAVE_ZMQ

namespace {

using PublishedItem = std::variant<StreamInfo, Result, EventMark>;
constexpr std::size_t kMostQueued = 4096;
constexpr std::chrono::seconds kLongestWait{2};

} // namespace

class Publisher::Impl final : public ThreadedSink<PublishedItem> {
public:
    Impl(const std::string& text, std::shared_ptr<const CurveKeys> keys)
        : ThreadedSink({.capacity = kMostQueued, .longest_wait = kLongestWait}),
          asked_(parse_listen_address(text, kPublishSyntax)), guard_(context_, std::move(keys)),
          socket_(context_, ZMQ_XPUB) {
        guard_.guard(socket_);
        constexpr int kMost = 1000; // messages queued for one subscriber
        socket_.set(zmq::sockopt::sndhwm, kMost);
        socket_.set(zmq::sockopt::linger,
                    500); // ms; the maximum delay at the end if a subscriber does not read
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
                           ". Name another port, or end the program that uses it.");
        }
        address_ = asked_.shown(kPublishSyntax.scheme, socket_.get(zmq::sockopt::last_endpoint));
        if (!guard_)
            warn_if_open(asked_, address_, "results are sent unencrypted, and any client can slow them down");
        run_log().info("Results are published at {}.", address_);
        start({});
    }
    ~Impl() override { close(); }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    const std::string& address() const { return address_; }
    void open(const StreamInfo& stream) override { add(stream, 0, false); }
    void push(const Result& result, bool may_wait) override { (void)frame(result, may_wait); }
    /// False: it was dropped. A frame of a file waits for room, for a limited time.
    bool frame(const Result& result, bool may_wait) {
        const bool room = has_room(may_wait);
        if (room)
            add(without_pixels(result), 1, true);
        return room;
    }
    void mark(const EventMark& event) override { add(event, 1, false); }
    bool wants_host_image() const override { return false; }
    /// Waits until all pushed frames are sent; the rest after the time limit counts as dropped.
    SinkStatus drained() {
        std::unique_lock lock(mutex_);
        room_.wait_for(lock, kLongestWait, [this] { return status_.queued == 0 || stopped(); });
        SinkStatus status = status_;
        status.dropped += std::exchange(status.queued, 0);
        return status;
    }

private:
    static constexpr std::int64_t kMostTopic = 64; ///< bytes
    static constexpr int kMostAtOnce = 256;        ///< subscriptions between two checks of the queue

    /// Subscriptions arrive on the socket, which only this thread may use: it polls for them.
    Time wakes_at() const override { return SteadyClock::now() + std::chrono::milliseconds(20); }

    void work(std::deque<PublishedItem>& items) override {
        try {
            if (subscribed())
                repeat_facts();
            for (; !items.empty(); items.pop_front())
                std::visit([this](const auto& one) { send(one); }, items.front());
        } catch (const std::exception& error) {
            const auto frames = static_cast<std::uint64_t>(
                std::count_if(items.begin(), items.end(), [](const PublishedItem& item) {
                    return std::holds_alternative<Result>(item);
                }));
            {
                const std::scoped_lock lock(mutex_);
                status_.queued -= frames;
                status_.dropped += frames;
            }
            throw RunError("Publishing at " + address_ + " stopped. " + sentence_of(error));
        }
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
    void repeat_facts() {
        if (stream_)
            put(stream_message(streams_ - 1, *stream_));
        if (settings_of_)
            put(settings_message(settings_ - 1, *settings_of_, stream_.value_or(StreamInfo())));
    }

    void send(const StreamInfo& stream) {
        stream_ = stream;
        settings_of_.reset();
        put(stream_message(streams_++, stream));
    }
    void send(const Result& result) {
        if (!settings_of_ || settings_of_->info.version != result.info.version ||
            (settings_of_->regions ? settings_of_->regions->placed : nullptr) !=
                (result.regions ? result.regions->placed : nullptr) ||
            to_string(settings_of_->exposure) != to_string(result.exposure)) {
            settings_of_ = result;
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
    zmq::socket_t socket_; ///< used by the thread, once it runs
    std::string address_;
    // Used by the thread.
    std::uint64_t streams_ = 0, settings_ = 0, frames_ = 0, events_ = 0; ///< messages of each kind
    std::optional<StreamInfo> stream_;
    std::optional<Result> settings_of_; ///< the result whose settings were sent last
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
        throw RunError("Publishing is not available: built without ZeroMQ. Install libzmq3-dev and "
                       "cppzmq-dev, and build again.");
    }
    const std::string& address() const { return address_; }
    SinkStatus status() const { return {}; }
    SinkStatus drained() { return {}; }
    void open(const StreamInfo&) {}
    bool frame(const Result&, bool) { return false; }
    void mark(const EventMark&) {}

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
void Publisher::mark(const EventMark& event) { impl_->mark(event); }

/// Passes on the results of one pipeline.
class PublishFeed final : public Sink {
public:
    explicit PublishFeed(std::shared_ptr<Publisher> to) : to_(std::move(to)) {}
    void open(const StreamInfo& stream) override { to_->impl_->open(stream); }
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
