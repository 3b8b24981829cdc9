#include "net/control/unix_socket.hpp"

#include "base/error.hpp"

#include <cstring>
#include <utility>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace specklescope {

namespace {

bool somebody_listens(const std::string& path) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, path.data(), path.size()); // parse_listen_address() has seen to its length
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool listens = fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
    if (fd >= 0)
        ::close(fd);
    return listens;
}

} // namespace

UnixSocketPlace::UnixSocketPlace(const std::string& path) : there_(!path.empty()) {
    if (!there_)
        return;
    struct stat file {};
    if (::lstat(path.c_str(), &file) == 0) {
        if (!S_ISSOCK(file.st_mode))
            throw RunError("'" + path + "' is there and no socket; name another path, or remove it.");
        if (somebody_listens(path))
            throw RunError("A program listens at '" + path + "' already; name another path, or end it.");
    }
    mask_ = ::umask(S_IRWXG | S_IRWXO);
}

UnixSocketPlace::~UnixSocketPlace() {
    if (there_)
        ::umask(mask_);
}

BoundSocketFile::BoundSocketFile(std::string path) : path_(std::move(path)) {
    struct stat file {};
    there_ = !path_.empty() && ::lstat(path_.c_str(), &file) == 0;
    device_ = file.st_dev;
    number_ = file.st_ino;
}

BoundSocketFile::~BoundSocketFile() {
    struct stat file {};
    if (there_ && ::lstat(path_.c_str(), &file) == 0 && file.st_dev == device_ && file.st_ino == number_)
        ::unlink(path_.c_str());
}

} // namespace specklescope
