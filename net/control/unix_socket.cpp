#include "net/control/unix_socket.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace specklescope {

namespace {

sockaddr_un place_of(const std::string& path) {
    sockaddr_un place{};
    place.sun_family = AF_UNIX;
    std::memcpy(place.sun_path, path.data(), path.size()); // parse_listen_address() has seen to its length
    return place;
}

bool somebody_listens(const std::string& path) {
    const sockaddr_un to = place_of(path);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool listens = fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
    if (fd >= 0)
        ::close(fd);
    return listens;
}

void make_room(const std::string& path) {
    struct stat file {};
    if (::lstat(path.c_str(), &file) != 0)
        return;
    if (!S_ISSOCK(file.st_mode))
        throw RunError("'" + path + "' exists and is not a socket. Name another path, or remove it.");
    if (somebody_listens(path))
        throw RunError("A program listens at '" + path + "' already. Name another path, or end it.");
    ::unlink(path.c_str());
}

} // namespace

int listen_at(const std::string& path) {
    make_room(path);
    constexpr int kWaiting = 100; // connections
    const sockaddr_un place = place_of(path);
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    // Linux gives the file the mode that the socket has when it is bound.
    if (fd >= 0 && ::fchmod(fd, S_IRUSR | S_IWUSR) == 0 &&
        ::bind(fd, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0 &&
        ::listen(fd, kWaiting) == 0)
        return fd;
    const int error = errno;
    if (fd >= 0)
        ::close(fd);
    throw RunError("Requests cannot be accepted at '" + path +
                   "': " + std::generic_category().message(error) + ". Name another path.");
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
