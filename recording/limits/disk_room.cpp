#include "recording/limits/disk_room.hpp"

#include "base/error.hpp"
#include "pipeline/param.hpp"

#include <sys/statvfs.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>

namespace specklescope {

namespace {
constexpr auto kAskEvery = std::chrono::milliseconds(100);
constexpr std::uint64_t kAskAfter = std::uint64_t{64} << 20;
constexpr double kLeastTime = 0.5; ///< s: a pace from less would jump

std::string size_text(std::uint64_t bytes) {
    char text[32];
    const double mib = static_cast<double>(bytes) / (1 << 20);
    std::snprintf(text, sizeof text, mib < 10 ? "%.1f MiB" : "%.0f MiB", mib);
    return text;
}
} // namespace

DiskRoom::DiskRoom(const std::string& path, double keep_free)
    : path_(path), folder_(std::filesystem::path(path).parent_path().string()), keep_free_(keep_free),
      began_(SteadyClock::now()) {
    if (folder_.empty())
        folder_ = ".";
    ask();
}

void DiskRoom::ask() {
    struct statvfs disk {};
    known_ = ::statvfs(folder_.c_str(), &disk) == 0 && disk.f_blocks > 0;
    asked_ = SteadyClock::now();
    since_ = 0;
    if (!known_)
        return;
    free_ = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
    kept_ = static_cast<std::uint64_t>(static_cast<double>(disk.f_blocks) *
                                       static_cast<double>(disk.f_frsize) * keep_free_ / 100);
}

void DiskRoom::check(std::uint64_t bytes) {
    if (folder_.empty() || keep_free_ == 0) // a full disk says so itself
        return;
    if (since_ + bytes > kAskAfter || SteadyClock::now() - asked_ >= kAskEvery)
        ask();
    if (known_ && free_ < kept_ + since_ + bytes) {
        ask(); // an answer of now
        if (known_ && free_ < kept_ + bytes)
            throw RunError("Recording into " + path_ + " stopped: " + size_text(free_) +
                           " of the disk is free, and keep_free = " + to_string(keep_free_) + " % needs " +
                           size_text(kept_) + ". Free some space, or record into another folder.");
    }
    since_ += bytes;
}

double DiskRoom::left_s(std::uint64_t written) const {
    const double time = std::chrono::duration<double>(SteadyClock::now() - began_).count();
    if (!known_ || written == 0 || time < kLeastTime)
        return std::numeric_limits<double>::quiet_NaN();
    const double room =
        std::max(0.0, static_cast<double>(free_) - static_cast<double>(kept_) - static_cast<double>(since_));
    return room / (static_cast<double>(written) / time);
}

} // namespace specklescope
