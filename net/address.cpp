#include "net/address.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/system.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace specklescope {

namespace {

constexpr std::string_view kPath = "ipc://";
constexpr std::size_t kLongestPath = 107; ///< limit of the system

[[noreturn]] void refuse(const std::string& text, const ListenSyntax& syntax) {
    const std::string scheme(syntax.scheme);
    throw UsageError(std::string(syntax.option) + " = '" + text + "' is not possible; allowed: " + scheme +
                     "HOST:PORT with a host of this machine, 127.0.0.1 for programs on it alone, and a port "
                     "of 1…65535, as " +
                     scheme + "127.0.0.1:" + std::string(syntax.port) +
                     (syntax.paths ? ", or " + std::string(kPath) + "PATH with at most " +
                                         std::to_string(kLongestPath) + " bytes of path."
                                   : "."));
}

ListenAddress of_path(const std::string& text, const ListenSyntax& syntax) {
    ListenAddress address;
    address.path = text.substr(kPath.size());
    address.loopback = true;
    // An abstract socket (a name that begins with '@') has no permissions: other users could connect.
    if (address.path.empty() || address.path.size() > kLongestPath || address.path.front() == '@' ||
        address.path.front() == '*' || one_line(address.path) != address.path)
        refuse(text, syntax);
    return address;
}

} // namespace

ListenAddress parse_listen_address(const std::string& text, const ListenSyntax& syntax) {
    if (syntax.paths && text.starts_with(kPath))
        return of_path(text, syntax);
    const std::size_t colon = text.rfind(':');
    const std::size_t begin = syntax.scheme.size();
    if (!text.starts_with(syntax.scheme) || colon == std::string::npos || colon <= begin)
        refuse(text, syntax);
    ListenAddress address;
    address.host = text.substr(begin, colon - begin);
    if (address.host.find_first_not_of(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-:[]%*") != std::string::npos)
        refuse(text, syntax);
    const std::string_view port = std::string_view(text).substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
    constexpr int kLastPort = 65535;
    if (error != std::errc() || end != port.data() + port.size() || address.port < 0 ||
        address.port > kLastPort)
        refuse(text, syntax);
    address.loopback = is_loopback(address.host);
    return address;
}

std::string ListenAddress::endpoint() const {
    if (!path.empty())
        return std::string(kPath) + path;
    return "tcp://" + (host == "localhost" ? "127.0.0.1" : host) + ":" +
           (port == 0 ? "*" : std::to_string(port));
}

std::string ListenAddress::shown(std::string_view scheme, const std::string& bound_endpoint) const {
    if (!path.empty())
        return std::string(kPath) + path;
    return std::string(scheme) + host + bound_endpoint.substr(bound_endpoint.rfind(':'));
}

void warn_if_open(const ListenAddress& address, const std::string& shown, const std::string& what) {
    if (!address.loopback)
        run_log().warn("{} is open to everyone who reaches this machine over the network: {}. Use 127.0.0.1 "
                       "to allow only this machine.",
                       shown, what);
}

namespace {

constexpr std::string_view kRtspScheme = "rtsp://";

[[noreturn]] void refuse(const SourceArgument& text) {
    throw UsageError(
        "serve = '" + text.shown() +
        "' is not possible; allowed: rtsp://HOST:PORT/NAME with a host of this machine, 127.0.0.1 for "
        "programs on it alone, and a port of 1…65535, as rtsp://127.0.0.1:8554/flow, and "
        "USER:${env:VARIABLE}@ in front of the host.");
}

std::string decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned code = 0;
        if (text[i] == '%' && i + 2 < text.size() &&
            std::from_chars(text.data() + i + 1, text.data() + i + 3, code, 16).ptr == text.data() + i + 3) {
            out += static_cast<char>(code);
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

bool of_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.' || c == '/';
}

} // namespace

std::string ServeAddress::shown() const {
    return std::string(kRtspScheme) + host + ":" + std::to_string(port) + path;
}

ServeAddress parse_serve_address(const SourceArgument& text) {
    std::string_view rest = text.revealed();
    if (!rest.starts_with(kRtspScheme))
        refuse(text);
    rest.remove_prefix(kRtspScheme.size());
    ServeAddress address;
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    address.path = rest.substr(slash);
    std::string_view place = rest.substr(0, slash);
    if (address.path.size() < 2 || !std::all_of(address.path.begin(), address.path.end(), of_name))
        refuse(text);
    if (const std::size_t at = place.rfind('@'); at != std::string_view::npos) {
        const std::string_view who = place.substr(0, at);
        if (who.find('?') != std::string_view::npos) // its end would be ambiguous; write %3F
            refuse(SourceArgument(std::string(kRtspScheme) + "***" + std::string(rest.substr(at))));
        const std::size_t colon = who.find(':');
        if (colon == std::string_view::npos || colon == 0 || colon + 1 == who.size())
            refuse(text);
        address.user = decoded(who.substr(0, colon));
        address.password = decoded(who.substr(colon + 1));
        place = place.substr(at + 1);
    }
    const std::size_t colon = place.rfind(':');
    if (colon != std::string_view::npos && place.find(']', colon) == std::string_view::npos) {
        const std::string_view port = place.substr(colon + 1);
        constexpr int kLastPort = 65535;
        const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
        if (error != std::errc() || end != port.data() + port.size() || address.port < 0 ||
            address.port > kLastPort)
            refuse(text);
        place = place.substr(0, colon);
    }
    if (!place.empty())
        address.host = place;
    if (address.host.find_first_not_of(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-:[]*") != std::string::npos)
        refuse(text);
    address.loopback = is_loopback(address.host);
    return address;
}

} // namespace specklescope
