// What stands between C and the rest: exceptions become a status and a sentence, structs are looked at before
// they are read.
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

/// This thread's sentence; cut where it would be longer than a screen.
void remember(const char* sentence) noexcept;
const char* remembered() noexcept;
/// The status of the exception in flight, whose sentence is remembered.
specklescope_status status_of_exception() noexcept;
/// The log and GLib's belong to the program that the library is in; once, before anything else.
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

/// Throws UsageError where `given` is null.
void need(const void* given, const char* what);
/// The sizes that the struct had in earlier headers; more has come since at its end.
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

/// Throws UsageError unless the size is one that this library knows: `known`, or an `earlier` header's.
void check_struct(std::size_t given, std::size_t known, const char* what,
                  std::span<const std::size_t> earlier);
template <class T> void check_struct(const T& given, const char* what) {
    check_struct(given.struct_size, sizeof(T), what, kEarlierSizes<T>);
}

/// A copy of what the caller gave, with 0 in what an earlier header did not have; all 0 for null, which
/// `optional` allows.
template <class T> T read_struct(const T* given, const char* what, bool optional = false) {
    T known{};
    if (!given && optional)
        return known;
    need(given, what);
    check_struct(*given, what);
    std::memcpy(&known, given, given->struct_size);
    return known;
}

/// To the caller, who has set struct_size.
template <class T> void write_struct(T* place, T value, const char* what) {
    need(place, what);
    check_struct(*place, what);
    value.struct_size = place->struct_size;
    std::memcpy(place, &value, place->struct_size);
}

/// As the header says of texts. Throws UsageError where there is room, and too little.
void write_text(const std::string& from, char* text, std::size_t size, std::size_t* needed);

} // namespace specklescope::library
