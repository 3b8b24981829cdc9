#include "base/memory_budget.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

namespace specklescope {

namespace {

constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();
std::atomic<std::uint64_t> pretended{kUnknown};
thread_local MemoryLimit* limit_here = nullptr;

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<std::uint64_t> number_in(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} ? std::optional(value) : std::nullopt;
}

/// Remaining memory of our control group (version 2); nothing without a limit.
std::optional<std::uint64_t> left_in_group() {
    std::string path = text_of("/proc/self/cgroup"); // "0::/user.slice/…"
    const std::size_t at = path.find("0::");
    if (at == std::string::npos)
        return std::nullopt;
    path = "/sys/fs/cgroup" + path.substr(at + 3, path.find('\n', at) - at - 3);
    const std::optional<std::uint64_t> limit = number_in(text_of(path + "/memory.max")); // or "max"
    const std::optional<std::uint64_t> used = number_in(text_of(path + "/memory.current"));
    if (!limit || !used)
        return std::nullopt;
    return *limit > *used ? *limit - *used : 0;
}

std::string megabytes(std::uint64_t bytes) { return std::to_string((bytes + (1U << 20) - 1) >> 20) + " MiB"; }

} // namespace

MemoryLimit::MemoryLimit(std::uint64_t bytes) : bytes_(bytes), outer_(std::exchange(limit_here, this)) {}
MemoryLimit::~MemoryLimit() { limit_here = outer_; }
std::uint64_t MemoryLimit::here() { return limit_here ? limit_here->bytes_ : kUnknown; }

std::optional<std::uint64_t> available_in(std::string_view meminfo) {
    constexpr std::string_view kKey = "MemAvailable:";
    const std::size_t at = meminfo.find(kKey);
    if (at == std::string_view::npos)
        return std::nullopt;
    const std::optional<std::uint64_t> kilobytes = number_in(meminfo.substr(at + kKey.size()));
    return kilobytes ? std::optional(*kilobytes * 1024) : std::nullopt;
}

std::uint64_t available_memory() {
    if (const std::uint64_t bytes = pretended; bytes != kUnknown)
        return bytes;
    return std::min(available_in(text_of("/proc/meminfo")).value_or(kUnknown),
                    left_in_group().value_or(kUnknown));
}

void check_memory(std::uint64_t bytes, const std::string& what, const std::string& remedy) {
    if (limit_here && bytes > limit_here->bytes_) {
        limit_here->refused_ = true;
        throw RunError(what + " would take " + megabytes(bytes) + " of memory, and " +
                       megabytes(limit_here->bytes_) + " are allowed here.");
    }
    constexpr std::uint64_t kSmall = std::uint64_t{16} << 20; // too small to check
    if (bytes < kSmall)
        return;
    const std::uint64_t available = available_memory();
    if (bytes > available / 4 * 3)
        throw RunError(what + " would take " + megabytes(bytes) + " of memory, and " + megabytes(available) +
                       " are available; " + remedy + ".");
}

void pretend_memory(std::optional<std::uint64_t> bytes) { pretended = bytes.value_or(kUnknown); }

} // namespace specklescope
