// Boundary to C: exceptions become a status and a sentence, structs are checked before they are read.
#pragma once

#include "base/error.hpp"
#include "specklescope.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

namespace specklescope::library {

/// An error with a status of its own.
struct StatusError : Error {
    StatusError(specklescope_status with, const std::string& sentence) : Error(sentence), status(with) {}
    specklescope_status status;
};

/// Stores this thread's last error; long texts are cut.
void remember(const char* sentence) noexcept;
const char* remembered() noexcept;
/// Status of the exception in flight; stores its sentence.
specklescope_status status_of_exception() noexcept;
/// Leaves the log and GLib's log to the host program. Call it before anything else.
void keep_quiet();

/// Whether this process was forked from one that has made a handle.
bool is_forked() noexcept;
/// Remembers why a forked process gets SPECKLESCOPE_BAD_HANDLE from every call.
specklescope_status refuse_forked() noexcept;

/// Runs `call`, which returns a status or nothing.
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
/// Sizes of the struct in earlier headers; members were added at its end.
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

/// Throws UsageError unless the size is `known` or that of an `earlier` header.
void check_struct(std::size_t given, std::size_t known, const char* what,
                  std::span<const std::size_t> earlier);
template <class T> void check_struct(const T& given, const char* what) {
    check_struct(given.struct_size, sizeof(T), what, kEarlierSizes<T>);
}

/// Copy of the caller's struct, with 0 in members that an earlier header did not have; all 0 for null if
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

/// Writes to the caller's struct, whose struct_size is set.
template <class T> void write_struct(T* place, T value, const char* what) {
    need(place, what);
    check_struct(*place, what);
    value.struct_size = place->struct_size;
    std::memcpy(place, &value, place->struct_size);
}

/// Writes a text as the header describes. Throws UsageError if the room is too small.
void write_text(const std::string& from, char* text, std::size_t size, std::size_t* needed);

} // namespace specklescope::library
