#include "base/source_argument.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace specklescope {

namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kTokenEnd = " \t\r\n\"'";
constexpr std::string_view kValueEnd = "&# \t\r\n\"'"; ///< followed by kTokenEnd
constexpr std::string_view kReference = "${env:";
constexpr std::array<std::string_view, 6> kSchemes = {"rtsp:", "rtsps:", "http:", "https:", "rtmp:", "srt:"};
constexpr auto npos = std::string_view::npos;

/// Position of a secret in the text, and its name.
struct Place {
    std::size_t begin = 0, end = 0;
    std::string key;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }

bool names_a_secret(std::string_view key) {
    std::string lower(key);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return c == '_' ? '-' : static_cast<char>(std::tolower(c)); });
    constexpr std::array<std::string_view, 8> kWhole = {"pw",   "pass",          "key",    "sig",
                                                        "auth", "authorization", "cookie", "cookies"};
    constexpr std::array<std::string_view, 5> kWithin = {"passw", "passphrase", "pwd", "secret",
                                                         "credential"};
    constexpr std::array<std::string_view, 6> kAtEnd = {"-pw",       "-pass", "token",
                                                        "signature", "key",   "headers"};
    return std::find(kWhole.begin(), kWhole.end(), lower) != kWhole.end() ||
           std::any_of(kWithin.begin(), kWithin.end(),
                       [&](std::string_view part) { return lower.find(part) != std::string::npos; }) ||
           std::any_of(kAtEnd.begin(), kAtEnd.end(),
                       [&](std::string_view end) { return lower.ends_with(end); });
}

std::size_t first_of(std::string_view text, std::string_view any, std::size_t from) {
    return std::min(text.find_first_of(any, from), text.size());
}

