// Frames of a source one by one, without a pipeline, for looks at a recording.
#pragma once

#include "sources/registry.hpp"

#include <chrono>
#include <memory>
#include <optional>

namespace specklescope {

class FrameReader {
public:
    /// Opens the source. Throws UsageError or RunError as opening does.
    explicit FrameReader(const SourceArgument& text, const SourceDefaults& defaults = {});
    ~FrameReader();
    FrameReader(const FrameReader&) = delete;
    FrameReader& operator=(const FrameReader&) = delete;

    const SourceInfo& info() const { return info_; }
    Source& source() { return *source_; }
    /// The next frame; nothing at the end. At most kHeld frames may be held. Throws RunError if none comes
    /// within `patience`, and Cancelled.
    std::optional<Frame> next(std::chrono::milliseconds patience = std::chrono::seconds(10));
    static constexpr int kHeld = 4;

private:
    class Port;
    std::string name_;
    std::unique_ptr<Source> source_;
    SourceInfo info_;
    std::unique_ptr<Port> port_;
};

} // namespace specklescope
