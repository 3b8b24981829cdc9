// Delays a recording until all earlier edits are in effect.
#pragma once

#include "pipeline/pipeline.hpp"

#include <utility>

namespace specklescope::library {

/// Drops results of the chain or the regions before the newest edit: they would begin a file of another
/// quantity or size.
class BehindEdits final : public Sink {
public:
    /// The pipeline outlives it.
    BehindEdits(std::shared_ptr<Sink> sink, const Pipeline& pipeline)
        : sink_(std::move(sink)), pipeline_(pipeline), edit_(pipeline.version()) {}

    void open(const StreamInfo& stream) override { sink_->open(stream); }
    void push(const Result& result, bool may_wait) override {
        begun_ = begun_ || result.info.version >= pipeline_.effective(edit_);
        if (begun_)
            sink_->push(result, may_wait);
    }
    void mark(const EventMark& event) override { sink_->mark(event); }
    void hurry() noexcept override { sink_->hurry(); }
    void close() noexcept override { sink_->close(); }
    bool wants_host_image() const override { return sink_->wants_host_image(); }
    bool records() const override { return sink_->records(); }
    SinkStatus status() const override { return sink_->status(); }

private:
    const std::shared_ptr<Sink> sink_;
    const Pipeline& pipeline_;
    const std::uint64_t edit_;
    bool begun_ = false; ///< of the processing thread
};

} // namespace specklescope::library
