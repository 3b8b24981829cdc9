// Operating system: standard streams, open files, signals, paths and loopback addresses.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace specklescope {

/// Opens /dev/null for closed streams; otherwise the next opened file would get their number and their
/// output. Standard output stays closed, so that streaming to it is refused. Call it before any file is
/// opened; throws RunError.
void hold_standard_streams();

/// Raises the limit to what the system allows, at most 65 536. Call it at program start; the default is low
/// for many connections and files.
void allow_many_files() noexcept;

/// True if the error is caused by too many open files, in this process or in the system.
bool is_of_open_files(int error);
/// Remedy for these errors.
inline constexpr const char* kFewerOpenFiles =
    "let fewer programs connect, or raise the limit (ulimit -n, LimitNOFILE= of a service)";

/// Blocks the signal in this thread for its lifetime and discards a signal raised during that time. Threads
/// started by this thread inherit the block.
class HeldSignal {
public:
    explicit HeldSignal(int signal);
    HeldSignal(const HeldSignal&) = delete;
    HeldSignal& operator=(const HeldSignal&) = delete;
    ~HeldSignal();

    /// Blocks the signal for the rest of the thread; for threads that only write.
    static void hold_here(int signal) noexcept;

private:
    sigset_t held_{}, before_{};
    bool foreign_ = false; ///< pending before
};

/// Expands a leading "~" or "~/", also in quotes or after a kind, where the shell does not.
std::string home_expanded(std::string_view path);

/// ".tiff" of "a/Flow.TIFF", in lower case; "" without an ending.
inline std::string lower_ending(const std::filesystem::path& path) {
    std::string ending = path.extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return ending;
}

/// True for "localhost", "[::1]" and IPv4 addresses in 127.0.0.0/8. Other names may resolve to any machine,
/// also those that start with these texts.
bool is_loopback(const std::string& host);

} // namespace specklescope
