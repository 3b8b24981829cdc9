// Boundary to C: converts exceptions to a status and a message, and checks structs before reading them.
#pragma once

#include "base/error.hpp"
#include "specklescope.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

namespace specklescope::library {

/// An error with its own status.
struct StatusError : Error {
    StatusError(specklescope_status with, const std::string& sentence) : Error(sentence), status(with) {}
    specklescope_status status;
};

/// Stores this thread's last error; long texts are cut.
void remember(const char* sentence) noexcept;
const char* remembered() noexcept;
/// Status of the current exception; stores its message.
specklescope_status status_of_exception() noexcept;
/// Leaves the log and GLib's log to the host program. Call it first.
void keep_quiet();

/// True if this process was forked from a process that has created a handle.
bool is_forked() noexcept;
/// Stores the reason why a forked process gets SPECKLESCOPE_BAD_HANDLE from every call.
specklescope_status refuse_forked() noexcept;

/// Runs `call`, which returns a status or void.
template <class F> specklescope_status guarded(F&& call) noexcept {
    if (is_forked())
        return refuse_forked();
    remember("");
    try {
        if constexpr (std::is_void_v<decltype(call())>) {
            call();
            return SPECKLESCOPE_OK;
        } else {
            return call();
        }
    } catch (...) {
        return status_of_exception();
    }
}

/// Throws UsageError if `given` is null.
void need(const void* given, const char* what);
/// Sizes of the struct in earlier headers; new members are added at its end.
template <class T> inline constexpr std::array<std::size_t, 0> kEarlierSizes{};
template <> inline constexpr std::array<std::size_t, 1> kEarlierSizes<specklescope_image>{
    offsetof(specklescope_image, stream)};
template <> inline constexpr std::array<std::size_t, 1> kEarlierSizes<specklescope_facts>{
    offsetof(specklescope_facts, warming_up)};
template <> inline constexpr std::array<std::size_t, 3> kEarlierSizes<specklescope_result>{
    offsetof(specklescope_result, measure), offsetof(specklescope_result, warming_up),
    offsetof(specklescope_result, arrival_ns)};
template <> inline constexpr std::array<std::size_t, 2> kEarlierSizes<specklescope_settings>{
    offsetof(specklescope_settings, regions_json), offsetof(specklescope_settings, agrees)};

/// Throws UsageError unless the size is `known` or the size in an `earlier` header.
void check_struct(std::size_t given, std::size_t known, const char* what,
                  std::span<const std::size_t> earlier);
template <class T> void check_struct(const T& given, const char* what) {
    check_struct(given.struct_size, sizeof(T), what, kEarlierSizes<T>);
}

/// Copy of the caller's struct, with 0 in members that an earlier header lacked; all 0 for null if
/// `optional`.
template <class T> T read_struct(const T* given, const char* what, bool optional = false) {
    T known{};
    if (!given && optional)
        return known;
    need(given, what);
    check_struct(*given, what);
    std::memcpy(&known, given, given->struct_size);
    return known;
}

/// Writes to the caller's struct, which has struct_size set.
template <class T> void write_struct(T* place, T value, const char* what) {
    need(place, what);
    check_struct(*place, what);
    value.struct_size = place->struct_size;
    std::memcpy(place, &value, place->struct_size);
}

/// Writes a text as the header describes. Throws UsageError if the buffer is too small.
void write_text(const std::string& from, char* text, std::size_t size, std::size_t* needed);

} // namespace specklescope::library
