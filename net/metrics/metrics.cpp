#include "net/metrics/metrics.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "have_microhttpd.hpp"
#include "net/address.hpp"
#include "pipeline/stage.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#ifdef SPECKLESCOPE_HAVE_MICROHTTPD
#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#endif

namespace specklescope {

namespace {

/// Escapes a text for a label.
std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\' || c == '"')
            out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

class Page {
public:
    void begin(const std::string& name, const char* type, const char* help) {
        name_ = "specklescope_" + name;
        text_ += "# HELP " + name_ + " " + help + "\n# TYPE " + name_ + " " + type + "\n";
    }
    void line(const std::string& value, const std::string& labels = "", const char* part = "") {
        text_ += name_ + part + (labels.empty() ? "" : "{" + labels + "}") + " " + value + "\n";
    }
    void counter(const std::string& name, const char* help, std::uint64_t value) {
        begin(name + "_total", "counter", help);
        line(std::to_string(value));
    }
    void gauge(const std::string& name, const char* help, double value) {
        begin(name, "gauge", help);
        line(number(value));
    }
    std::string text() { return std::move(text_); }

private:
    std::string name_, text_;
};

} // namespace

void LatencyCounts::add(double seconds) {
    ++counts[static_cast<std::size_t>(std::lower_bound(kEnds.begin(), kEnds.end(), seconds) - kEnds.begin())];
    sum_s += seconds;
}

std::string metrics_text(const StatsSnapshot& s, const LatencyCounts& latency,
                         const std::vector<DoorTotal>& doors) {
    Page page;
    page.begin("build_info", "gauge", "Version of the program and its backend.");
    page.line("1", "version=\"" SPECKLESCOPE_VERSION "\",backend=\"" + escaped(s.backend.name) +
                       "\",device=\"" + escaped(s.backend.device) + "\"");
    page.gauge("run_seconds", "Time since the source was opened.", s.seconds);
    page.counter("frames_acquired", "Frames that the source gave.", s.frames.acquired);
    page.counter("frames_processed", "Frames with a result.", s.frames.processed);
    page.counter("frames_failed", "Frames that could not be computed.", s.drops.failed);
    page.counter("frames_passed_over",
                 "Frames read and not shown: overtaken by a seek, or for histories alone.",
                 s.frames.passed_over);
    page.begin("frames_dropped_total", "counter",
               "Frames lost: at the source, without a free slot, or by recorders.");
    page.line(std::to_string(s.drops.source), "cause=\"source\"");
    page.line(std::to_string(s.drops.ring), "cause=\"slots\"");
    page.line(std::to_string(s.drops.recorder), "cause=\"recorder\"");
    page.counter("source_reopened", "Times that a live source was opened again.", s.away.reopened);
    page.gauge("acquisition_frames_per_second", "Frames from the source over the last second.",
               s.rate.acquisition);
    page.gauge("processing_frames_per_second", "Results over the last second.", s.rate.processing);
    page.gauge("display_frames_per_second", "Results drawn over the last second.", s.rate.display);
    page.gauge("queue_frames", "Frames that wait for processing.", s.queue.depth);
    page.gauge("slots", "Frames that the ring has room for.", s.queue.slots);
    page.gauge("slots_free", "Free slots.", s.queue.slots_free);
    page.counter("raw_samples", "Samples of raw frames that have a full scale.", s.counts.total.raw_samples);
    page.counter("raw_samples_saturated", "Those of them at full scale.", s.counts.total.raw_saturated);
    page.gauge("saturated_ratio", "Share of samples at full scale in the newest raw frame, 0 to 1.",
               saturated_share(s.counts.last));
    page.begin("latency_seconds", "histogram", "From the arrival of a frame's pixels to its result.");
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < latency.counts.size(); ++i) {
        below += latency.counts[i];
        page.line(std::to_string(below),
                  "le=\"" + (i < LatencyCounts::kEnds.size() ? number(LatencyCounts::kEnds[i]) : "+Inf") +
                      "\"",
                  "_bucket");
    }
    page.line(number(latency.sum_s), "", "_sum");
    page.line(std::to_string(below), "", "_count");
    const auto counted = [&](const char* name, const char* help, std::uint64_t DoorTotal::*count) {
        if (!doors.empty())
            page.begin(name, "counter", help);
        for (const DoorTotal& door : doors)
            page.line(std::to_string(door.*count), "door=\"" + escaped(door.door) + "\"");
    };
    counted("door_sent_total", "Answers, frames or images sent through an interface.", &DoorTotal::sent);
    counted("door_lost_total", "Those that found no room: somebody does not read.", &DoorTotal::lost);
    return page.text();
}

