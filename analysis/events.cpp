#include "analysis/events.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <algorithm>

namespace specklescope {

namespace {

/// Returns the label with single blanks, without control characters, at most kMaxLabel long.
std::string tidy(const std::string& label) {
    std::string text;
    for (const char c : one_line(label))
        if (c != ' ' || (!text.empty() && text.back() != ' '))
            text += c;
    std::size_t end = 0;
    while (end < text.size() && end + utf8_length(std::string_view(text).substr(end)) <= EventLog::kMaxLabel)
        end += utf8_length(std::string_view(text).substr(end));
    if (end > 0 && text[end - 1] == ' ')
        --end;
    return text.substr(0, end); // the capacity is kept small as well
}

} // namespace

const TimedEvent& EventLog::mark(const TraceMoment& moment, const std::string& label) {
    if (events_.size() >= kMaxEvents)
        throw UsageError("There are " + std::to_string(kMaxEvents) +
                         " events; allowed are no more: remove some of them.");
    std::string text = tidy(label);
    if (text.empty())
        text = "event " + std::to_string(next_);
    events_.push_back({{next_++, moment.sequence, moment.capture_ns, std::move(text), false, moment.timed},
                       moment.time_ns,
                       moment.axis,
                       moment.frame()});
    return events_.back();
}

const TimedEvent* EventLog::rename(std::uint64_t number, const std::string& label) {
    const auto found = std::find_if(events_.begin(), events_.end(),
                                    [&](const TimedEvent& event) { return event.mark.number == number; });
    const std::string text = tidy(label);
    if (found == events_.end() || text.empty() || text == found->mark.label)
        return nullptr;
    found->mark.label = text;
    remember(text);
    return &*found;
}

std::optional<TimedEvent> EventLog::remove(std::uint64_t number) {
    const auto found = std::find_if(events_.begin(), events_.end(),
                                    [&](const TimedEvent& event) { return event.mark.number == number; });
    if (found == events_.end())
        return std::nullopt;
    TimedEvent gone = std::move(*found);
    gone.mark.removed = true;
    events_.erase(found);
    return gone;
}

void EventLog::remember(const std::string& label) {
    if (std::find(remembered_.begin(), remembered_.end(), label) == remembered_.end() &&
        remembered_.size() < kRemembered)
        remembered_.push_back(label);
}

} // namespace specklescope
