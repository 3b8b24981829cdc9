// Preloaded into the program, makes the n-th call of a kind fail, as on an exhausted machine:
//  SPECKLESCOPE_FAULT=KIND:N    the n-th call fails;
//  KIND:N+  the n-th call and all later ones fail
// SPECKLESCOPE_FAULT_REPORT=F  the counts are written to F at the end
// Counts only calls by the program, or by libraries that read and write its files: GLib ends the process
// without memory by design, which cannot be changed here.
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <new>

namespace {

enum Kind : std::uint8_t {
    kNew,
    kMalloc,
    kOpen,
    kRead,
    kWrite,
    kFsync,
    kRename,
    kClose,
    kThread,
    kCuda,
    kKinds
};
constexpr std::array<const char*, kKinds> kNames = {"new",   "malloc", "open",  "read",   "write",
                                                    "fsync", "rename", "close", "thread", "cuda"};
constexpr std::array<int, kKinds> kErrors = {ENOMEM, ENOMEM, EMFILE, EIO, ENOSPC, EIO, EIO, EIO, EAGAIN, EIO};

struct Range {
    std::uintptr_t begin = 0, end = 0;
};
std::array<Range, 8> ours{}; ///< code of the program and of the libraries that work for it
std::size_t our_count = 0;
Range program;
std::uintptr_t program_base = 0;

int kind = -1;
std::int64_t wanted = 0;
bool onwards = false;
std::atomic<bool> ready{false};
std::array<std::atomic<std::int64_t>, kKinds> calls{};
std::atomic<std::int64_t> failed{0}, held{0};
std::array<void*, 12> stack{}; ///< of the call that failed
int depth = 0;
int descriptors_before = 0, report = -1;
bool ended = false;

bool contains(const Range& range, std::uintptr_t at) { return at >= range.begin && at < range.end; }

bool by_us(const void* caller) {
    const auto at = reinterpret_cast<std::uintptr_t>(caller);
    for (std::size_t i = 0; i < our_count; ++i)
        if (contains(ours[i], at))
            return true;
    return false;
}

int note_object(dl_phdr_info* info, std::size_t, void*) {
    static constexpr std::array<const char*, 5> kLibraries = {"libtiff.", "libpng", "libjpeg", "libstdc++",
                                                              "libgstcoreelements"};
    const bool is_program = info->dlpi_name[0] == '\0' && program.end == 0;
    bool wanted_library = is_program;
    for (const char* name : kLibraries)
        wanted_library = wanted_library || std::strstr(info->dlpi_name, name) != nullptr;
    if (!wanted_library)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0 || our_count == ours.size())
            continue;
        const Range range{info->dlpi_addr + part.p_vaddr, info->dlpi_addr + part.p_vaddr + part.p_memsz};
        if (is_program)
            program = range, program_base = info->dlpi_addr;
        ours[our_count++] = range;
    }
    return 0;
}

int open_descriptors() {
    int count = 0;
    if (DIR* folder = opendir("/proc/self/fd")) {
        while (readdir(folder))
            ++count;
        closedir(folder);
    }
    return count;
}

/// Writes the counts without allocating memory.
void note() {
    if (report < 0)
        return;
    std::array<char, 2000> text{};
    int length = std::snprintf(
        text.data(), text.size(),
        R"({"calls": %lld, "failed": %lld, "held": %lld, "descriptors": %d, "ended": %s, "stack": [)",
        static_cast<long long>(kind < 0 ? 0 : calls[static_cast<std::size_t>(kind)].load()),
        static_cast<long long>(failed.load()), static_cast<long long>(held.load()),
        ended ? open_descriptors() - descriptors_before : 0, ended ? "true" : "false");
    for (int i = 0; i < depth; ++i) { // an address within the program, or the name of a library
        const auto at = reinterpret_cast<std::uintptr_t>(stack[static_cast<std::size_t>(i)]);
        Dl_info object{};
        const bool inside = contains(program, at);
        const bool named = !inside && dladdr(reinterpret_cast<void*>(at), &object) != 0 && object.dli_fname;
        const char* name = named ? std::strrchr(object.dli_fname, '/') : nullptr;
        const std::size_t room = text.size() - static_cast<std::size_t>(length);
        length += inside ? std::snprintf(text.data() + length, room, R"(%s"0x%llx")", i > 0 ? ", " : "",
                                         static_cast<unsigned long long>(at - program_base))
                         : std::snprintf(text.data() + length, room, R"(%s"%.60s")", i > 0 ? ", " : "",
                                         name ? name + 1 : "?");
    }
    length += std::snprintf(text.data() + length, text.size() - static_cast<std::size_t>(length), "]}");
    std::memset(text.data() + length, ' ',
                text.size() - static_cast<std::size_t>(length)); // over the previous text
    (void)syscall(SYS_pwrite64, report, text.data(), text.size(), 0);
}

