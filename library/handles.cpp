#include "library/handles.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

/// Destructors of static objects in this library register here, which hides libc's function within the
/// library. They never run, because a thread may outlive end_all().
extern "C" __attribute__((visibility("hidden"))) int
__cxa_atexit(void (*)(void*), void*, void*) noexcept { // NOLINT(bugprone-reserved-identifier): the ABI's name
    return 0;
}

namespace specklescope::library {

namespace {

struct Row {
    std::shared_ptr<Object> object;
    const char* kind;
};

struct Table {
    std::mutex mutex;
    std::unordered_map<std::uintptr_t, Row> rows;
    std::uintptr_t last = 0;
};

/// Never destroyed: end_all() ends the objects that a program leaves open when it exits.
Table& table() {
    static auto* const only = new Table; // NOLINT(cppcoreguidelines-owning-memory)
    return *only;
}

/// Process that created the first handle; 0: none. Other processes cannot use the library: they lack its
/// threads, and locks may stay locked.
std::atomic<pid_t> user{0};

/// Multiples of 16, like addresses; a handle changed by arithmetic is invalid.
constexpr std::uintptr_t kStep = 16;

[[noreturn]] void refuse(const void* handle, const Kind& kind) {
    const std::string name = kind.name, maker = kind.maker;
    throw StatusError(SPECKLESCOPE_BAD_HANDLE,
                      handle ? "This is no " + name + " that is alive: it has ended, or never was one; " +
                                   maker + " gives one."
                             : "The " + name + " is NULL; " + maker + " gives one.");
}

using Rows = decltype(Table::rows);

/// Requires the table's mutex. Throws if there is no such handle of this kind.
Rows::iterator row_of(Table& all, const void* handle, const Kind& kind) {
    const auto row = all.rows.find(reinterpret_cast<std::uintptr_t>(handle));
    if (row == all.rows.end() || row->second.kind != kind.name)
        refuse(handle, kind);
    return row;
}

} // namespace

bool is_forked() noexcept {
    const pid_t owner = user;
    return owner != 0 && owner != ::getpid();
}

void* keep(std::shared_ptr<Object> object, const Kind& kind) {
    user = ::getpid();
    Table& all = table();
    const std::scoped_lock lock(all.mutex);
    const std::uintptr_t key = all.last + kStep;
    all.rows.emplace(key, Row{std::move(object), kind.name});
    all.last = key;
    return reinterpret_cast<void*>(key); // NOLINT(performance-no-int-to-ptr): never dereferenced
}

std::shared_ptr<Object> find(const void* handle, const Kind& kind) {
    Table& all = table();
    const std::scoped_lock lock(all.mutex);
    return row_of(all, handle, kind)->second.object;
}

std::shared_ptr<Object> find_to_use(const void* handle, const Kind& kind) {
    Table& all = table();
    const std::scoped_lock lock(all.mutex);
    const auto row = row_of(all, handle, kind);
    if (row->second.object->in_use.exchange(true))
        throw StatusError(SPECKLESCOPE_BUSY, std::string("Another thread is using this ") + kind.name +
                                                 "; let one use it at a time, or give each its own.");
    return row->second.object;
}

std::shared_ptr<Object> take_out(const void* handle, const Kind& kind) {
    Table& all = table();
    const std::scoped_lock lock(all.mutex);
    const auto row = row_of(all, handle, kind);
    std::shared_ptr<Object> object = std::move(row->second.object);
    all.rows.erase(row);
    return object;
}

void end_all() noexcept {
    if (is_forked())
        return;
    std::vector<std::shared_ptr<Object>> open;
    try {
        Table& all = table();
        const std::scoped_lock lock(all.mutex);
        for (const auto& [key, row] : all.rows)
            open.push_back(row.object);
    } catch (const std::bad_alloc&) { // NOLINT(bugprone-empty-catch): those that are in the list are ended
    }
    for (const auto& object : open)
        object->end();
}

void end_at_exit() {
    static std::once_flag once;
    std::call_once(once, [] {
        // std::atexit() would call the function above. Destructors of libraries that were loaded earlier run
        // after the handler.
        if (::on_exit([](int, void*) { end_all(); }, nullptr) != 0)
            throw std::bad_alloc();
    });
}

} // namespace specklescope::library
