#include "library/handles.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

namespace specklescope::library {

namespace {

struct Row {
    std::shared_ptr<Object> object;
    const char* kind;
    bool outlives_fork;
    pid_t made_in;
    bool at_work = false; ///< another thread was in a call with it when a fork began
    bool left = false;    ///< it stayed with the process before a fork
};

bool is_forked(const Row& row) { return row.left || (!row.outlives_fork && row.made_in != ::getpid()); }

struct Table {
    std::mutex mutex; // not a shared one: glibc's cannot be unlocked in a child
    std::unordered_map<std::uintptr_t, Row> rows;
    std::uintptr_t last = 0;
    std::vector<std::shared_ptr<Object>> forked; ///< whose ends would wait for threads that are not here
};

Table& table();

/// No other thread holds the table or what it names while the process is copied: nobody would let go of it in
/// the child. Nobody begins a call meanwhile; who is in one with an object may have it half changed.
void before_fork() {
    Table& all = table();
    all.mutex.lock();
    for (auto& [key, row] : all.rows) {
        row.at_work = row.object->in_use;
        if (row.outlives_fork)
            row.object->hold();
    }
}

void let_go_of(Table& all) {
    for (auto& [key, row] : all.rows)
        if (row.outlives_fork)
            row.object->let_go();
    all.mutex.unlock();
}

void in_parent() { let_go_of(table()); }

void in_child() {
    Table& all = table();
    for (auto& [key, row] : all.rows)
        row.left = row.left || row.at_work || !row.outlives_fork;
    let_go_of(all);
}

/// Never ends: what a program leaves open when it exits is not taken down behind its back.
Table* make_table() {
    auto made = std::make_unique<Table>();
    if (::pthread_atfork(before_fork, in_parent, in_child) != 0)
        throw std::bad_alloc();
    return made.release();
}

/// When the library is loaded: no thread is at it then that a child would wait for.
Table* const only = make_table();

Table& table() { return *only; }

/// Multiples of 16, as addresses would be: a handle that was reckoned with is none.
constexpr std::uintptr_t kStep = 16;

[[noreturn]] void refuse(const void* handle, const Kind& kind) {
    const std::string name = kind.name, maker = kind.maker;
    throw StatusError(SPECKLESCOPE_BAD_HANDLE,
                      handle ? "This is no " + name + " that is alive: it has ended, or never was one; " +
                                   maker + " gives one."
                             : "The " + name + " is NULL; " + maker + " gives one.");
}

using Rows = decltype(Table::rows);

/// Of a table that this thread holds. Throws where there is none of that kind.
Rows::iterator row_of(Table& all, const void* handle, const Kind& kind) {
    const auto row = all.rows.find(reinterpret_cast<std::uintptr_t>(handle));
    if (row == all.rows.end() || row->second.kind != kind.name)
        refuse(handle, kind);
    return row;
}

/// Throws where it is of the process before a fork as well.
Object& here(Rows::iterator row, const Kind& kind) {
    if (is_forked(row->second))
        throw StatusError(SPECKLESCOPE_BAD_HANDLE, kind.forked);
    return *row->second.object;
}

} // namespace

void* keep(std::shared_ptr<Object> object, const Kind& kind) {
    const bool outlives_fork = object->outlives_fork();
    Table& all = table();
    const std::scoped_lock lock(all.mutex);
    const std::uintptr_t key = all.last + kStep;
    all.rows.emplace(key, Row{std::move(object), kind.name, outlives_fork, ::getpid()});
    all.last = key;
    return reinterpret_cast<void*>(key); // NOLINT(performance-no-int-to-ptr): nobody follows it
}

bool is_forked(const void* handle, const Kind& kind) {
    Table& all = table();
    const std::scoped_lock lock(all.mutex);
    return is_forked(row_of(all, handle, kind)->second);
}

std::shared_ptr<Object> find(const void* handle, const Kind& kind) {
    Table& all = table();
    const std::scoped_lock lock(all.mutex);
    const auto row = row_of(all, handle, kind);
    (void)here(row, kind);
    return row->second.object;
}

std::shared_ptr<Object> find_to_use(const void* handle, const Kind& kind) {
    Table& all = table();
    const std::scoped_lock lock(all.mutex);
    const auto row = row_of(all, handle, kind);
    if (here(row, kind).in_use.exchange(true))
        throw StatusError(SPECKLESCOPE_BUSY, std::string("Another thread is using this ") + kind.name +
                                                 "; let one use it at a time, or give each its own.");
    return row->second.object;
}

std::shared_ptr<Object> take_out(const void* handle, const Kind& kind) {
    Table& all = table();
    const std::scoped_lock lock(all.mutex);
    const auto row = row_of(all, handle, kind);
    std::shared_ptr<Object> object = row->second.object;
    if (is_forked(row->second)) {
        all.forked.push_back(std::move(object));
        object = nullptr;
    }
    all.rows.erase(row);
    return object;
}

void end_all() noexcept {
    std::vector<std::shared_ptr<Object>> open;
    try {
        Table& all = table();
        const std::scoped_lock lock(all.mutex);
        for (const auto& [key, row] : all.rows)
            if (!is_forked(row))
                open.push_back(row.object);
    } catch (const std::bad_alloc&) { // NOLINT(bugprone-empty-catch): those that are in the list are ended
    }
    for (const auto& object : open)
        object->end();
}

} // namespace specklescope::library
