#include "tests/recording/storage_calls.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <mutex>

namespace specklescope::test {
namespace {
std::mutex mutex;
bool wanted = false;
std::uint64_t now = 0;
std::uint64_t round = 0; // a call of an earlier log may return in a later one
std::vector<StorageCall> log;
std::function<int()> storage;

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
} // namespace specklescope::test

using namespace specklescope::test;

extern "C" {

ssize_t pwritev(int descriptor, const iovec* parts, int count, off_t offset) {
    static const auto real =
        reinterpret_cast<ssize_t (*)(int, const iovec*, int, off_t)>(dlsym(RTLD_NEXT, "pwritev"));
    StorageCall call;
    call.offset = static_cast<std::uint64_t>(offset);
    for (int i = 0; i < count; ++i)
        call.bytes.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
    const auto places = begin(std::move(call), descriptor);
    const ssize_t done = real(descriptor, parts, count, offset);
    end(places);
    return done;
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
