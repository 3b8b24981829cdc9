// Addresses of network ports, after the name of their option (publish, control, metrics or serve) and a
// space. Accepted addresses are equal when printed and parsed again; refusals show no password.
// Parser: net/address.cpp base/source_argument.cpp
#include "net/address.hpp"
#include "net/outlet.hpp"
#include "tests/fuzz/support.hpp"

namespace specklescope::fuzz {
namespace {

constexpr int kLastPort = 65535;

bool of_port(int port) { return port >= 0 && port <= kLastPort; }

void check_listen(const std::string& text, const ListenSyntax& syntax) {
    ListenAddress address;
    const std::string sentence =
        sentence_of(text.size(), false, [&] { address = parse_listen_address(text, syntax); });
    if (!sentence.empty())
        return demand(sentence.starts_with(one_line(std::string(syntax.option) + " = '" + text + "'")),
                      "the error does not begin with what was said: '" + sentence + "'");
    demand(of_port(address.port), "port " + std::to_string(address.port) + " is none");
    demand(address.path.empty() != address.host.empty(), "it is neither a host nor a path, or both");
    demand(one_line(address.endpoint()) == address.endpoint(), "the endpoint is not one line");
    const std::string shown = address.shown(syntax.scheme, "tcp://x:" + std::to_string(address.port));
    ListenAddress again;
    const std::string refused =
        sentence_of(shown.size(), false, [&] { again = parse_listen_address(shown, syntax); });
    demand(refused.empty(), "what is shown is refused: '" + refused + "'");
    demand(again.host == address.host && again.port == address.port && again.path == address.path &&
               again.loopback == address.loopback,
           "'" + shown + "' is another address than '" + text + "'");
}

void check_serve(const std::string& text) {
    const SourceArgument argument(text);
    ServeAddress address;
    const std::string sentence =
        sentence_of(text.size(), false, [&] { address = parse_serve_address(argument); });
    if (!sentence.empty()) {
        demand(sentence.starts_with("serve = '"),
               "the error does not begin with what was said: '" + sentence + "'");
        return demand(argument.shown() == text || sentence.find(text) == std::string::npos,
                      "the error shows a secret: '" + sentence + "'");
    }
    demand(of_port(address.port), "port " + std::to_string(address.port) + " is none");
    demand(address.user.empty() == address.password.empty(), "a user without a password, or the reverse");
    demand(address.user.empty() || argument.shown().find("***@") != std::string::npos ||
               text.find("${env:") != std::string::npos,
           "the password is no secret in '" + argument.shown() + "'");
    const std::string shown = address.shown();
    ServeAddress again;
    const std::string refused =
        sentence_of(shown.size(), false, [&] { again = parse_serve_address(SourceArgument(shown)); });
    demand(refused.empty(), "what is shown is refused: '" + refused + "'");
    demand(again.host == address.host && again.port == address.port && again.path == address.path &&
               again.loopback == address.loopback && again.user.empty(),
           "'" + shown + "' is another address than '" + text + "'");
}

void check_address(std::string_view bytes) {
    const std::size_t space = std::min(bytes.find(' '), bytes.size());
    const std::string_view option = bytes.substr(0, space);
    const std::string text(bytes.substr(std::min(space + 1, bytes.size())));
    if (text.find('\0') != std::string::npos)
        return; // impossible on a command line
    if (option == "serve")
        return check_serve(text);
    for (const ListenSyntax& syntax : {kPublishSyntax, kControlSyntax, kMetricsSyntax})
        if (option == syntax.option)
            check_listen(text, syntax);
}

} // namespace
} // namespace specklescope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    specklescope::fuzz::check_address(specklescope::fuzz::text_of(data, bytes));
    return 0;
}