bool is_port(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Blanks out ${env:NAME} references: same length, without characters that separate the parts of an address.
std::string without_references(std::string_view text) {
    std::string plain(text);
    for (std::size_t at = plain.find(kReference); at != std::string::npos; at = plain.find(kReference, at))
        std::fill(plain.begin() + static_cast<std::ptrdiff_t>(at),
                  plain.begin() +
                      static_cast<std::ptrdiff_t>(std::min(plain.find('}', at), plain.size() - 1) + 1),
                  'x');
    return plain;
}

/// Characters that end an address or a value in it: a blank or a quote between other words. If the address is
/// the whole text, only its own end counts.
std::string_view ends_in(std::string_view text, std::string_view among_words) {
    const bool alone = !text.starts_with("gst:") &&
                       (text.find_first_of(kTokenEnd) > text.find("://") ||
                        std::any_of(kSchemes.begin(), kSchemes.end(),
                                    [&](std::string_view one) { return text.starts_with(one); }));
    return alone ? among_words.substr(0, among_words.size() - kTokenEnd.size()) : among_words;
}

/// Positions where user:SECRET@ may begin: after "://", after the colon of an address without slashes, and in
/// the proxy of a gst: text, which needs no "http://".
std::vector<std::size_t> authorities(std::string_view text) {
    std::vector<std::size_t> found;
    const auto begins_word = [&](std::size_t at) { return at == 0 || !is_word(text[at - 1]); };
    for (std::size_t at = 0; at < text.size(); ++at) {
        const std::string_view rest = text.substr(at);
        if (rest.starts_with("://"))
            found.push_back(at + 3);
        else if (text.starts_with("gst:") && begins_word(at) && rest.starts_with("proxy="))
            found.push_back(std::min(text.find_first_not_of("\"'", at + 6), text.size()));
        else if (begins_word(at))
            for (const std::string_view scheme : kSchemes)
                if (rest.starts_with(scheme) && !rest.substr(scheme.size()).starts_with("//"))
                    found.push_back(at + scheme.size() +
                                    (rest.substr(scheme.size()).starts_with('/') ? 1 : 0));
    }
    return found;
}

/// Also finds passwords with '@', '/' or a blank that should have been percent-encoded.
void find_passwords(std::string_view text, std::vector<Place>& places) {
    const std::string_view ends = ends_in(text, kTokenEnd);
    for (const std::size_t begin : authorities(text)) {
        const std::string token = without_references(text.substr(begin, first_of(text, ends, begin) - begin));
        const std::size_t colon = token.find(':');
        const std::size_t path = first_of(token, "/?", 0); // a camera address has no fragment
        std::size_t at = token.substr(0, path).rfind('@');
        if (at == npos && colon < path &&
            !is_port(std::string_view(token).substr(colon + 1, path - colon - 1)))
            at = token.rfind('@');
        if (at != npos && colon != npos && colon + 1 < at)
            places.push_back({begin + colon + 1, begin + at, "password"});
    }
}

/// Value of a property in gst-launch text: up to the closing quote or the next space.
Place value_of_property(std::string_view text, std::size_t at) {
    at = std::min(text.find_first_not_of(kSpace, at), text.size());
    if (at < text.size() && text[at] == '(') // a type
        at = std::min(first_of(text, ")", at) + 1, text.size());
    std::size_t slashes = at;
    while (slashes < text.size() && text[slashes] == '\\')
        ++slashes;
    if (slashes < text.size() && (text[slashes] == '"' || text[slashes] == '\'')) {
        const std::string_view quote = text.substr(at, slashes - at + 1);
        const std::size_t begin = slashes + 1;
        std::size_t end = text.find(quote, begin);
        while (quote.size() == 1 && end != npos && text[end - 1] == '\\')
            end = text.find(quote, end + 1);
        return {begin, std::min(end, text.size()), ""};
    }
    std::size_t end = at;
    while (end < text.size() && kTokenEnd.find(text[end]) == npos)
        end += text[end] == '\\' ? 2 : 1;
    return {at, std::min(end, text.size()), ""};
}

/// Finds key=SECRET in queries and in properties of a gst: text.
void find_values(std::string_view text, std::vector<Place>& places) {
    const bool gst = text.starts_with("gst:");
    for (std::size_t equal = text.find('='); equal != npos; equal = text.find('=', equal + 1)) {
        std::size_t end = equal;
        while (end > 0 && gst && kSpace.find(text[end - 1]) != npos)
            --end;
        std::size_t begin = end;
        while (begin > 0 && is_word(text[begin - 1]))
            --begin;
        const std::string_view key = text.substr(begin, end - begin);
        const bool query = begin > 0 && (text[begin - 1] == '?' || text[begin - 1] == '&');
        if (key.empty() || !(query || gst) || !names_a_secret(key))
            continue;
        Place place = query ? Place{equal + 1, first_of(text, ends_in(text, kValueEnd), equal + 1), ""}
                            : value_of_property(text, equal + 1);
        place.key = key;
        if (place.begin < place.end)
            places.push_back(std::move(place));
    }
}

bool is_reference(std::string_view text) {
    return text.starts_with(kReference) && text.find('}') == text.size() - 1;
}

/// Sorted places, without nested ones and without references.
std::vector<Place> secret_places(std::string_view text) {
    std::vector<Place> places;
    find_passwords(text, places);
    find_values(text, places);
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.begin < b.begin; });
    std::vector<Place> apart;
    for (Place& place : places)
        if ((apart.empty() || place.begin >= apart.back().end) &&
            !is_reference(text.substr(place.begin, place.end - place.begin)))
            apart.push_back(std::move(place));
    return apart;
}

std::string with(std::string_view text, const std::vector<Place>& places,
                 const std::function<std::string(const Place&)>& instead) {
    std::string out;
    std::size_t at = 0;
    for (const Place& place : places) {
        out += text.substr(at, place.begin - at);
        out += instead(place);
        at = place.end;
    }
    return out.append(text.substr(at));
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
}

int hex(char c) {
    const auto digit = static_cast<unsigned char>(c);
    return std::isdigit(digit) != 0    ? c - '0'
           : std::isxdigit(digit) != 0 ? std::tolower(digit) - 'a' + 10
                                       : -1;
}

std::string percent_decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
            out += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
            i += 2;
        } else {
            out += text[i];
        }
    return out;
}

std::string percent_encoded(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (is_word(c) || c == '.' || c == '~') {
            out += c;
            continue;
        }
        constexpr std::string_view kHex = "0123456789ABCDEF";
        const auto byte = static_cast<unsigned char>(c);
        out.append("%").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
    }
    return out;
}

std::string slashed(std::string_view text, bool in_quotes) {
    std::string out;
    for (const char c : text) {
        if (in_quotes ? c == '"' || c == '\'' || c == '\\' : !is_word(c))
            out += '\\';
        out += c;
    }
    return out;
}

