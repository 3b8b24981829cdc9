#include "net/address.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/system.hpp"

#include <spdlog/spdlog.h>

#include <charconv>

namespace specklescope {

namespace {

constexpr std::string_view kPath = "ipc://";
constexpr std::size_t kLongestPath = 107; ///< that the system has room for

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
    // A name that begins with '@' lies in no folder: nothing would keep other users out.
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
        run_log().warn("{} is open to whoever reaches this machine over the network: {}; 127.0.0.1 keeps "
                       "it to this machine.",
                       shown, what);
}

} // namespace specklescope
