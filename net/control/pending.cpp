#include "net/control/pending.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <utility>

namespace specklescope {

using Clock = std::chrono::steady_clock;

bool PendingRequests::put(const Envelope& from, ControlWork work) {
    const std::scoped_lock lock(mutex_);
    const auto own = static_cast<std::size_t>(
        std::count_if(requests_.begin(), requests_.end(),
                      [&](const Request& request) { return request.from.front() == from.front(); }));
    if (own >= kMostOfOne)
        throw RunError(std::to_string(kMostOfOne) +
                       " requests of this connection are waiting. Read their answers first.");
    if (requests_.size() >= kMost)
        throw RunError(std::to_string(kMost) + " requests are waiting. Try again later.");
    requests_.push_back({from, std::move(work)});
    changed_.notify_all();
    return !attended_;
}

std::vector<PendingRequests::Answered> PendingRequests::take_answered() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(answered_, {});
}

std::vector<Envelope> PendingRequests::asking() const {
    const std::scoped_lock lock(mutex_);
    std::vector<Envelope> all;
    for (const Request& request : requests_)
        all.push_back(request.from);
    return all;
}

/// Answers over one connection come in the order of its requests.
bool PendingRequests::first_of_its_own(Place request) const {
    return std::none_of(requests_.begin(), request,
                        [&](const Request& before) { return before.from.front() == request->from.front(); });
}

/// Under the mutex.
bool PendingRequests::any_new() const {
    for (Place at = requests_.begin(); at != requests_.end(); ++at)
        if (at->turn == 0 && first_of_its_own(at))
            return true;
    return false;
}

/// Under the mutex: of those that were not looked at in this turn the one for which that is the longest ago.
/// Null: none.
PendingRequests::Request* PendingRequests::next() {
    Request* found = nullptr;
    for (auto at = requests_.begin(); at != requests_.end(); ++at)
        if (at->turn != turn_ && (!found || at->turn < found->turn) && first_of_its_own(at))
            found = &*at;
    return found;
}

PendingRequests::Request* PendingRequests::wait_for_next(std::chrono::microseconds most) {
    std::unique_lock lock(mutex_);
    Request* request = nullptr;
    changed_.wait_for(lock, most, [&] { return (request = next()) != nullptr; });
    attended_ = false;
    if (request)
        request->turn = turn_;
    return request;
}

void PendingRequests::keep_answer(const Request& request, ControlReply reply, bool stays) {
    std::list<Request> done; // its work ends outside the mutex
    const std::scoped_lock lock(mutex_);
    const auto at = std::find_if(requests_.begin(), requests_.end(),
                                 [&](const Request& one) { return &one == &request; });
    answered_.push_back({at->from, std::move(reply)});
    done.splice(done.begin(), requests_, at);
    attended_ = stays;
}

std::size_t PendingRequests::poll(const ControlTurn& turn, const std::function<void()>& answered) {
    const auto end = Clock::now() + turn.most;
    {
        const std::scoped_lock lock(mutex_);
        ++turn_;
    }
    std::size_t count = 0;
    for (bool stays = true; stays;) {
        const auto most = count > 0 ? std::min(turn.next, turn.most) : std::chrono::microseconds(0);
        Request* const request = wait_for_next(most);
        if (!request)
            break;
        std::optional<ControlReply> reply;
        try {
            reply = request->work();
        } catch (const std::exception& error) {
            reply = ControlReply{control_refusal(error)};
        }
        stays = Clock::now() < end;
        if (!reply)
            continue;
        keep_answer(*request, std::move(*reply), stays);
        answered();
        ++count;
    }
    return count;
}

bool PendingRequests::left() const {
    const std::scoped_lock lock(mutex_);
    return any_new();
}

void PendingRequests::wait(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, most, [this] { return any_new(); });
}

} // namespace specklescope
