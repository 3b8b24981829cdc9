// What a stream has computed and nobody has fetched yet.
#pragma once

#include "pipeline/sink.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

namespace specklescope::library {

/// The last results, for one who fetches them.
class Waiting final : public Sink {
public:
    explicit Waiting(bool wants_host) : wants_host_(wants_host) {}
    void open(const StreamInfo&) override {}
    void push(const Result& result, bool may_wait) override;
    void close() noexcept override { end(); }
    bool wants_host_image() const override { return wants_host_; }
    SinkStatus status() const override;

    /// How many may wait: of a ring of `slots`, half.
    void hold(int slots);
    /// Whether there is one, then or at the end of the time.
    bool wait(std::chrono::milliseconds timeout);
    std::optional<Result> take(std::chrono::milliseconds timeout);
    /// Those that wait in front of this seek are thrown away, and so is what comes of them.
    void pass_over(std::uint64_t seek);
    /// While it is open, for as many as opened it, there is room for any number of a file's: nobody stands in
    /// front of the others.
    void stand_open(bool open);
    /// From now on nothing waits: nobody fetches any more.
    void end() noexcept;
    bool ended() const;

private:
    const bool wants_host_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Result> results_;
    std::size_t most_ = 2;
    std::uint64_t given_ = 0, late_ = 0;
    bool ended_ = false;
    int open_ = 0;           ///< by how many threads
    std::uint64_t from_ = 0; ///< the seek that results are wanted of, and of later ones
};

} // namespace specklescope::library
