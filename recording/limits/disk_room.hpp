// How much of its disk a recording may still fill.
#pragma once

#include "pipeline/frame.hpp"

#include <cstdint>
#include <string>

namespace specklescope {

class DiskRoom {
public:
    DiskRoom() = default;
    /// Of the file system of `path`'s folder; `keep_free` per cent of it stay free.
    DiskRoom(const std::string& path, double keep_free);

    /// Before `bytes` are written. Asks the system every 100 ms, or after 64 MiB, whichever comes first. A
    /// file system that does not say how large it is has no limit, nor has one of which nothing is to stay
    /// free. Throws RunError where the bytes would take what is to stay free.
    void check(std::uint64_t bytes);
    /// Until it is reached, in s, after `written` bytes since the construction; NaN: not known yet.
    double left_s(std::uint64_t written) const;

private:
    void ask();

    std::string path_, folder_;
    double keep_free_ = 0;
    bool known_ = false;
    std::uint64_t free_ = 0, kept_ = 0; ///< bytes, when it was asked last
    std::uint64_t since_ = 0;           ///< bytes written since then
    SteadyClock::time_point began_{}, asked_{};
};

} // namespace specklescope
