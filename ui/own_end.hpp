// When a window that nobody sits in front of has done what it was to do: as `run` ends.
#pragma once

#include "ui/session.hpp"

namespace specklescope {

class OwnEnd {
public:
    /// After the session's start, with the recordings that the settings asked for.
    explicit OwnEnd(const Session& session);
    /// The source has ended and all of it is processed, or each recording is as long as it was to be.
    bool has_come() const;
    /// It ended with a failure, which has been said.
    bool failed() const;

private:
    bool all_recorded() const;
    const Session& session_;
    std::vector<std::shared_ptr<Sink>> recordings_; ///< of frames
};

} // namespace specklescope
