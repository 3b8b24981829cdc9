#include "base/reset_connection.hpp"

#include <sys/socket.h>

namespace specklescope {

void reset_connection(int descriptor) {
    const sockaddr nobody{.sa_family = AF_UNSPEC, .sa_data = {}};
    (void)::connect(descriptor, &nobody, sizeof nobody); // of TCP a reset
}

} // namespace specklescope
