#include "recording/table_text.hpp"

#include "base/one_line.hpp"

#include <charconv>
#include <chrono>

namespace specklescope {

namespace {

template <class Number> void add_digits(std::string& text, Number value) {
    char digits[32];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

} // namespace

void add_number(std::string& text, double value) { add_digits(text, value); }

void add_whole(std::string& text, std::uint64_t value) { add_digits(text, value); }

void add_seconds(std::string& text, std::int64_t ns) {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    if (ns < 0)
        text += '-';
    add_whole(text, size / kSecond);
    const std::string part = std::to_string(size % kSecond);
    text += "." + std::string(9 - part.size(), '0') + part;
}

void add_capture(std::string& text, const FrameInfo& info) {
    if (info.has_time())
        add_seconds(text, info.capture_ns);
}

std::int64_t ns_of(SteadyClock::time_point time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

std::string csv_text(const std::string& text) {
    if (text.find_first_of(",\"\r\n#") == std::string::npos)
        return text;
    std::string quoted = "\"";
    for (const char c : text)
        quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

std::string comment(std::string text) {
    constexpr std::size_t kMost = 2000;
    std::string lines;
    while (text.size() > kMost) {
        std::size_t cut = kMost;
        while (cut > 1 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80) // within a letter of UTF-8
            --cut;
        lines += text.substr(0, cut) + "\n";
        text = "#   " + text.substr(cut);
    }
    return lines + text + "\n";
}

std::string setting_line(std::uint64_t version, const char* what, const std::string& value) {
    return comment("# version " + std::to_string(version) + ", " + what + ": " + one_line(value));
}

std::string exposure_line(std::uint64_t version, const Exposure& exposure) {
    return setting_line(version, "exposure", exposure.known() ? to_string(exposure) : "unknown");
}

} // namespace specklescope
