// What the recorders ask of the system, in order: stand-ins for pwritev() and fdatasync() in this program
// that keep a log of one folder's files while somebody wants one, and let a test be the storage; for close(),
// whose errors are those of other machines; and for getrandom(), whose chances nobody waits for.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace specklescope::test {

/// Times are places in the order of all calls.
struct StorageCall {
    bool sync = false; ///< else a write
    ino_t file = 0;
    std::uint64_t begin = 0, end = 0; ///< end 0: it has not returned
    std::uint64_t offset = 0;
    std::string bytes{};
};

/// Keeps a log while it lives; one at a time.
class StorageLog {
public:
    /// `storage` stands for fdatasync() and returns an error number, or 0; without it the system's is called.
    explicit StorageLog(std::function<int()> storage = {});
    ~StorageLog();
    StorageLog(const StorageLog&) = delete;
    StorageLog& operator=(const StorageLog&) = delete;
    /// Those begun so far, in the order in which they began.
    std::vector<StorageCall> calls() const;
    std::size_t syncs() const; ///< begun
};

/// While it lives pwritev() takes no more than this at once, as it may.
class ShortWrites {
public:
    explicit ShortWrites(std::size_t most);
    ~ShortWrites();
    ShortWrites(const ShortWrites&) = delete;
    ShortWrites& operator=(const ShortWrites&) = delete;
};

/// While it lives closing a file that was written gives this error, as on a network file system whose disk is
/// full.
class LateError {
public:
    explicit LateError(int error);
    ~LateError();
    LateError(const LateError&) = delete;
    LateError& operator=(const LateError&) = delete;
};

/// While it lives the first so many calls of getrandom() give the same bytes.
class SameRandom {
public:
    explicit SameRandom(int calls);
    ~SameRandom();
    int left() const;
    SameRandom(const SameRandom&) = delete;
    SameRandom& operator=(const SameRandom&) = delete;
};

/// While it lives operator new fails for this many bytes and more.
class LittleMemory {
public:
    explicit LittleMemory(std::size_t least);
    ~LittleMemory();
    LittleMemory(const LittleMemory&) = delete;
    LittleMemory& operator=(const LittleMemory&) = delete;
};

} // namespace specklescope::test
