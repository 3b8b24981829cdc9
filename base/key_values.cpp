#include "base/key_values.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <vector>

namespace specklescope {

namespace {

/// Takes the text up to the next comma, and removes the comma.
std::string take_value(std::string_view& rest, const std::string& owner) {
    std::string value;
    if (rest.empty() || rest[0] != '"') {
        const std::size_t comma = rest.find(',');
        value = rest.substr(0, comma);
        rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
        return value;
    }
    std::size_t i = 1;
    for (; i < rest.size() && rest[i] != '"'; ++i) {
        if (rest[i] == '\\' && i + 1 < rest.size())
            ++i;
        value += rest[i];
    }
    if (i >= rest.size() || (i + 1 < rest.size() && rest[i + 1] != ','))
        throw UsageError(owner + ": the quotes in " + std::string(rest) +
                         " do not close before a comma or the end.");
    rest.remove_prefix(std::min(rest.size(), i + 2));
    return value;
}

} // namespace

void for_key_values(std::string_view text, const std::string& owner,
                    const std::function<void(std::string_view key, const std::string& value)>& take) {
    std::string_view rest = text;
    std::vector<std::string_view> given;
    while (!rest.empty()) {
        const std::size_t equal = rest.find_first_of("=,");
        if (equal == std::string_view::npos || rest[equal] != '=')
            throw UsageError(owner + ": '" + std::string(rest.substr(0, equal)) +
                             "' is not of the form key=value.");
        const std::string_view key = rest.substr(0, equal);
        rest.remove_prefix(equal + 1);
        if (std::find(given.begin(), given.end(), key) != given.end())
            throw UsageError(owner + ": " + std::string(key) + " is given twice; leave one of the two out.");
        given.push_back(key);
        take(key, take_value(rest, owner));
    }
}

} // namespace specklescope
