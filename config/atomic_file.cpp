#include "config/atomic_file.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "files/whole_file.hpp"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <system_error>

namespace specklescope {

namespace {

/// Kind of an existing object that a file cannot replace; null: none. A link at this name is replaced, never
/// followed.
const char* taken_by(const std::string& path) {
    struct stat itself {};
    if (::lstat(path.c_str(), &itself) != 0 || S_ISREG(itself.st_mode))
        return nullptr;
    struct stat target = itself;
    if (S_ISLNK(itself.st_mode)) {
        std::error_code error; // /dev/stdout is such a link, whatever its target
        if (std::filesystem::read_symlink(path, error).native().starts_with("/proc/"))
            return "it is a stream of a process";
        if (::stat(path.c_str(), &target) != 0 || S_ISREG(target.st_mode))
            return nullptr;
    }
    return S_ISDIR(target.st_mode) ? "a folder has that name" : "a pipe, a socket or a device has that name";
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
    throw RunError("'" + one_line(path) + "' cannot be written (" + why +
                   "). Name a file in a folder that exists and can be written to.");
}

void check_target(const UnnamedFile& file, const std::string& path) {
    if (path.empty())
        refuse(path, "it has no name");
    if (const char* what = taken_by(path))
        refuse(path, what);
    if (file.error() != 0)
        refuse(path, std::generic_category().message(file.error()));
}

} // namespace

void write_atomically(const std::string& path, std::string_view text, mode_t mode) {
    UnnamedFile file(path);
    check_target(file, path);
    int error = mode != 0 && ::fchmod(file.file().fd(), mode) != 0 ? errno : 0;
    if (error == 0)
        error = file.file().write_at(0, text.data(), text.size());
    if (error == 0)
        error = file.replace();
    if (error != 0)
        refuse(path, std::generic_category().message(error));
}

std::string write_new(const std::string& path, std::string_view text) {
    UnnamedFile file(path);
    const int error = file.error() != 0 ? file.error() : file.file().write_at(0, text.data(), text.size());
    if (error != 0)
        refuse(path, std::generic_category().message(error));
    return file.publish();
}

void check_writable(const std::string& path) { check_target(UnnamedFile(path), path); }

void check_replaceable(const std::string& path, const ReplaceableKind& kind) {
    check_writable(path);
    refuse_other_kind(path, kind);
}

void check_statistics_file(const std::string& path) {
    check_replaceable(path, {.what = "statistics", .option = "--stats", .holds = is_statistics});
}

bool keep_statistics(const std::string& path, const std::string& json) noexcept {
    if (path.empty())
        return true;
    try {
        check_statistics_file(path);
        write_atomically(path, json);
        return true;
    } catch (const std::exception& error) {
        run_log().error("{} The statistics follow here.", error.what());
    }
    std::fputs((json + "\n").c_str(), stderr);
    std::fflush(stderr);
    return false;
}

} // namespace specklescope
