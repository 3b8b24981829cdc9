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

/// The parts before a request: the client first, an empty part last.
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
    /// True if the main thread has to be woken. Throws RunError if too many are pending.
    bool put(const Envelope& from, ControlWork work);
    std::vector<Answered> take_answered();
    /// Clients with pending requests.
    std::vector<Envelope> asking() const;

    // On the main thread.
    /// ControlServer::poll(); `answered` is called after each answer.
    std::size_t poll(const ControlTurn& turn, const std::function<void()>& answered);
    /// True if some requests were not checked yet.
    bool left() const;
    /// Waits for a new request, at most `most`.
    void wait(std::chrono::milliseconds most);

private:
    struct Request {
        Envelope from;
        ControlWork work;
        std::uint64_t turn = 0; ///< turn of poll() in which it was last checked; 0: none
    };
    using Place = std::list<Request>::const_iterator;
    bool first_of_its_own(Place request) const;
    bool any_new() const;
    Request* next();
    Request* wait_for_next(std::chrono::microseconds most);
    void keep_answer(const Request& request, ControlReply reply, bool stays);

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::list<Request> requests_; ///< oldest first; only the main thread removes any
    std::vector<Answered> answered_;
    std::uint64_t turn_ = 0;
    bool attended_ = false; ///< the main thread is waiting for the next request
};

/// Listening descriptor at `path`, to be owned by ZeroMQ. Replaces only a socket without a listener. The
/// file's own mode restricts access to the owner, without changing the umask of the process. Throws
/// RunError.
int listen_at(const std::string& path);

/// Removes the file of a bound socket, which ZeroMQ leaves, unless another file has this name by then.
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
