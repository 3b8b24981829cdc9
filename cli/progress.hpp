// Progress of a run: a bar on a terminal (standard error), a plain line every two seconds otherwise.
#pragma once

#include "pipeline/frame.hpp"

#include <string>
#include <string_view>

namespace specklescope {

class Progress {
public:
    /// `total` 0: unknown.
    Progress(std::uint64_t total, bool quiet);
    /// `note`: additional text, for example "temporal 7/25".
    void update(std::uint64_t done, double rate, const std::string& note = "");
    /// Progress before there are frames: name of the work and progress, 0…1; negative: unknown. Silent for
    /// the first half second.
    void preparing(std::string_view what, double part);
    /// Takes the bar off the screen.
    void clear();
    bool on_terminal() const { return terminal_; }

private:
    std::uint64_t total_;
    bool quiet_, terminal_;
    bool drawn_ = false;
    bool said_ = false;
    SteadyClock::time_point begin_ = SteadyClock::now(), last_ = begin_;
};

/// "[####----] 450 of 1000 · 84.2 frames/s · 0:06 left", at most `width` columns.
std::string progress_bar(std::uint64_t done, std::uint64_t total, double rate, std::size_t width,
                         const std::string& note = "");
/// The same without the bar.
std::string progress_line(std::uint64_t done, std::uint64_t total, double rate, const std::string& note = "");

} // namespace specklescope
