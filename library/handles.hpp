// Handles are keys of a table, not addresses: one that has ended is found out, whatever became of its memory.
#pragma once

#include "library/guard.hpp"

#include <memory>
#include <mutex>

namespace specklescope::library {

/// What a handle stands for.
class Object {
public:
    Object() = default;
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;
    virtual ~Object() = default;
    std::mutex in_use; ///< held by the thread that uses it
};

/// In `kind`'s own words, for sentences.
struct Kind {
    const char* name;  ///< "chain"
    const char* maker; ///< "specklescope_chain_create"
    /// What a process is told that was forked from the one that made it, whose threads it does not have;
    /// null: it needs none of them.
    const char* forked = nullptr;
};

/// A key that no other object had or will have.
void* keep(std::shared_ptr<Object> object, const Kind& kind);
/// Throws StatusError (SPECKLESCOPE_BAD_HANDLE), also where it belongs to the process before a fork.
std::shared_ptr<Object> find(const void* handle, const Kind& kind);
/// Takes it out of the table: it ends when the last who uses it has done so. Null where it belongs to the
/// process before a fork: it never ends here.
std::shared_ptr<Object> take_out(const void* handle, const Kind& kind);

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
        : object_(find_as<T>(handle)), lock_(object_->in_use, std::try_to_lock) {
        if (!lock_.owns_lock())
            throw StatusError(SPECKLESCOPE_BUSY, std::string("Another thread is using this ") +
                                                     T::kKind.name +
                                                     "; let one use it at a time, or give each its own.");
    }
    T* operator->() const { return object_.get(); }

private:
    std::shared_ptr<T> object_;
    std::unique_lock<std::mutex> lock_;
};

} // namespace specklescope::library
