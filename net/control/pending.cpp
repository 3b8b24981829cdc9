#include "net/control/pending.hpp"

#include "base/error.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

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

/// Removes the client that has been silent longest. ZeroMQ does not report disconnections.
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

namespace {

sockaddr_un place_of(const std::string& path) {
    sockaddr_un place{};
    place.sun_family = AF_UNIX;
    std::memcpy(place.sun_path, path.data(), path.size()); // parse_listen_address() has checked its length
    return place;
}

bool somebody_listens(const std::string& path) {
    const sockaddr_un to = place_of(path);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool listens = fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
    if (fd >= 0)
        ::close(fd);
    return listens;
}

void make_room(const std::string& path) {
    struct stat file {};
    if (::lstat(path.c_str(), &file) != 0)
        return;
    if (!S_ISSOCK(file.st_mode))
        throw RunError("'" + path + "' exists and is not a socket. Name another path, or remove it.");
    if (somebody_listens(path))
        throw RunError("A program listens at '" + path + "' already. Name another path, or end it.");
    ::unlink(path.c_str());
}

} // namespace

int listen_at(const std::string& path) {
    make_room(path);
    constexpr int kWaiting = 100; // maximum queued connections
    const sockaddr_un place = place_of(path);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    // Linux gives the file the mode that the socket has when it is bound.
    if (fd >= 0 && ::fchmod(fd, S_IRUSR | S_IWUSR) == 0 &&
        ::bind(fd, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0 &&
        ::listen(fd, kWaiting) == 0)
        return fd;
    const int error = errno;
    if (fd >= 0)
        ::close(fd);
    throw RunError("Requests cannot be accepted at '" + path +
                   "': " + std::generic_category().message(error) + ". Name another path.");
}

BoundSocketFile::BoundSocketFile(std::string path) : path_(std::move(path)) {
    struct stat file {};
    there_ = !path_.empty() && ::lstat(path_.c_str(), &file) == 0;
    device_ = file.st_dev;
    number_ = file.st_ino;
}

BoundSocketFile::~BoundSocketFile() {
    struct stat file {};
    if (there_ && ::lstat(path_.c_str(), &file) == 0 && file.st_dev == device_ && file.st_ino == number_)
        ::unlink(path_.c_str());
}

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

/// Answers on one connection keep the order of its requests.
bool PendingRequests::first_of_its_own(Place request) const {
    return std::none_of(requests_.begin(), request,
                        [&](const Request& before) { return before.from.front() == request->from.front(); });
}

/// Requires the mutex.
bool PendingRequests::any_new() const {
    for (Place at = requests_.begin(); at != requests_.end(); ++at)
        if (at->turn == 0 && first_of_its_own(at))
            return true;
    return false;
}

/// Requires the mutex. Returns the request whose last check is oldest, among those not checked in this
/// round. Null: none.
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
    std::list<Request> done; // destroyed after unlocking
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
