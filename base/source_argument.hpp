// The text that names a source, which may hold a password: what is printed, recorded and saved of it does
// not.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// Any text becomes one, and none becomes text again but by a name that says what for. Secrets are: the
/// password of an address (rtsp://user:SECRET@host), values of a query whose key says so
/// (?password=…&token=…), and in gst: texts properties such as user-pw=…; what stands there as ${env:NAME} is
/// no secret but the name of one, and is read from the environment when the source is opened.
class SourceArgument {
public:
    SourceArgument() = default;
    SourceArgument(
        std::string text); // NOLINT(google-explicit-constructor): the way in is wide, the way out not
    SourceArgument(const char* text)
        : SourceArgument(std::string(text)) {} // NOLINT(google-explicit-constructor)

    bool empty() const { return text_.empty(); }
    /// Each secret is "***".
    const std::string& shown() const { return shown_; }
    /// The whole of it: to open the source, and for nothing else.
    const std::string& revealed() const { return text_; }
    bool holds_secret() const { return !secrets_.empty(); }

    /// The same source with ${env:NAME} in place of each secret: for files. SPECKLESCOPE_PASSWORD stands for
    /// the password of an address, SPECKLESCOPE_TOKEN for the value of token, and so on.
    SourceArgument referring() const;
    /// Names of the variables that it refers to, in order.
    std::vector<std::string> references() const;
    /// With the values in place of the references, escaped as their place asks (percent in an address,
    /// backslash in a gst: text). It is shown as before. Throws UsageError naming a variable that `value_of`
    /// does not know.
    SourceArgument
    resolved(const std::function<std::optional<std::string>(const std::string& name)>& value_of) const;

    /// `text`, a library's message for example, with "***" in place of every secret of this.
    std::string hide(std::string_view text) const;

    friend bool operator==(const SourceArgument& a, const SourceArgument& b) { return a.text_ == b.text_; }

private:
    std::string text_, shown_;
    std::vector<std::string> secrets_; ///< as they stand in the text, and as they are meant
};

/// The value of an environment variable that is set and not empty.
std::optional<std::string> from_environment(const std::string& name);

} // namespace specklescope