#ifdef SPECKLESCOPE_HAVE_MICROHTTPD

namespace {

struct Resolved {
    sockaddr_storage place{};
    bool ipv6 = false;
};

/// Throws RunError for a host without an address.
Resolved resolved(const ListenAddress& asked, const std::string& text) {
    std::string host = asked.host;
    if (host.starts_with('[') && host.ends_with(']'))
        host = host.substr(1, host.size() - 2);
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    wanted.ai_family = asked.host == "*" || asked.host == "localhost" ? AF_INET : AF_UNSPEC;
    addrinfo* found = nullptr;
    const int error = getaddrinfo(host == "*" ? nullptr : host.c_str(), std::to_string(asked.port).c_str(),
                                  &wanted, &found);
    if (error != 0)
        throw RunError("Metrics cannot be served at " + text + ": " + gai_strerror(error) +
                       ". Name an address of this machine.");
    Resolved result;
    std::memcpy(&result.place, found->ai_addr, found->ai_addrlen);
    result.ipv6 = found->ai_family == AF_INET6;
    freeaddrinfo(found);
    return result;
}

} // namespace

class Metrics::Impl {
public:
    explicit Impl(const std::string& text) {
        const ListenAddress asked = parse_listen_address(text, kMetricsSyntax);
        const Resolved at = resolved(asked, text);
        constexpr unsigned kMostConnections = 16;
        constexpr std::size_t kMostBytes = 16384; // memory limit of a connection
        daemon_ = MHD_start_daemon(
            MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_ITC | (at.ipv6 ? MHD_USE_IPv6 : MHD_NO_FLAG), 0, nullptr,
            nullptr, &answer, this, MHD_OPTION_SOCK_ADDR, reinterpret_cast<const sockaddr*>(&at.place),
            MHD_OPTION_CONNECTION_LIMIT, kMostConnections, MHD_OPTION_CONNECTION_TIMEOUT,
            static_cast<unsigned>(kRequestTime.count()), MHD_OPTION_CONNECTION_MEMORY_LIMIT, kMostBytes,
            MHD_OPTION_NOTIFY_CONNECTION, &on_connection, this, MHD_OPTION_NOTIFY_COMPLETED, &on_answered,
            this, MHD_OPTION_END);
        if (!daemon_)
            throw RunError("Metrics cannot be served at " + text + ": " +
                           std::generic_category().message(errno) +
                           ". Name another port, or end the program that uses it.");
        const MHD_DaemonInfo* bound = MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_BIND_PORT);
        address_ = asked.host + ":" + std::to_string(bound ? bound->port : asked.port);
        warn_if_open(asked, address_, "the counts are sent unencrypted");
        run_log().info("Metrics are told at http://{}/metrics", address_);
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() { MHD_stop_daemon(daemon_); }

    const std::string& address() const { return address_; }
    void tell(const StatsSnapshot& stats, std::vector<DoorTotal> doors) {
        const std::scoped_lock lock(mutex_);
        stats_ = stats;
        doors_ = std::move(doors);
    }
    void add_latency(double seconds) {
        const std::scoped_lock lock(mutex_);
        latency_.add(seconds);
    }

private:
    /// Time limit from the connection, or from the previous answer, to the end of the answer. libmicrohttpd
    /// limits only silence: a client that sends a byte from time to time would keep its connection forever.
    static constexpr std::chrono::seconds kRequestTime{5};
    struct Request {
        MHD_socket socket;
        SteadyClock::time_point since;
    };

