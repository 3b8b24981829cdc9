// Events of a session: marked on the main thread, told to the traces and recordings that run.
#include "ui/session.hpp"

namespace specklescope {

void Session::tell_recordings(const EventMark& event) const {
    for (const Recording& recording : recordings_)
        recording.sink->mark(event);
    if (doors.publisher)
        doors.publisher->mark(event);
}

EventMark Session::add_event(const std::string& label) {
    const std::optional<TraceMoment> newest = traces_->overview().newest;
    if (!newest)
        throw UsageError("An event belongs to a frame, and none has come yet.");
    const TimedEvent& event = events_.mark(*newest, label);
    tell_recordings(event.mark);
    return event.mark;
}

void Session::mark_event(const std::string& label) {
    try {
        const EventMark mark = add_event(label);
        say(Message::Level::info,
            "Marked " + mark.label + " at frame " + std::to_string(mark.sequence) + ".");
    } catch (const UsageError& error) {
        say(Message::Level::warning, error.what());
    }
}

void Session::rename_event(std::uint64_t number, const std::string& label) {
    if (const TimedEvent* event = events_.rename(number, label))
        tell_recordings(event->mark);
}

void Session::remove_event(std::uint64_t number) {
    if (const std::optional<TimedEvent> event = events_.remove(number))
        tell_recordings(event->mark);
}

} // namespace specklescope
