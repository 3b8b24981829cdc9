// Events of a session, in the order in which they were marked.
#pragma once

#include "analysis/trace_history.hpp"
#include "pipeline/sink.hpp"

#include <string>
#include <vector>

namespace specklescope {

struct TimedEvent {
    EventMark mark;
    std::int64_t time_ns = 0; ///< on the history's axis
    std::uint64_t axis = 0;   ///< TraceOverview::axis: on another one it has no place
    std::uint64_t frame = 0;  ///< TraceMoment::frame()
};

class EventLog {
public:
    static constexpr std::size_t kMaxLabel = 200; ///< bytes; longer ones are cut between characters
    static constexpr std::size_t kMaxEvents = 10000;
    static constexpr std::size_t kRemembered = 9;

    /// Named "event 3" if the label is empty. Throws UsageError at kMaxEvents.
    const TimedEvent& mark(const TraceMoment& moment, const std::string& label = "");
    /// Normalises blanks and line ends in the label; an empty label keeps the old one. Null if there is no
    /// such event or nothing changes.
    const TimedEvent* rename(std::uint64_t number, const std::string& label);
    /// The removed event, marked as removed; null if there is none.
    std::optional<TimedEvent> remove(std::uint64_t number);
    const std::vector<TimedEvent>& events() const { return events_; }
    /// Labels given by the user, oldest first: for their own keys.
    const std::vector<std::string>& remembered() const { return remembered_; }

private:
    void remember(const std::string& label);
    std::vector<TimedEvent> events_;
    std::vector<std::string> remembered_;
    std::uint64_t next_ = 1;
};

} // namespace specklescope
