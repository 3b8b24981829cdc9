// When a window that nobody sits in front of has done what it was to do: as `run` ends.
#pragma once

#include "ui/session.hpp"

#include <span>

namespace specklescope {

/// Nothing more goes into it: it is as long as it was to be, or it has failed.
bool is_over(const Recording& recording);
/// Without tables and kymographs, which follow the run.
std::vector<Recording> of_frames(const std::vector<Recording>& recordings);
/// There are some, and all are over.
bool all_over(std::span<const Recording> recordings);
/// The same, and not all by failing: nothing is left to wait for, whoever else listens.
bool all_recorded(std::span<const Recording> recordings);

class OwnEnd {
public:
    /// After the session's start, with the recordings that the settings asked for.
    explicit OwnEnd(const Session& session);
    /// The source has ended and all of it is processed, each recording is as long as it was to be, or all of
    /// them have failed and nobody else gets anything.
    bool has_come() const;
    /// It ended with a failure, which has been said.
    bool failed() const;

private:
    const Session& session_;
    std::vector<Recording> recordings_; ///< of frames
    std::vector<Recording> all_;        ///< and of numbers
};

} // namespace specklescope
