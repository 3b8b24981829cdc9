#include "base/open_files.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/resource.h>

namespace specklescope {

void allow_many_files() noexcept {
    constexpr rlim_t kEnough = 65536; // some systems allow 10⁹, and programs loop over all of them
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    const rlim_t wanted = std::min(kEnough, limit.rlim_max);
    if (limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted;
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

bool is_of_open_files(int error) { return error == EMFILE || error == ENFILE; }

} // namespace specklescope
