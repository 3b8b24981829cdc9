// Shared parts of the extension. It computes nothing: all values come from libspecklescope.
#pragma once

#include "specklescope.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cxxabi.h>
#include <string>
#include <unistd.h>

namespace nb = nanobind;

namespace door {

/// A status other than OK; becomes UsageError, RunError, TimeoutError or KeyboardInterrupt.
struct Failure {
    specklescope_status status;
    std::string sentence;
};

inline void check(specklescope_status status) {
    if (status != SPECKLESCOPE_OK)
        throw Failure{status, specklescope_last_error()};
}

/// For a thread that returns to Python after Python has ended. Before 3.14 Python would end it with
/// pthread_exit, and unwinding through a noexcept function aborts the process. So the thread blocks until
/// the process ends, as in Python 3.14.
[[noreturn]] inline void stay() {
    for (;;)
        ::pause();
}
template <class Call> auto staying_at_exit(Call&& call) {
    try {
        return call();
    } catch (abi::__forced_unwind&) {
        stay();
    }
}

/// Replaces nanobind's class, which fails for a daemon thread at Python's end.
class WithoutGil {
public:
    WithoutGil() : state_(PyEval_SaveThread()) {}
    ~WithoutGil() {
        staying_at_exit([this] { PyEval_RestoreThread(state_); });
    }
    WithoutGil(const WithoutGil&) = delete;
    WithoutGil& operator=(const WithoutGil&) = delete;

private:
    PyThreadState* state_;
};
class WithGil {
public:
    WithGil() : state_(staying_at_exit([] { return PyGILState_Ensure(); })) {}
    ~WithGil() { PyGILState_Release(state_); }
    WithGil(const WithGil&) = delete;
    WithGil& operator=(const WithGil&) = delete;

private:
    PyGILState_STATE state_;
};

/// A str as a C string, valid as long as the str lives. Throws Failure if it contains a null character or
/// cannot be encoded.
const char* c_text(nb::handle text);
/// The same for an entry of a dictionary; null: missing, or None.
const char* c_text(const nb::dict& told, const char* name);

template <class T> T sized() {
    T made{};
    made.struct_size = sizeof made;
    return made;
}

/// Settings from a dictionary that must outlive them: options, regions, regions_json and view as texts,
/// trusted. Ctrl-C ends long preparations, and so may `progress`, a callable or None, which is called by
/// reference.
specklescope_settings settings_of(const nb::dict& told, nb::object& progress);

/// Lets the collector traverse the callable of a T, which may refer to the T itself.
template <class T> PyType_Slot* with_progress() {
    static constexpr auto visit_it = [](PyObject* self, visitproc visit, void* arg) -> int {
        Py_VISIT(Py_TYPE(self));
        if (nb::inst_ready(self))
            Py_VISIT(nb::inst_ptr<T>(self)->progress.ptr());
        return 0;
    };
    static constexpr auto let_go = [](PyObject* self) -> int {
        if (nb::inst_ready(self))
            nb::inst_ptr<T>(self)->progress = nb::none(); // the library may still call it
        return 0;
    };
    static PyType_Slot slots[] = {
        {Py_tp_traverse, reinterpret_cast<void*>(static_cast<traverseproc>(visit_it))},
        {Py_tp_clear, reinterpret_cast<void*>(static_cast<inquiry>(let_go))},
        {0, nullptr}};
    return slots;
}

/// An array as an image during the lifetime of this object: the array itself, or a copy if its layout has no
/// pitch.
struct Given {
    nb::object holder;
    specklescope_image image;
    nb::ndarray<nb::ro> exported; ///< exported memory; it may belong to the export only (DLPack)
};
/// Throws Failure if the type, shape or location is unsupported.
Given frame_of(nb::handle array);
/// The same without pixels; copies nothing.
specklescope_image shape_of_frame(nb::handle array);
/// GPU memory described by an array of another library, or requested for a result.
struct DevicePixels {
    DevicePixels(const nb::tuple& shape, int type, std::uintptr_t stream, std::uintptr_t address = 0,
                 std::size_t pitch = 0, nb::object holder = nb::none());
    specklescope_image image() const { return described; }

    specklescope_image described;
    nb::object holder; ///< kept alive until the GPU has finished
};
/// An array to write to. Throws Failure if it is read-only, or its rows are not contiguous.
Given output_of(nb::handle array);
/// A new NumPy array with the shape of `image`; sets its address.
nb::object new_array(specklescope_image& image);
/// A read-only NumPy array on pixels that `owner` keeps alive.
nb::object view_of(const specklescope_image& image, nb::handle owner);

nb::dict to_dict(const specklescope_result& result);
nb::dict to_dict(const specklescope_region& region);

/// Text that `ask(text, size, needed)` writes.
template <class Ask> std::string text_of(Ask&& ask) {
    std::string text;
    std::size_t needed = 0;
    check(ask(nullptr, 0, &needed));
    while (true) { // the text may grow between the calls
        text.resize(needed + 256);
        const specklescope_status status = ask(text.data(), text.size(), &needed);
        if (status == SPECKLESCOPE_OK)
            break;
        if (needed <= text.size())
            check(status);
    }
    text.resize(needed - 1);
    return text;
}

/// DLPack capsule as (address, shape, strides in samples, "u2", device type, device, writable, holder).
nb::tuple read_dlpack(nb::handle capsule);

/// (memory, address) for this image on the chain's GPU, ordered by its stream.
nb::tuple device_memory(specklescope_chain* chain, specklescope_image image, nb::object keeps);

void add_chain(nb::module_& module);
void add_device(nb::module_& module);
void add_stream(nb::module_& module);
void add_recorder(nb::module_& module);

} // namespace door
