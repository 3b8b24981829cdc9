// The events of a session, in the order in which they were marked.
#pragma once

#include "analysis/trace_history.hpp"
#include "pipeline/event.hpp"

#include <string>
#include <vector>

namespace specklescope {

struct TimedEvent {
    EventMark mark;
    std::int64_t time_ns = 0; ///< on the axis of the history
};

class EventLog {
public:
    static constexpr std::size_t kMaxLabel = 200; ///< bytes; longer ones are cut between characters
    static constexpr std::size_t kMaxEvents = 10000;
    static constexpr std::size_t kRemembered = 9;

    /// "event 3" where the label is empty. Throws UsageError when there are kMaxEvents.
    const TimedEvent& mark(const TraceMoment& moment, const std::string& label = "");
    /// Blanks and line ends around and in it become single blanks; an empty one leaves the event as it is.
    /// Null where there is no such event, or nothing changes.
    const TimedEvent* rename(std::uint64_t number, const std::string& label);
    /// What it was, marked as removed; null where there is no such event.
    std::optional<TimedEvent> remove(std::uint64_t number);
    const std::vector<TimedEvent>& events() const { return events_; }
    /// Labels that somebody gave, oldest first: for keys of their own.
    const std::vector<std::string>& remembered() const { return remembered_; }

private:
    void remember(const std::string& label);
    std::vector<TimedEvent> events_;
    std::vector<std::string> remembered_;
    std::uint64_t next_ = 1;
};

} // namespace specklescope
