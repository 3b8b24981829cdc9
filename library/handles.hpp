// Handles are keys of a table, not addresses: one that has ended is found out, whatever became of its memory.
#pragma once

#include "library/guard.hpp"

#include <atomic>
#include <memory>

namespace specklescope::library {

/// What a handle stands for.
class Object {
public:
    Object() = default;
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;
    virtual ~Object() = default;

    /// At the end of the process: stops its threads and finishes its files. Handles stay valid.
    virtual void end() noexcept {}

    std::atomic<bool> in_use{false}; ///< a thread is in a call that only one may be in
};

/// In `kind`'s own words, for sentences.
struct Kind {
    const char* name;  ///< "chain"
    const char* maker; ///< "specklescope_chain_create"
};

/// A key that no other object had or will have.
void* keep(std::shared_ptr<Object> object, const Kind& kind);
/// Throws StatusError (SPECKLESCOPE_BAD_HANDLE).
std::shared_ptr<Object> find(const void* handle, const Kind& kind);
/// The same, with `in_use` set, which is the caller's to take back. Throws StatusError (SPECKLESCOPE_BUSY)
/// where it was set already.
std::shared_ptr<Object> find_to_use(const void* handle, const Kind& kind);
/// Takes it out of the table: it ends when its last user has finished.
std::shared_ptr<Object> take_out(const void* handle, const Kind& kind);

/// Calls end() of every object, but not in a forked process.
void end_all() noexcept;
/// From now on end_all() is called when the process exits. Call it when the libraries in use are loaded.
void end_at_exit();

/// T derives from Object and has `static constexpr Kind kKind`.
template <class T, class Handle> std::shared_ptr<T> find_as(const Handle* handle) {
    return std::static_pointer_cast<T>(find(handle, T::kKind));
}
template <class T, class Handle> std::shared_ptr<T> take_out_as(const Handle* handle) {
    return std::static_pointer_cast<T>(take_out(handle, T::kKind));
}

/// The object, for this thread alone. Throws StatusError (SPECKLESCOPE_BUSY) where another thread is at it.
template <class T> class Using {
public:
    template <class Handle> explicit Using(const Handle* handle)
        : object_(std::static_pointer_cast<T>(find_to_use(handle, T::kKind))) {}
    ~Using() { object_->in_use = false; }
    Using(const Using&) = delete;
    Using& operator=(const Using&) = delete;
    T* operator->() const { return object_.get(); }

private:
    std::shared_ptr<T> object_;
};

} // namespace specklescope::library
