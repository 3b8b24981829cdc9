// Somebody at a door of the program who asks, and reads nothing of the answers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace specklescope::bench {

/// A connection to this machine with as little room as the system gives for what comes.
class Stalled {
public:
    /// Throws RunError where nobody listens.
    explicit Stalled(int port);
    ~Stalled();
    Stalled(const Stalled&) = delete;
    Stalled& operator=(const Stalled&) = delete;
    void say(const std::string& bytes) const;
    /// Up to an empty line, and what that says comes behind it.
    std::string answer() const;
    /// Bytes that have come, and that nobody has taken.
    long unread() const;

private:
    int fd_;
};

struct DoorPorts {
    int publish = 0, control = 0, metrics = 0, serve = 0; ///< 0: that door is not open
};
/// Ports that were free just now.
DoorPorts free_ports(bool metrics, bool serve);
/// At each open door one, which has asked for all that there is.
std::vector<std::unique_ptr<Stalled>> stalled_clients(const DoorPorts& ports);

} // namespace specklescope::bench
