// What was measured of each frame, for other programs: JSON over ZeroMQ.
#pragma once

#include "net/address.hpp"
#include "pipeline/sink.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace specklescope {

/// A PUB socket, bound for its whole life, whatever pipelines feed it. Each message is a line of JSON that
/// begins with its kind, so that a subscription to `{"content":"frame"` gets frames alone:
/// - "stream": the source, its rate, the backend; "settings": the chain, the quantity and its unit, how means
///   are formed, the regions. Both come first, again when they change and again when somebody subscribes;
/// - "frame": numbers of one result; in "regions", by name, what --traces writes, under the same names;
/// - "event": a mark, or with "removed" its end.
/// "n" counts the messages of a kind: a gap is what this subscriber has not got. What is told again to one
/// who subscribes has the "n" that it had. Nobody waits for one: what a live pipeline brings faster than it
/// goes out is dropped for all, which status() counts; behind 1000 unread messages ZeroMQ drops for the
/// subscriber that does not read, inside and without a word: the gaps in "n" are the only count of that.
class Publisher {
public:
    /// `keys`: it is encrypted, and for their clients alone. Throws UsageError (not an address), RunError
    /// (taken, not allowed, built without ZeroMQ).
    explicit Publisher(const std::string& address, std::shared_ptr<const CurveKeys> keys = nullptr);
    ~Publisher();
    Publisher(const Publisher&) = delete;
    Publisher& operator=(const Publisher&) = delete;

    /// "zmq://127.0.0.1:5556", with the port that it got.
    std::string address() const;
    /// Frames: sent, and dropped before they were.
    SinkStatus status() const;
    /// The same when all is sent, which takes 2 s at most.
    SinkStatus drained();
    /// An event was marked, given another label, or removed. From any thread; never waits.
    void mark(const EventMark& event);
    /// For one run of one pipeline. The publisher lives as long as its feeds.
    static std::shared_ptr<Sink> feed(std::shared_ptr<Publisher> publisher);

private:
    friend class PublishFeed;
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// Whether this build can; "4.3.4", or empty.
std::string zeromq_version();

// Lines of JSON without their line's end; numbers that are not finite are null.
std::string stream_message(std::uint64_t n, const StreamInfo& stream);
std::string settings_message(std::uint64_t n, const Result& result, const StreamInfo& stream);
std::string frame_message(std::uint64_t n, const Result& result);
std::string event_message(std::uint64_t n, const EventMark& event);

/// Adds to an object which frame it is, what was counted in it, and, where there are regions, the numbers of
/// each by its name. Those that are not finite become null when it is written.
void add_result(nlohmann::ordered_json& object, const Result& result);
/// Adds what an event is; of one that was removed that it is.
void add_event(nlohmann::ordered_json& object, const EventMark& event);

} // namespace specklescope
