// What is told of recordings that have ended, in a window and without one.
#pragma once

#include "pipeline/pipeline.hpp"
#include "recording/recorder.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

/// Of one that is closed.
Message end_of_recording(const SinkStatus& status);

/// Recordings whose end nobody asked for, the last of each kind (nothing: the traces of regions): who asks
/// for the end of one gets it, once.
class EndedRecordings {
public:
    void keep(std::optional<RecordWhat> what, std::shared_ptr<Sink> sink);
    /// Null: there is none.
    std::shared_ptr<Sink> take(std::optional<RecordWhat> what);

private:
    struct Ended {
        std::optional<RecordWhat> what;
        std::shared_ptr<Sink> sink;
    };
    std::vector<Ended> ended_;
};

} // namespace specklescope
