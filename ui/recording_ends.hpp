// What is told of recordings that have ended, in a window and without one.
#pragma once

#include "config/outputs.hpp"
#include "pipeline/pipeline.hpp"

#include <memory>
#include <string>
#include <vector>

namespace specklescope {

/// Of one that is closed.
Message end_of_recording(const SinkStatus& status);

/// Recordings that ended by themselves, the last one of each kind. A request to end one takes it.
class EndedRecordings {
public:
    void keep(const Recording& recording);
    /// Null: there is none.
    std::shared_ptr<Sink> take(const OutputKind& kind);

private:
    std::vector<Recording> ended_;
};

} // namespace specklescope
