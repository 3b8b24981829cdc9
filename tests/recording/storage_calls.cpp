#include "tests/recording/storage_calls.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

namespace specklescope::test {
namespace {
std::mutex mutex; // guards the next four
bool wanted = false;
std::size_t syncs_begun = 0;
std::function<int()> storage;
std::function<void()> before_write;

bool is_regular(int descriptor) {
    struct stat status {};
    return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

/// The system's function of this name.
template <class F> F* real(const char* name) { return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name)); }
} // namespace

SlowWrites::SlowWrites(std::function<void()> before) {
    const std::lock_guard lock(mutex);
    before_write = std::move(before);
}

SlowWrites::~SlowWrites() {
    const std::lock_guard lock(mutex);
    before_write = {};
}

StorageLog::StorageLog(std::function<int()> stand_in) {
    const std::lock_guard lock(mutex);
    wanted = true;
    syncs_begun = 0;
    storage = std::move(stand_in);
}

StorageLog::~StorageLog() {
    const std::lock_guard lock(mutex);
    wanted = false;
    storage = {};
}

std::size_t StorageLog::syncs() const {
    const std::lock_guard lock(mutex);
    return syncs_begun;
}

bool memory_can_be_little() {
    const LittleMemory none(1);
    try {
        ::operator delete(::operator new(1));
        return false;
    } catch (const std::bad_alloc&) {
        return true;
    }
}
} // namespace specklescope::test

using namespace specklescope::test;

[[gnu::weak]] void* operator new(std::size_t bytes) {
    void* memory = bytes < bytes_that_fail ? std::malloc(std::max<std::size_t>(1, bytes)) : nullptr;
    if (!memory)
        throw std::bad_alloc();
    return memory;
}
[[gnu::weak]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::weak]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" {

ssize_t pwritev(int descriptor, const iovec* parts, int count, off_t offset) {
    static const auto system = real<ssize_t(int, const iovec*, int, off_t)>("pwritev");
    std::function<void()> before;
    {
        const std::lock_guard lock(mutex);
        before = before_write;
    }
    if (before)
        before();
    std::vector<iovec> given(parts, parts + count);
    std::size_t left = bytes_of_a_write;
    for (iovec& part : given) {
        part.iov_len = std::min(part.iov_len, left);
        left -= part.iov_len;
    }
    return system(descriptor, given.data(), count, offset);
}

ssize_t getrandom(void* to, size_t bytes, unsigned flags) {
    static const auto system = real<ssize_t(void*, size_t, unsigned)>("getrandom");
    if (same_random_calls == 0)
        return system(to, bytes, flags);
    --same_random_calls;
    std::memset(to, 0x5e, bytes);
    return static_cast<ssize_t>(bytes);
}

int close(int descriptor) {
    static const auto system = real<int(int)>("close");
    const auto error = static_cast<int>(error_of_closing);
    const bool fails =
        error != 0 && is_regular(descriptor) && (::fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_RDONLY;
    const int done = system(descriptor);
    if (!fails)
        return done;
    errno = error;
    return -1;
}

int fdatasync(int descriptor) {
    static const auto system = real<int(int)>("fdatasync");
    std::function<int()> instead;
    if (is_regular(descriptor)) {
        const std::lock_guard lock(mutex);
        syncs_begun += wanted ? 1 : 0;
        instead = storage;
    }
    const int error = instead ? instead() : system(descriptor) == 0 ? 0 : errno;
    errno = error;
    return error == 0 ? 0 : -1;
}

} // extern "C"
