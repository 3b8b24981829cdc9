#include "library/handles.hpp"

#include <unistd.h>

#include <cstdint>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace specklescope::library {

namespace {

struct Row {
    std::shared_ptr<Object> object;
    const char* kind;
    pid_t made_in;
};

bool is_forked(const Row& row, const Kind& kind) { return kind.forked && row.made_in != ::getpid(); }

struct Table {
    std::shared_mutex mutex;
    std::unordered_map<std::uintptr_t, Row> rows;
    std::uintptr_t last = 0;
    std::vector<std::shared_ptr<Object>> forked; ///< whose ends would wait for threads that are not here
};

/// Never ends: what a program leaves open when it exits is not taken down behind its back.
Table& table() {
    static Table* const only = std::make_unique<Table>().release();
    return *only;
}

/// Multiples of 16, as addresses would be: a handle that was reckoned with is none.
constexpr std::uintptr_t kStep = 16;

[[noreturn]] void refuse(const void* handle, const Kind& kind) {
    const std::string name = kind.name, maker = kind.maker;
    throw StatusError(SPECKLESCOPE_BAD_HANDLE,
                      handle ? "This is no " + name + " that is alive: it has ended, or never was one; " +
                                   maker + " gives one."
                             : "The " + name + " is NULL; " + maker + " gives one.");
}

} // namespace

void* keep(std::shared_ptr<Object> object, const Kind& kind) {
    Table& all = table();
    const std::unique_lock lock(all.mutex);
    const std::uintptr_t key = all.last + kStep;
    all.rows.emplace(key, Row{std::move(object), kind.name, ::getpid()});
    all.last = key;
    return reinterpret_cast<void*>(key); // NOLINT(performance-no-int-to-ptr): nobody follows it
}

std::shared_ptr<Object> find(const void* handle, const Kind& kind) {
    Table& all = table();
    const std::shared_lock lock(all.mutex);
    const auto row = all.rows.find(reinterpret_cast<std::uintptr_t>(handle));
    if (row == all.rows.end() || row->second.kind != kind.name)
        refuse(handle, kind);
    if (is_forked(row->second, kind))
        throw StatusError(SPECKLESCOPE_BAD_HANDLE, kind.forked);
    return row->second.object;
}

std::shared_ptr<Object> take_out(const void* handle, const Kind& kind) {
    Table& all = table();
    const std::unique_lock lock(all.mutex);
    const auto row = all.rows.find(reinterpret_cast<std::uintptr_t>(handle));
    if (row == all.rows.end() || row->second.kind != kind.name)
        refuse(handle, kind);
    std::shared_ptr<Object> object = std::move(row->second.object);
    if (is_forked(row->second, kind))
        all.forked.push_back(std::exchange(object, nullptr));
    all.rows.erase(row);
    return object;
}

} // namespace specklescope::library
