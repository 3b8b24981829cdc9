// Parts of the server of requests. Internal to net/control/ and its tests.
#pragma once

#include "net/control/server.hpp"

#include <sys/types.h>

#include <condition_variable>
#include <list>
#include <mutex>
#include <string>
#include <vector>

namespace specklescope {

/// The parts in front of a request: first who asks, last an empty one.
using Envelope = std::vector<std::string>;

class PendingRequests {
public:
    static constexpr std::size_t kMost = 64;
    static constexpr std::size_t kMostOfOne = 8;

    struct Answered {
        Envelope to;
        ControlReply reply;
    };

    // On the server's thread.
    /// True where the main thread is to be woken for it. Throws RunError where too many wait.
    bool put(const Envelope& from, ControlWork work);
    std::vector<Answered> take_answered();
    /// Who still waits.
    std::vector<Envelope> asking() const;

    // On the main thread.
    /// ControlServer::poll(); `answered` is called behind each answer.
    std::size_t poll(const ControlTurn& turn, const std::function<void()>& answered);
    /// There are some that it could look at and has not.
    bool left() const;
    /// Until there is a new one, at most so long.
    void wait(std::chrono::milliseconds most);

private:
    struct Request {
        Envelope from;
        ControlWork work;
        std::uint64_t turn = 0; ///< in which it was looked at last; 0: in none
    };
    using Place = std::list<Request>::const_iterator;
    bool first_of_its_own(Place request) const;
    bool any_new() const;
    Request* next();
    Request* wait_for_next(std::chrono::microseconds most);
    void keep_answer(const Request& request, ControlReply reply, bool stays);

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::list<Request> requests_; ///< oldest first; the main thread alone takes some out
    std::vector<Answered> answered_;
    std::uint64_t turn_ = 0;
    bool attended_ = false; ///< the main thread waits for the next
};

/// A descriptor that listens at `path`, for ZeroMQ to own. It takes the place of a socket that nobody listens
/// at, and of nothing else. The file is its owner's alone from its first moment on, by its own mode: the
/// process's mask, which other threads make files with, stays as it is. Throws RunError.
int listen_at(const std::string& path);

/// The file of a socket that has been bound, which ZeroMQ leaves: it goes with this, unless another one has
/// its name by then.
class BoundSocketFile {
public:
    explicit BoundSocketFile(std::string path); ///< "": none
    ~BoundSocketFile();
    BoundSocketFile(const BoundSocketFile&) = delete;
    BoundSocketFile& operator=(const BoundSocketFile&) = delete;

private:
    const std::string path_;
    bool there_ = false;
    dev_t device_ = 0;
    ino_t number_ = 0;
};

} // namespace specklescope
