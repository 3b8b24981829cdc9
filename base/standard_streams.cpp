#include "base/standard_streams.hpp"

#include "base/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace specklescope {

void hold_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF)
            continue;
        const int nowhere = ::open("/dev/null", O_RDWR); // children inherit it
        if (nowhere == stream)
            continue;
        const bool held = nowhere >= 0 && ::dup2(nowhere, stream) == stream;
        const int error = errno;
        if (nowhere >= 0)
            ::close(nowhere);
        if (!held)
            throw RunError("/dev/null cannot stand for a standard stream that is closed: " +
                           std::generic_category().message(error) + ".");
    }
}

} // namespace specklescope
