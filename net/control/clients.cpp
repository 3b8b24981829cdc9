#include "net/control/clients.hpp"

#include <algorithm>

namespace specklescope {

void ControlClients::asked(const std::string& client, const char* from) {
    const auto now = std::chrono::steady_clock::now();
    const std::scoped_lock lock(mutex_);
    ++requests_;
    const auto [at, is_new] = clients_.try_emplace(client);
    if (is_new) {
        at->second.from = from ? from : "";
        at->second.since = now;
    }
    at->second.last = now;
    ++at->second.requests;
    if (clients_.size() > kMost)
        forget_one();
}

/// The one that has been silent longest. ZeroMQ does not tell that a client has gone.
void ControlClients::forget_one() {
    clients_.erase(std::min_element(clients_.begin(), clients_.end(), [](const auto& a, const auto& b) {
        return a.second.last < b.second.last;
    }));
}

void ControlClients::answered(const std::string& client, bool taken) {
    const std::scoped_lock lock(mutex_);
    ++(taken ? answers_ : lost_);
    if (const auto at = clients_.find(client); at != clients_.end())
        ++(taken ? at->second.answers : at->second.lost);
}

ControlCounts ControlClients::counts() const {
    const std::scoped_lock lock(mutex_);
    ControlCounts all{requests_, answers_, lost_, {}};
    all.clients.reserve(clients_.size());
    for (const auto& [client, counts] : clients_)
        all.clients.push_back(counts);
    std::sort(all.clients.begin(), all.clients.end(),
              [](const ControlClientCounts& a, const ControlClientCounts& b) { return a.since < b.since; });
    return all;
}

} // namespace specklescope