    static void on_connection(void* self, MHD_Connection* connection, void**,
                              MHD_ConnectionNotificationCode code) {
        auto& impl = *static_cast<Impl*>(self);
        const MHD_ConnectionInfo* info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        const std::scoped_lock lock(impl.requests_mutex_);
        if (code == MHD_CONNECTION_NOTIFY_CLOSED) // the socket is closed afterwards
            impl.requests_.erase(connection);
        else if (info)
            impl.requests_[connection] = {info->connect_fd, SteadyClock::now()};
    }
    static void on_answered(void* self, MHD_Connection* connection, void**, MHD_RequestTerminationCode) {
        auto& impl = *static_cast<Impl*>(self);
        const std::scoped_lock lock(impl.requests_mutex_);
        if (const auto found = impl.requests_.find(connection); found != impl.requests_.end())
            found->second.since = SteadyClock::now();
    }
    void end_slow_requests(const std::stop_token& stop) {
        std::unique_lock lock(requests_mutex_);
        while (!wake_.wait_for(lock, stop, std::chrono::seconds(1), [&] { return stop.stop_requested(); }))
            for (const auto& [connection, request] : requests_)
                if (request.since < SteadyClock::now() - kRequestTime)
                    ::shutdown(request.socket, SHUT_RDWR);
    }

    static MHD_Result answer(void* self, MHD_Connection* connection, const char* url, const char* method,
                             const char*, const char*, std::size_t*, void**) {
        try {
            return static_cast<Impl*>(self)->page(connection, url, method);
        } catch (const std::exception&) {
            return MHD_NO; // closes the connection
        }
    }

    MHD_Result page(MHD_Connection* connection, std::string_view url, std::string_view method) {
        unsigned status = MHD_HTTP_OK;
        std::string text;
        if (method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD) {
            status = MHD_HTTP_METHOD_NOT_ALLOWED;
            text = "Only GET is answered.\n";
        } else if (url != "/metrics") {
            status = MHD_HTTP_NOT_FOUND;
            text = "Not found. Use /metrics.\n";
        } else {
            const std::scoped_lock lock(mutex_);
            text = metrics_text(stats_, latency_, doors_);
        }
        MHD_Response* response =
            MHD_create_response_from_buffer(text.size(), text.data(), MHD_RESPMEM_MUST_COPY);
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                                "text/plain; version=0.0.4; charset=utf-8");
        const MHD_Result queued = MHD_queue_response(connection, status, response);
        MHD_destroy_response(response);
        return queued;
    }

    MHD_Daemon* daemon_ = nullptr;
    std::string address_;
    std::mutex requests_mutex_;
    std::map<MHD_Connection*, Request> requests_; ///< open connections
    std::mutex mutex_;
    StatsSnapshot stats_;
    LatencyCounts latency_;
    std::vector<DoorTotal> doors_;
    std::condition_variable_any wake_;
    std::jthread watch_{[this](const std::stop_token& stop) { end_slow_requests(stop); }}; ///< declared last
};

std::string microhttpd_version() { return MHD_get_version(); }

#else

class Metrics::Impl {
public:
    explicit Impl(const std::string& text) {
        (void)parse_listen_address(text, kMetricsSyntax);
        throw RunError("Metrics are not available: built without libmicrohttpd. Install libmicrohttpd-dev, "
                       "and build again.");
    }
    const std::string& address() const { return address_; }
    void tell(const StatsSnapshot&, const std::vector<DoorTotal>&) {}
    void add_latency(double) {}

private:
    std::string address_;
};

std::string microhttpd_version() { return ""; }

#endif

Metrics::Metrics(const std::string& address) : impl_(std::make_unique<Impl>(address)) {}
Metrics::~Metrics() = default;
std::string Metrics::address() const { return impl_->address(); }
void Metrics::tell(const StatsSnapshot& stats, std::vector<DoorTotal> doors) {
    impl_->tell(stats, std::move(doors));
}
void Metrics::add_latency(double seconds) { impl_->add_latency(seconds); }

/// Sink of one pipeline.
class MetricsFeed final : public Sink {
public:
    explicit MetricsFeed(std::shared_ptr<Metrics> to) : to_(std::move(to)) {}
    void open(const StreamInfo&) override {}
    void push(const Result& result, bool) override {
        if (!result.repeated)
            to_->add_latency(std::chrono::duration<double>(result.ready - result.info.arrival).count());
    }
    void close() noexcept override { closed_ = true; }
    bool wants_host_image() const override { return false; }
    SinkStatus status() const override {
        SinkStatus status;
        status.closed = closed_;
        return status;
    }

private:
    const std::shared_ptr<Metrics> to_;
    std::atomic<bool> closed_{false};
};

std::shared_ptr<Sink> Metrics::feed(std::shared_ptr<Metrics> metrics) {
    return std::make_shared<MetricsFeed>(std::move(metrics));
}

} // namespace specklescope
