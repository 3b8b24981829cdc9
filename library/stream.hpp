// A source followed by a chain; callers fetch the results.
#pragma once

#include "analysis/events.hpp"
#include "library/chain.hpp"
#include "pipeline/pipeline.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <optional>

namespace specklescope::library {

/// Number of the caller's frames that hold slots of the stream, also after its end.
using SlotsOut = std::shared_ptr<std::atomic<int>>;

class FrameObject final : public Object {
public:
    static constexpr Kind kKind{"frame", "specklescope_stream_next"};
    /// Keeps the slots if few are held, and copies otherwise, so that the stream always has free slots. A
    /// result on a device has its own device memory.
    FrameObject(Result result, SlotsOut out);
    ~FrameObject() override;
    const Result& result() const { return result_; }
    bool on_device() const { return result_.memory != nullptr; }
    const std::vector<Result>& also() const { return also_; } ///< further images
    /// Throws UsageError if the result is on the host.
    ResultMemory& memory() const;

private:
    Result result_;
    std::vector<Result> also_;
    SlotsOut out_; ///< null: a copy
};

/// Queue of computed results that were not fetched yet.
class Waiting final : public Sink {
public:
    explicit Waiting(bool wants_host) : wants_host_(wants_host) {}
    void open(const StreamInfo&) override {}
    void push(const Result& result, bool may_wait) override;
    void close() noexcept override { end(); }
    bool wants_host_image() const override { return wants_host_; }
    SinkStatus status() const override;

    /// While paused, results of a camera are discarded; a file computes none.
    void pause(bool on);
    /// Sets the capacity: half of a ring of `slots`.
    void set_capacity(int slots);
    /// True if there is a result, now or within the timeout.
    bool wait(std::chrono::milliseconds timeout);
    std::optional<Result> take(std::chrono::milliseconds timeout);
    /// Discards pending and later results from before this seek.
    void discard_before(std::uint64_t seek);
    /// While at least one call has opened it, results of a file have no limit: other sinks must not be
    /// blocked.
    void lift_limit(bool open);
    /// Discards everything from now on.
    void end() noexcept;

private:
    const bool wants_host_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Result> results_;
    std::size_t capacity_ = 2;
    std::uint64_t given_ = 0, late_ = 0;
    bool ended_ = false, paused_ = false;
    int unlimited_ = 0;      ///< number of calls that opened it
    std::uint64_t from_ = 0; ///< results from before this seek are discarded
};

class StreamObject final : public Object {
public:
    static constexpr Kind kKind{"stream", "specklescope_stream_open"};
    StreamObject(const char* source, Chain chain, Settings settings, const StreamOptions& own,
                 const Watcher& watcher);
    ~StreamObject() override;
    void end() noexcept override;

    // One thread at a time.
    /// Throws StatusError (SPECKLESCOPE_TIMEOUT, SPECKLESCOPE_END), or RunError if the run failed.
    std::shared_ptr<FrameObject> next(double seconds);
    const SourceInfo& source();
    void record(const std::string& path, int what);
    void write_traces(const std::string& path);
    void seek(std::uint64_t frame, bool warm);

    // Any thread.
    /// Throws RunError if a recording has failed.
    void stop();
    /// Like stop(), only for the recordings.
    void finish();
    void set(const StagePlace& stage, const Values& values);
    void replace(Chain chain);
    /// The newest chain, with every edit.
    Chain wanted() const { return *pipeline_->chain(); }
    void set_source(const char* name, const char* value);
    void pause(bool on);
    /// Marks the last fetched frame. Throws UsageError before the first one.
    std::uint64_t mark(const char* label);
    void set_regions(std::vector<Region> regions);
    std::vector<Region> regions() const;
    std::string statistics() const { return to_json(pipeline_->stats()); }
    /// Messages since the last call.
    void write_messages(char* text, std::size_t size, std::size_t* needed);

private:
    /// Throws UsageError if the chain cannot run on the source's frames.
    void check_fit(Chain chain) const;
    /// Next result after the last seek. Throws RunError, once, if the sought frame does not arrive.
    std::optional<Result> take(std::chrono::milliseconds patience);
    void throw_failed_seek();
    [[noreturn]] void ended();
    /// Throws RunError, once, if a frame was lost for lack of device memory.
    void throw_no_memory();
    std::shared_ptr<FrameObject> given(Result result);
    void add(const std::shared_ptr<Sink>& sink, const std::string& path);
    void take_messages();

    Settings settings_;
    bool on_device_; ///< results stay on the device
    Watcher watcher_;
    std::unique_ptr<Pipeline> pipeline_;
    std::shared_ptr<Waiting> waiting_;
    SlotsOut out_ = std::make_shared<std::atomic<int>>(0);
    SourceInfo source_;
    std::mutex pause_mutex_;
    bool begun_ = false, paused_ = false; ///< guarded by pause_mutex_
    bool failure_told_ = false;
    std::uint64_t failed_seen_ = 0; ///< number of failed frames that were reported
    std::atomic<bool> stopped_{false};
    std::uint64_t seek_ = 0; ///< seek whose first result was not fetched yet; 0: none

    std::mutex messages_mutex_;
    std::deque<std::string> messages_;
    std::uint64_t unread_ = 0; ///< messages discarded for lack of space
    std::string last_error_;
    std::mutex recorders_mutex_;
    std::vector<std::shared_ptr<Sink>> recorders_;
    EventLog events_; ///< guarded by recorders_mutex_, as the last given frame
    std::optional<TraceMoment> given_;
};

} // namespace specklescope::library
