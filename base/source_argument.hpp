// Text that names a source and may contain a password, which must not be printed, recorded or saved.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// Converts implicitly from text, but back only through a named function. Secrets are the password of an
/// address (rtsp://user:SECRET@host), the values of query keys such as ?password=…&token=…, and properties of
/// gst: texts such as user-pw=…. A ${env:NAME} in such a place is a reference, not a secret; it is read from
/// the environment when the source is opened.
class SourceArgument {
public:
    SourceArgument() = default;
    SourceArgument(std::string text); // NOLINT(google-explicit-constructor): implicit in, explicit out
    SourceArgument(const char* text)
        : SourceArgument(std::string(text)) {} // NOLINT(google-explicit-constructor)

    bool empty() const { return text_.empty(); }
    /// The text with "***" in place of each secret.
    const std::string& shown() const { return shown_; }
    /// The full text; only for opening the source.
    const std::string& revealed() const { return text_; }
    bool holds_secret() const { return !secrets_.empty(); }

    /// The same source with ${env:NAME} in place of each secret, for files. SPECKLESCOPE_PASSWORD is used for
    /// the password of an address, SPECKLESCOPE_TOKEN for the value of token, and so on.
    SourceArgument referring() const;
    /// Names of the referenced variables, in order.
    std::vector<std::string> references() const;
    /// Replaces the references with their values, escaped for their position (percent in an address,
    /// backslash in a gst: text). shown() stays the same. Throws UsageError naming a variable that `value_of`
    /// does not find.
    SourceArgument
    resolved(const std::function<std::optional<std::string>(const std::string& name)>& value_of) const;

    /// `text`, such as a library's message, with "***" in place of every secret of this source.
    std::string hide(std::string_view text) const;

    friend bool operator==(const SourceArgument& a, const SourceArgument& b) { return a.text_ == b.text_; }

private:
    std::string text_, shown_;
    std::vector<std::string> secrets_; ///< as written in the text, and decoded
};

/// Value of an environment variable; nothing if it is unset or empty.
std::optional<std::string> from_environment(const std::string& name);

/// Remembers the secrets of `source` for the lifetime of the process. Any thread.
void remember_secrets(const SourceArgument& source);
/// `text` of a library, such as GLib's log, with "***" in place of every remembered secret and of every
/// password or token in an address. Any thread.
std::string without_secrets(std::string_view text);

} // namespace specklescope
