// Counters of a run for Prometheus: text over HTTP.
#pragma once

#include "pipeline/sink.hpp"
#include "pipeline/stats.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace specklescope {

/// Histogram of the time from the arrival of pixels to their result, over all pipelines.
struct LatencyCounts {
    /// Upper ends of the buckets in s; the last bucket has none.
    static constexpr std::array<double, 13> kEnds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                     0.1,    0.25,  0.5,    1,     2.5,  5};
    std::array<std::uint64_t, kEnds.size() + 1> counts{};
    double sum_s = 0;
    void add(double seconds);
};

/// Counts of one output.
struct DoorTotal {
    std::string door; ///< option that opened it, "control"
    std::uint64_t sent = 0, lost = 0;
};

/// Text format 0.0.4.
std::string metrics_text(const StatsSnapshot& stats, const LatencyCounts& latency,
                         const std::vector<DoorTotal>& doors = {});

/// HTTP server, bound during its lifetime. It answers GET /metrics on its own thread, for a few clients at a
/// time, and closes connections of clients that do not read or send within seconds.
class Metrics {
public:
    /// Throws UsageError (not an address), RunError (in use, not allowed, built without libmicrohttpd).
    explicit Metrics(const std::string& address);
    ~Metrics();
    Metrics(const Metrics&) = delete;
    Metrics& operator=(const Metrics&) = delete;

    /// "127.0.0.1:9464", with the bound port.
    std::string address() const;
    /// Sets the current counters; call it at the wanted update rate. From any thread.
    void tell(const StatsSnapshot& stats, std::vector<DoorTotal> doors = {});
    /// Sink for one run of one pipeline. Keeps the server alive.
    static std::shared_ptr<Sink> feed(std::shared_ptr<Metrics> metrics);

private:
    friend class MetricsFeed;
    void add_latency(double seconds);
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// Version of libmicrohttpd, "0.9.75"; empty: this build has none.
std::string microhttpd_version();

} // namespace specklescope
