// Limits for memory allocation: the only place that reads the machine's free memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace specklescope {

/// Bytes that can be allocated without swapping: the smaller of the system's available memory and the rest of
/// this process's control group. The largest number if neither is known.
std::uint64_t available_memory();
/// The same from the text of /proc/meminfo; nothing if it contains no such line.
std::optional<std::uint64_t> available_in(std::string_view meminfo);

/// Throws RunError, before any allocation, if `what` ("'dark.npy'", "the simulated scene") needs more than
/// three quarters of the available memory or more than this thread's MemoryLimit. `remedy`: what to do, as a
/// clause.
void check_memory(std::uint64_t bytes, const std::string& what, const std::string& remedy);

/// Limits single allocations on the current thread for its lifetime; for optional work next to the run. A
/// nested limit replaces it.
class MemoryLimit {
public:
    explicit MemoryLimit(std::uint64_t bytes);
    MemoryLimit(const MemoryLimit&) = delete;
    MemoryLimit& operator=(const MemoryLimit&) = delete;
    ~MemoryLimit();
    bool refused() const { return refused_; } ///< an allocation exceeded the limit

    /// Limit of the current thread; the largest number if none is set.
    static std::uint64_t here();

private:
    friend void check_memory(std::uint64_t, const std::string&, const std::string&);
    std::uint64_t bytes_;
    bool refused_ = false;
    MemoryLimit* outer_;
};

/// Overrides the available memory for tests; nothing: use the machine's.
void pretend_memory(std::optional<std::uint64_t> bytes);

} // namespace specklescope
