#include "sources/gst/container_bytes.hpp"

#include "base/long_work.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace specklescope {

ContainerBytes::ContainerBytes(const std::string& path)
    : work_("looking through '" + path + "'"),
      file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
    struct stat status {};
    if (file_ >= 0 && ::fstat(file_, &status) == 0 && S_ISREG(status.st_mode))
        size_ = static_cast<std::uint64_t>(status.st_size);
}

ContainerBytes::~ContainerBytes() {
    if (file_ >= 0)
        ::close(file_);
}

bool ContainerBytes::read_at(std::uint64_t place, std::uint8_t* to, std::size_t count) {
    for (std::size_t done = 0; done < count;) {
        const std::size_t now = std::min(count - done, kLargest);
        const std::uint64_t from = place + done;
        if ((from < begin_ || from + now > begin_ + held_) && !fill(from, now))
            return false;
        std::memcpy(to + done, buffer_.data() + (from - begin_), now);
        done += now;
    }
    return true;
}

bool ContainerBytes::fill(std::uint64_t place, std::size_t count) {
    if (++asked_ > kUnsaid)
        work_goes_on(work_, static_cast<double>(place) / static_cast<double>(size_));
    const bool follows = held_ > 0 && place >= begin_ && place <= begin_ + held_;
    step_ = follows ? std::min(2 * step_, kLargest) : kSmallest;
    buffer_.resize(std::max(step_, count));
    begin_ = place;
    held_ = read(place, buffer_.data(), buffer_.size());
    return held_ >= count;
}

std::size_t ContainerBytes::read(std::uint64_t place, std::uint8_t* to, std::size_t count) const {
    std::size_t done = 0;
    while (done < count) {
        const ssize_t got = ::pread(file_, to + done, count - done, static_cast<off_t>(place + done));
        if (got > 0)
            done += static_cast<std::size_t>(got);
        else if (got == 0 || errno != EINTR)
            break;
    }
    return done;
}

} // namespace specklescope
