// How much memory may be asked for: the one place that looks at the machine's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace specklescope {

/// Bytes that may be taken now without driving others out: what the system calls available, or what the
/// control group of this process leaves where that is less. The largest number there is where nobody says.
std::uint64_t available_memory();
/// The same from the text of /proc/meminfo; nothing where it does not say.
std::optional<std::uint64_t> available_in(std::string_view meminfo);

/// Throws RunError, before anything is allocated, if `what` ("'dark.npy'", "the simulated scene") needs more
/// than three quarters of that, or than this thread's MemoryLimit. `remedy`: what to do, as a clause.
void check_memory(std::uint64_t bytes, const std::string& what, const std::string& remedy);

/// While it lives, no more at once than this on its thread: for what is made unasked, beside the work that
/// matters. One within another takes its place.
class MemoryLimit {
public:
    explicit MemoryLimit(std::uint64_t bytes);
    MemoryLimit(const MemoryLimit&) = delete;
    MemoryLimit& operator=(const MemoryLimit&) = delete;
    ~MemoryLimit();
    bool refused() const { return refused_; } ///< something wanted more

    /// Of this thread; the largest number there is where none is set.
    static std::uint64_t here();

private:
    friend void check_memory(std::uint64_t, const std::string&, const std::string&);
    std::uint64_t bytes_;
    bool refused_ = false;
    MemoryLimit* outer_;
};

/// As if no more than this were available; nothing: as the machine says. For tests.
void pretend_memory(std::optional<std::uint64_t> bytes);

} // namespace specklescope
