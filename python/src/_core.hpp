// What the parts of the extension share. Nothing here computes: every number comes from libspecklescope.
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

/// A status that is none of OK; becomes UsageError, RunError, TimeoutError or KeyboardInterrupt.
struct Failure {
    specklescope_status status;
    std::string sentence;
};

inline void check(specklescope_status status) {
    if (status != SPECKLESCOPE_OK)
        throw Failure{status, specklescope_last_error()};
}

/// For a thread that comes back to Python after its end. Python before 3.14 ends it there by pthread_exit,
/// whose unwinding aborts the process in the first function that is noexcept; there is nothing to go back to,
/// and it stays, as with Python 3.14, until the process is gone.
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

/// In place of nanobind's, which a daemon thread at Python's end does not survive.
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

/// A str as C takes it, for as long as the str lives. Throws Failure where C would read another text.
const char* c_text(nb::handle text);
/// The same of a dictionary; null: it is not there, or None.
const char* c_text(const nb::dict& told, const char* name);

template <class T> T sized() {
    T made{};
    made.struct_size = sizeof made;
    return made;
}

/// Of a dictionary that stays until they are read: options, regions, regions_json and view as texts, trusted.
/// Ctrl-C ends what takes long, and so may `progress`, a callable or None, which is asked where it lies.
specklescope_settings settings_of(const nb::dict& told, nb::object& progress);

/// Shows the collector the callable of a T, which may hold the T itself.
template <class T> PyType_Slot* with_progress() {
    static constexpr auto visit_it = [](PyObject* self, visitproc visit, void* arg) -> int {
        Py_VISIT(Py_TYPE(self));
        if (nb::inst_ready(self))
            Py_VISIT(nb::inst_ptr<T>(self)->progress.ptr());
        return 0;
    };
    static constexpr auto let_go = [](PyObject* self) -> int {
        if (nb::inst_ready(self))
            nb::inst_ptr<T>(self)->progress = nb::none(); // the library may still ask
        return 0;
    };
    static PyType_Slot slots[] = {
        {Py_tp_traverse, reinterpret_cast<void*>(static_cast<traverseproc>(visit_it))},
        {Py_tp_clear, reinterpret_cast<void*>(static_cast<inquiry>(let_go))},
        {0, nullptr}};
    return slots;
}

/// An array as an image, for as long as this lives: the array itself, or a copy where rows cannot be told by
/// a pitch.
struct Given {
    nb::object holder;
    specklescope_image image;
    nb::ndarray<nb::ro> exported; ///< what its object gave out; the memory may be this one's alone (DLPack)
};
/// Throws Failure where it is no frame: another type, shape or place.
Given frame_of(nb::handle array);
/// The same without its pixels, which are not copied.
specklescope_image shape_of_frame(nb::handle array);
/// Memory of a GPU, as Python has read it from an array of somebody else's, or wants it.
struct DevicePixels {
    DevicePixels(const nb::tuple& shape, int type, std::uintptr_t stream, std::uintptr_t address = 0,
                 std::size_t pitch = 0, nb::object holder = nb::none());
    specklescope_image image() const { return described; }

    specklescope_image described;
    nb::object holder; ///< stays until the GPU is done with it
};
/// For writing into. Throws Failure where it is read-only, or its rows are not one after the other.
Given output_of(nb::handle array);
/// A new NumPy array of the shape that `image` tells, which gets its address.
nb::object new_array(specklescope_image& image);
/// A read-only NumPy array on pixels that `owner` keeps.
nb::object view_of(const specklescope_image& image, nb::handle owner);

nb::dict to_dict(const specklescope_result& result);
nb::dict to_dict(const specklescope_region& region);

/// The text that `ask(text, size, needed)` writes.
template <class Ask> std::string text_of(Ask&& ask) {
    std::string text;
    std::size_t needed = 0;
    check(ask(nullptr, 0, &needed));
    while (true) { // it may grow meanwhile
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

/// A capsule of DLPack as (address, shape, strides in samples, "u2", device type, device, may be written,
/// holder).
nb::tuple read_dlpack(nb::handle capsule);

/// (memory, address): room for this image on the chain's GPU, in the order of its stream.
nb::tuple device_memory(specklescope_chain* chain, specklescope_image image, nb::object keeps);

void add_chain(nb::module_& module);
void add_device(nb::module_& module);
void add_stream(nb::module_& module);
void add_recorder(nb::module_& module);

} // namespace door
