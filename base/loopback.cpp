#include "base/loopback.hpp"

#include <arpa/inet.h>

namespace specklescope {

bool is_loopback(const std::string& host) {
    constexpr unsigned kOwn = 127;
    in_addr address{};
    if (::inet_pton(AF_INET, host.c_str(), &address) == 1)
        return ntohl(address.s_addr) >> 24U == kOwn;
    return host == "localhost" || host == "[::1]";
}

} // namespace specklescope
