// What a program leaves open when it exits is ended before anything that its threads use is destroyed.
#include "library/handles.hpp"

#include <cstdlib>
#include <mutex>

/// Static objects of this library are never destroyed: a thread may outlive the handler below. They register
/// their destructors by this function, which hides libc's within the library.
extern "C" __attribute__((visibility("hidden"))) int
__cxa_atexit(void (*)(void*), void*, void*) noexcept { // NOLINT(bugprone-reserved-identifier): the ABI's name
    return 0;
}

namespace specklescope::library {

void end_at_exit() {
    static std::once_flag once;
    std::call_once(once, [] {
        // Not std::atexit(), which calls the function above. Destructors of libraries that were loaded
        // earlier follow the handler.
        if (::on_exit([](int, void*) { end_all(); }, nullptr) != 0)
            throw std::bad_alloc();
    });
}

} // namespace specklescope::library
