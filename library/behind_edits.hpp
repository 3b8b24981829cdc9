// What is recorded begins behind the edits that came before it.
#pragma once

#include "pipeline/pipeline.hpp"

#include <utility>

namespace specklescope::library {

/// Keeps results from a sink that were in work when it came, of the chain or the regions before an edit: they
/// would begin a file of another quantity or size. The rest is the sink's own.
class BehindEdits final : public Sink {
public:
    /// `edit`: the version of the last one; 0: there was none. The pipeline outlives it.
    BehindEdits(std::shared_ptr<Sink> sink, const Pipeline& pipeline, std::uint64_t edit)
        : sink_(std::move(sink)), pipeline_(pipeline), edit_(edit) {}

    void open(const StreamInfo& stream) override { sink_->open(stream); }
    void push(const Result& result, bool may_wait) override {
        begun_ = begun_ || behind(result.info.version);
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
    /// Edits that were refused changed nothing, and nothing carries their versions.
    bool behind(std::uint64_t version) const {
        if (version >= edit_)
            return true;
        const std::vector<RefusedEdit> refused = pipeline_.refused(version);
        std::uint64_t left = edit_ - version;
        for (const RefusedEdit& edit : refused)
            left -= edit.version <= edit_ ? 1 : 0;
        return left == 0 || refused.size() == Pipeline::kRefused; // of earlier ones nobody knows any more
    }

    const std::shared_ptr<Sink> sink_;
    const Pipeline& pipeline_;
    const std::uint64_t edit_;
    bool begun_ = false; ///< of the processing thread
};

} // namespace specklescope::library