/// Escapes `value` as its position (after `before`) requires: in an address, in a property, or not at all.
std::string escaped(std::string_view before, const std::string& value) {
    const std::size_t token = before.find_last_of(kTokenEnd);
    if (before.substr(token == npos ? 0 : token + 1).find("://") != npos)
        return percent_encoded(value);
    if (!before.starts_with("gst:"))
        return value;
    return slashed(value, !before.empty() && (before.back() == '"' || before.back() == '\''));
}

} // namespace

SourceArgument::SourceArgument(std::string text) : text_(std::move(text)) {
    const std::vector<Place> places = secret_places(text_);
    shown_ = with(text_, places, [](const Place&) { return "***"; });
    for (const Place& place : places) {
        const std::string secret = text_.substr(place.begin, place.end - place.begin);
        secrets_.push_back(secret);
        if (const std::string plain = percent_decoded(secret); plain != secret)
            secrets_.push_back(plain);
    }
}

SourceArgument SourceArgument::referring() const {
    std::vector<std::pair<std::string, std::string>> named; // each name has one value
    return {with(text_, secret_places(text_), [&](const Place& place) {
        std::string base = "SPECKLESCOPE_";
        for (const char c : place.key)
            base += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        const std::string value = text_.substr(place.begin, place.end - place.begin);
        std::string name = base;
        const auto means_another = [&] {
            return std::any_of(named.begin(), named.end(),
                               [&](const auto& one) { return one.first == name && one.second != value; });
        };
        for (int number = 2; means_another(); ++number)
            name = base + "_" + std::to_string(number);
        named.emplace_back(name, value);
        return std::string(kReference) + name + "}";
    })};
}

std::vector<std::string> SourceArgument::references() const {
    std::vector<std::string> names;
    for (std::size_t at = text_.find(kReference); at != std::string::npos;
         at = text_.find(kReference, at + kReference.size()))
        if (const std::size_t end = text_.find('}', at); end != std::string::npos)
            names.push_back(text_.substr(at + kReference.size(), end - at - kReference.size()));
    return names;
}

SourceArgument SourceArgument::resolved(
    const std::function<std::optional<std::string>(const std::string& name)>& value_of) const {
    SourceArgument opened = *this;
    opened.text_.clear();
    std::size_t from = 0;
    for (const std::string& name : references()) {
        const std::size_t at = text_.find(kReference, from);
        const std::optional<std::string> value = value_of(name);
        if (!value)
            throw UsageError("source '" + shown_ + "' refers to the environment variable " + name +
                             ", which is not set; set it (export " + name + "=…) and start again.");
        opened.text_ += text_.substr(from, at - from);
        const std::string placed = escaped(opened.text_, *value);
        opened.text_ += placed;
        opened.secrets_.push_back(*value);
        if (placed != *value)
            opened.secrets_.push_back(placed);
        from = at + kReference.size() + name.size() + 1;
    }
    opened.text_ += text_.substr(from);
    return opened;
}

std::string SourceArgument::hide(std::string_view text) const {
    constexpr std::size_t kShort = 4; // shorter secrets are hidden only at their known places
    std::string out(text);
    if (secrets_.empty())
        return out;
    replace_all(out, text_, shown_);
    for (const std::string& secret : secrets_) {
        if (secret.size() >= kShort) {
            replace_all(out, secret, "***");
        } else if (!secret.empty()) {
            replace_all(out, ":" + secret + "@", ":***@");
            replace_all(out, "=" + secret, "=***");
        }
    }
    return out;
}

std::optional<std::string> from_environment(const std::string& name) {
    const char* value = std::getenv(name.c_str()); // NOLINT(concurrency-mt-unsafe): set before threads start
    return value && *value ? std::optional<std::string>(value) : std::nullopt;
}

namespace {

struct Known {
    std::mutex mutex;
    std::vector<SourceArgument> sources; ///< only a few
};

/// Never destroyed: threads of libraries (GStreamer's RTSP server) still log after main().
Known& known() {
    static Known& all = *new Known; // NOLINT: never destroyed
    return all;
}

} // namespace

void remember_secrets(const SourceArgument& source) {
    if (!source.holds_secret())
        return;
    Known& all = known();
    const std::scoped_lock lock(all.mutex);
    if (std::find(all.sources.begin(), all.sources.end(), source) == all.sources.end())
        all.sources.push_back(source);
}

std::string without_secrets(std::string_view text) {
    std::string out(text);
    {
        Known& all = known();
        const std::scoped_lock lock(all.mutex);
        for (const SourceArgument& source : all.sources)
            out = source.hide(out);
    }
    return SourceArgument(std::move(out)).shown();
}

} // namespace specklescope