/// Counts a call; true if this one must fail, with errno set.
bool fails(Kind which, const void* caller) {
    if (!ready.load(std::memory_order_relaxed) || which != kind || !by_us(caller))
        return false;
    const std::int64_t number = ++calls[which];
    if (number != wanted && !(onwards && number > wanted))
        return false;
    if (failed++ == 0) {
        depth = backtrace(stack.data(), static_cast<int>(stack.size()));
        note(); // an aborting program does not reach the end
    }
    errno = kErrors[which];
    return true;
}

template <class F> F next(const char* name) { return reinterpret_cast<F>(dlsym(RTLD_NEXT, name)); }

bool is_file(int descriptor) {
    struct stat status {};
    return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

__attribute__((constructor)) void begin() {
    dl_iterate_phdr(note_object, nullptr);
    if (const char* path = std::getenv("SPECKLESCOPE_FAULT_REPORT"))
        report = static_cast<int>(syscall(SYS_open, path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    backtrace(stack.data(), static_cast<int>(stack.size())); // the first time it loads a library
    descriptors_before = open_descriptors();
    const char* text = std::getenv("SPECKLESCOPE_FAULT");
    const char* colon = text ? std::strchr(text, ':') : nullptr;
    for (std::size_t i = 0; colon && i < kNames.size(); ++i)
        if (std::strncmp(text, kNames[i], static_cast<std::size_t>(colon - text)) == 0 &&
            std::strlen(kNames[i]) == static_cast<std::size_t>(colon - text))
            kind = static_cast<int>(i);
    if (kind < 0)
        return;
    wanted = std::atoll(colon + 1);
    onwards = text[std::strlen(text) - 1] == '+';
}

using Main = int (*)(int, char**, char**);
Main real_main = nullptr;

/// An error before main() cannot be reported, so counting begins there.
int counted_main(int argc, char** argv, char** environment) {
    ready = kind >= 0;
    return real_main(argc, argv, environment);
}

__attribute__((destructor)) void end() {
    ready = false;
    ended = true;
    note();
}

void* allocate(std::size_t bytes, std::size_t alignment) {
    void* memory = alignment == 0 ? std::malloc(bytes) : nullptr;
    if (alignment != 0 && posix_memalign(&memory, alignment, bytes) != 0)
        memory = nullptr;
    if (memory)
        ++held;
    return memory;
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment, const void* caller) {
    void* memory = fails(kNew, caller) ? nullptr : allocate(bytes, alignment);
    if (!memory)
        throw std::bad_alloc();
    return memory;
}

void release(void* memory) noexcept {
    if (memory)
        --held;
    std::free(memory);
}

} // namespace

// clang-format off
void* operator new(std::size_t n) { return allocate_or_throw(n, 0, __builtin_return_address(0)); }
void* operator new[](std::size_t n) { return allocate_or_throw(n, 0, __builtin_return_address(0)); }
void* operator new(std::size_t n, std::align_val_t a) { return allocate_or_throw(n, static_cast<std::size_t>(a), __builtin_return_address(0)); }
void* operator new[](std::size_t n, std::align_val_t a) { return allocate_or_throw(n, static_cast<std::size_t>(a), __builtin_return_address(0)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return fails(kNew, __builtin_return_address(0)) ? nullptr : allocate(n, 0); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return fails(kNew, __builtin_return_address(0)) ? nullptr : allocate(n, 0); }
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { release(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { release(p); }
// clang-format on

extern "C" {

int __libc_start_main(Main main, int argc, char** argv, void (*begin)(), void (*end)(), void (*linker_end)(),
                      void* stack) {
    using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
    real_main = main;
    return next<Start>("__libc_start_main")(counted_main, argc, argv, begin, end, linker_end, stack);
}

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) {
    if (fails(kMalloc, __builtin_return_address(0)))
        return nullptr;
    return __libc_malloc(bytes);
}

void* calloc(std::size_t count, std::size_t bytes) {
    if (fails(kMalloc, __builtin_return_address(0)))
        return nullptr;
    return __libc_calloc(count, bytes);
}

void* realloc(void* memory, std::size_t bytes) {
    if (fails(kMalloc, __builtin_return_address(0)))
        return nullptr;
    return __libc_realloc(memory, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    if (fails(kMalloc, __builtin_return_address(0)))
        return nullptr;
    return __libc_memalign(alignment, bytes);
}

int open(const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (fails(kOpen, __builtin_return_address(0)))
        return -1;
    static const auto real = next<int (*)(const char*, int, ...)>("open");
    return real(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (fails(kOpen, __builtin_return_address(0)))
        return -1;
    static const auto real = next<int (*)(const char*, int, ...)>("open64");
    return real(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (fails(kOpen, __builtin_return_address(0)))
        return -1;
    static const auto real = next<int (*)(int, const char*, int, ...)>("openat");
    return real(folder, path, flags, mode);
}

std::FILE* fopen(const char* path, const char* mode) {
    if (fails(kOpen, __builtin_return_address(0)))
        return nullptr;
    static const auto real = next<std::FILE* (*)(const char*, const char*)>("fopen");
    return real(path, mode);
}

std::FILE* fopen64(const char* path, const char* mode) {
    if (fails(kOpen, __builtin_return_address(0)))
        return nullptr;
    static const auto real = next<std::FILE* (*)(const char*, const char*)>("fopen64");
    return real(path, mode);
}

ssize_t read(int descriptor, void* to, std::size_t bytes) {
    static const auto real = next<ssize_t (*)(int, void*, std::size_t)>("read");
    if (kind == kRead && is_file(descriptor) && fails(kRead, __builtin_return_address(0)))
        return -1;
    return real(descriptor, to, bytes);
}

std::size_t fread(void* to, std::size_t size, std::size_t count, std::FILE* file) {
    static const auto real = next<std::size_t (*)(void*, std::size_t, std::size_t, std::FILE*)>("fread");
    if (kind == kRead && is_file(fileno(file)) && fails(kRead, __builtin_return_address(0)))
        return 0;
    return real(to, size, count, file);
}

ssize_t write(int descriptor, const void* from, std::size_t bytes) {
    static const auto real = next<ssize_t (*)(int, const void*, std::size_t)>("write");
    if (kind == kWrite && is_file(descriptor) && fails(kWrite, __builtin_return_address(0)))
        return -1;
    return real(descriptor, from, bytes);
}

ssize_t pwrite(int descriptor, const void* from, std::size_t bytes, off_t offset) {
    static const auto real = next<ssize_t (*)(int, const void*, std::size_t, off_t)>("pwrite");
    if (kind == kWrite && is_file(descriptor) && fails(kWrite, __builtin_return_address(0)))
        return -1;
    return real(descriptor, from, bytes, offset);
}

ssize_t writev(int descriptor, const iovec* parts, int count) {
    static const auto real = next<ssize_t (*)(int, const iovec*, int)>("writev");
    if (kind == kWrite && is_file(descriptor) && fails(kWrite, __builtin_return_address(0)))
        return -1;
    return real(descriptor, parts, count);
}

ssize_t pwritev(int descriptor, const iovec* parts, int count, off_t offset) {
    static const auto real = next<ssize_t (*)(int, const iovec*, int, off_t)>("pwritev");
    if (kind == kWrite && is_file(descriptor) && fails(kWrite, __builtin_return_address(0)))
        return -1;
    return real(descriptor, parts, count, offset);
}

int fsync(int descriptor) {
    static const auto real = next<int (*)(int)>("fsync");
    if (fails(kFsync, __builtin_return_address(0)))
        return -1;
    return real(descriptor);
}

int fdatasync(int descriptor) {
    static const auto real = next<int (*)(int)>("fdatasync");
    if (fails(kFsync, __builtin_return_address(0)))
        return -1;
    return real(descriptor);
}

int rename(const char* from, const char* to) noexcept {
    static const auto real = next<int (*)(const char*, const char*)>("rename");
    if (fails(kRename, __builtin_return_address(0)))
        return -1;
    return real(from, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
    static const auto real = next<int (*)(int, const char*, int, const char*, unsigned)>("renameat2");
    if (fails(kRename, __builtin_return_address(0)))
        return -1;
    return real(from_folder, from, to_folder, to, flags);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
    static const auto real = next<int (*)(int, const char*, int, const char*, int)>("linkat");
    if (fails(kRename, __builtin_return_address(0)))
        return -1;
    return real(from_folder, from, to_folder, to, flags);
}

/// The descriptor is closed all the same, as after a close() that reports data lost by a network disk.
int close(int descriptor) {
    static const auto real = next<int (*)(int)>("close");
    const bool fail = kind == kClose && is_file(descriptor) && fails(kClose, __builtin_return_address(0));
    const int status = real(descriptor);
    if (!fail)
        return status;
    errno = kErrors[kClose]; // errno from close() is not the injected error
    return -1;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
    static const auto real =
        next<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
    if (fails(kThread, __builtin_return_address(0)))
        return EAGAIN;
    return real(thread, attributes, start, argument);
}

/// Called by the replacements in cuda_faults.cpp.
int specklescope_cuda_call_fails() { return fails(kCuda, __builtin_return_address(0)) ? 1 : 0; }

} // extern "C"
