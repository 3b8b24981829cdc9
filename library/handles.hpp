// Handles are keys of a table, not addresses: an ended handle is recognised regardless of its memory.
#pragma once

#include "library/guard.hpp"

#include <atomic>
#include <memory>

namespace specklescope::library {

/// Base of the objects that handles refer to.
class Object {
public:
    Object() = default;
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;
    virtual ~Object() = default;

    /// Called at the end of the process: stops its threads and finishes its files. Handles stay valid.
    virtual void end() noexcept {}

    std::atomic<bool> in_use{false}; ///< a thread is in a call that allows only one
};

/// Kind of an object, for error messages.
struct Kind {
    const char* name;  ///< "chain"
    const char* maker; ///< "specklescope_chain_create"
};

/// Returns a unique key.
void* keep(std::shared_ptr<Object> object, const Kind& kind);
/// Throws StatusError (SPECKLESCOPE_BAD_HANDLE).
std::shared_ptr<Object> find(const void* handle, const Kind& kind);
/// The same, and sets `in_use`, which the caller clears. Throws StatusError (SPECKLESCOPE_BUSY) if it is set
/// already.
std::shared_ptr<Object> find_to_use(const void* handle, const Kind& kind);
/// Removes it from the table; it ends when its last user has finished.
std::shared_ptr<Object> take_out(const void* handle, const Kind& kind);

/// Calls end() of every object, but not in a forked process.
void end_all() noexcept;
/// Registers end_all() for the exit of the process. Call it after the libraries in use are loaded.
void end_at_exit();

/// T derives from Object and has `static constexpr Kind kKind`.
template <class T, class Handle> std::shared_ptr<T> find_as(const Handle* handle) {
    return std::static_pointer_cast<T>(find(handle, T::kKind));
}
template <class T, class Handle> std::shared_ptr<T> take_out_as(const Handle* handle) {
    return std::static_pointer_cast<T>(take_out(handle, T::kKind));
}

/// Exclusive use of an object. Throws StatusError (SPECKLESCOPE_BUSY) if another thread uses it.
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
