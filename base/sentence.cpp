#include "base/sentence.hpp"

#include "base/error.hpp"

#include <new>
#include <system_error>

namespace specklescope {

std::string sentence_of(const std::exception& error) {
    if (dynamic_cast<const Error*>(&error))
        return error.what();
    if (dynamic_cast<const std::bad_alloc*>(&error))
        return "The memory is used up; close other programs, or use smaller images, fewer slots (--slots) or "
               "shorter histories.";
    if (const auto* system = dynamic_cast<const std::system_error*>(&error);
        system && system->code() == std::errc::resource_unavailable_try_again)
        return "The system gives no more threads; close other programs, or raise the limit (ulimit -u).";
    return "Something failed that should not (" + std::string(error.what()) +
           "); please report it with the command line and what was done.";
}

} // namespace specklescope
