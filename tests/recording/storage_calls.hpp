// Replacements of system calls in this program, so that a test can control the storage: fdatasync() and
// pwritev(); close(), whose errors come from network file systems; getrandom(), whose collisions are too
// rare; operator new.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace specklescope::test {

/// Calls `before` before each pwritev() during its lifetime; only one instance at a time.
class SlowWrites {
public:
    explicit SlowWrites(std::function<void()> before);
    ~SlowWrites();
    SlowWrites(const SlowWrites&) = delete;
    SlowWrites& operator=(const SlowWrites&) = delete;
};

/// Counts calls of fdatasync() on regular files during its lifetime; only one instance at a time.
class StorageLog {
public:
    /// `storage` replaces fdatasync() and returns an error number, or 0; without it the system's function is
    /// called.
    explicit StorageLog(std::function<int()> storage = {});
    ~StorageLog();
    StorageLog(const StorageLog&) = delete;
    StorageLog& operator=(const StorageLog&) = delete;
    std::size_t syncs() const; ///< calls begun
};

/// Sets a value during its lifetime.
template <std::atomic<std::size_t>& value> class WhileItLives {
public:
    explicit WhileItLives(std::size_t of_test) : before_(value.exchange(of_test)) {}
    WhileItLives(const WhileItLives&) = delete;
    WhileItLives& operator=(const WhileItLives&) = delete;
    ~WhileItLives() { value = before_; }
    std::size_t left() const { return value; }

private:
    std::size_t before_;
};

// NOLINTBEGIN: read by the stand-ins
inline std::atomic<std::size_t> bytes_of_a_write{SIZE_MAX}, error_of_closing{0}, same_random_calls{0},
    bytes_that_fail{SIZE_MAX};
// NOLINTEND
/// pwritev() writes at most this many bytes at once, as it may.
using ShortWrites = WhileItLives<bytes_of_a_write>;
/// Closing a written file returns this error, as on a network file system with a full disk.
using LateError = WhileItLives<error_of_closing>;
/// This many calls of getrandom() return the same bytes.
using SameRandom = WhileItLives<same_random_calls>;
/// operator new fails for this many bytes and more.
using LittleMemory = WhileItLives<bytes_that_fail>;
/// False in a build with a sanitizer that has its own operator new.
bool memory_can_be_little();

} // namespace specklescope::test
