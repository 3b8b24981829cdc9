// Publishes the values of each frame for other programs: JSON over ZeroMQ.
#pragma once

#include "net/address.hpp"
#include "pipeline/sink.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace specklescope {

/// A PUB socket, bound for the life of the object, independent of pipelines. Each message is a line of JSON
/// that begins with its kind, so that a subscription to `{"content":"frame"` gets only frames:
/// - "stream": the source, its rate, the backend; "settings": the chain, the quantity and its unit, how means
/// are
///   formed, the regions. Both are sent first, after a change, and for each new subscriber;
/// - "frame": numbers of one result; "regions" has the columns of --traces by region, under the same names,
/// and "also" those of each further image by its name;
/// - "event": an event was marked, or with "removed" taken back.
/// "n" counts the messages of a kind: a gap is a message that this subscriber did not get. A repeated message
/// keeps its "n". Subscribers delay nothing: frames of a live pipeline that cannot be sent in time are
/// dropped for all, which status() counts. ZeroMQ silently drops messages for a subscriber with 1000 unread
/// ones; only the gaps in "n" show that.
class Publisher {
public:
    /// `keys`: encrypted, only for their clients. Throws UsageError (not an address), RunError (in use, not
    /// allowed, built without ZeroMQ).
    explicit Publisher(const std::string& address, std::shared_ptr<const CurveKeys> keys = nullptr);
    ~Publisher();
    Publisher(const Publisher&) = delete;
    Publisher& operator=(const Publisher&) = delete;

    /// "zmq://127.0.0.1:5556", with the bound port.
    std::string address() const;
    /// Frames that were sent or dropped.
    SinkStatus status() const;
    /// The same after everything is sent. Waits at most 2 s.
    SinkStatus drained();
    /// Reports an event that was marked, renamed, or removed. From any thread; never waits.
    void mark(const EventMark& event);
    /// Sink for one run of one pipeline. Keeps the publisher alive.
    static std::shared_ptr<Sink> feed(std::shared_ptr<Publisher> publisher);

private:
    friend class PublishFeed;
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// "4.3.4"; empty: built without ZeroMQ.
std::string zeromq_version();

// Lines of JSON without the line end; numbers that are not finite become null.
std::string stream_message(std::uint64_t n, const StreamInfo& stream);
std::string settings_message(std::uint64_t n, const Result& result, const StreamInfo& stream);
std::string frame_message(std::uint64_t n, const Result& result);
std::string event_message(std::uint64_t n, const EventMark& event);

/// Adds the number and times of the frame, its counts, and the numbers of each region by name.
void add_result(nlohmann::ordered_json& object, const Result& result);
/// Adds the facts of an event, with "removed" if it was removed.
void add_event(nlohmann::ordered_json& object, const EventMark& event);

} // namespace specklescope
