#include "tests/recording/storage_calls.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

namespace specklescope::test {
namespace {
std::mutex mutex;
bool wanted = false;
std::uint64_t now = 0;
std::uint64_t round = 0; // a call of an earlier log may return in a later one
std::vector<StorageCall> log;
std::function<int()> storage;
std::size_t most_at_once = SIZE_MAX;
int same_random = 0; // calls that are left
std::atomic<int> late_error{0};

struct Place {
    std::uint64_t round = 0;
    std::size_t index = 0;
};

/// Nothing: nobody wants it.
std::vector<Place> begin(StorageCall call, int descriptor) {
    struct stat status {};
    const std::lock_guard lock(mutex);
    if (!wanted || ::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        return {};
    call.file = status.st_ino;
    call.begin = ++now;
    log.push_back(std::move(call));
    return {{round, log.size() - 1}};
}

void end(const std::vector<Place>& places) {
    const std::lock_guard lock(mutex);
    for (const Place& place : places)
        if (place.round == round)
            log[place.index].end = ++now;
}
std::atomic<std::size_t> least_that_fails{SIZE_MAX}; // NOLINT: bytes of operator new
} // namespace

StorageLog::StorageLog(std::function<int()> stand_in) {
    const std::lock_guard lock(mutex);
    wanted = true;
    ++round;
    log.clear();
    storage = std::move(stand_in);
}

StorageLog::~StorageLog() {
    const std::lock_guard lock(mutex);
    wanted = false;
    ++round;
    log.clear();
    storage = {};
}

std::vector<StorageCall> StorageLog::calls() const {
    const std::lock_guard lock(mutex);
    return log;
}

std::size_t StorageLog::syncs() const {
    const std::lock_guard lock(mutex);
    return static_cast<std::size_t>(
        std::count_if(log.begin(), log.end(), [](const StorageCall& call) { return call.sync; }));
}

ShortWrites::ShortWrites(std::size_t most) {
    const std::lock_guard lock(mutex);
    most_at_once = most;
}

ShortWrites::~ShortWrites() {
    const std::lock_guard lock(mutex);
    most_at_once = SIZE_MAX;
}

LateError::LateError(int error) { late_error = error; }

LateError::~LateError() { late_error = 0; }

SameRandom::SameRandom(int calls) {
    const std::lock_guard lock(mutex);
    same_random = calls;
}

SameRandom::~SameRandom() {
    const std::lock_guard lock(mutex);
    same_random = 0;
}

LittleMemory::LittleMemory(std::size_t least) { least_that_fails = least; }
LittleMemory::~LittleMemory() { least_that_fails = SIZE_MAX; }

int SameRandom::left() const {
    const std::lock_guard lock(mutex);
    return same_random;
}
} // namespace specklescope::test

using namespace specklescope::test;

void* operator new(std::size_t bytes) {
    void* memory = bytes < least_that_fails ? std::malloc(std::max<std::size_t>(1, bytes)) : nullptr;
    if (!memory)
        throw std::bad_alloc();
    return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" {

ssize_t pwritev(int descriptor, const iovec* parts, int count, off_t offset) {
    static const auto real =
        reinterpret_cast<ssize_t (*)(int, const iovec*, int, off_t)>(dlsym(RTLD_NEXT, "pwritev"));
    StorageCall call;
    call.offset = static_cast<std::uint64_t>(offset);
    for (int i = 0; i < count; ++i)
        call.bytes.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
    const auto places = begin(std::move(call), descriptor);
    std::vector<iovec> given(parts, parts + count);
    {
        const std::lock_guard lock(mutex);
        std::size_t left = most_at_once;
        for (iovec& part : given) {
            part.iov_len = std::min(part.iov_len, left);
            left -= part.iov_len;
        }
    }
    const ssize_t done = real(descriptor, given.data(), count, offset);
    end(places);
    return done;
}

ssize_t getrandom(void* to, size_t bytes, unsigned flags) {
    static const auto real =
        reinterpret_cast<ssize_t (*)(void*, size_t, unsigned)>(dlsym(RTLD_NEXT, "getrandom"));
    {
        const std::lock_guard lock(mutex);
        if (same_random > 0) {
            --same_random;
            std::memset(to, 0x5e, bytes);
            return static_cast<ssize_t>(bytes);
        }
    }
    return real(to, bytes, flags);
}

int close(int descriptor) {
    static const auto real = reinterpret_cast<int (*)(int)>(dlsym(RTLD_NEXT, "close"));
    struct stat status {};
    const int error = late_error;
    const bool fails = error != 0 && ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
                       (::fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_RDONLY;
    const int done = real(descriptor);
    if (!fails)
        return done;
    errno = error;
    return -1;
}

int fdatasync(int descriptor) {
    static const auto real = reinterpret_cast<int (*)(int)>(dlsym(RTLD_NEXT, "fdatasync"));
    const auto places = begin({.sync = true}, descriptor);
    std::function<int()> instead;
    {
        const std::lock_guard lock(mutex);
        instead = places.empty() ? nullptr : storage;
    }
    const int error = instead ? instead() : real(descriptor) == 0 ? 0 : errno;
    end(places);
    errno = error;
    return error == 0 ? 0 : -1;
}

} // extern "C"
