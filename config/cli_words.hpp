// The words of a command line, taken apart by the table of options.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace specklescope {

/// Result of CLI11: words without dashes, and each option's values in the order given.
struct Words {
    std::vector<std::string> plain;
    std::map<std::string, std::vector<std::string>> values;
    bool has(const std::string& name) const { return values.contains(name); }
    std::string last(const std::string& name) const { return has(name) ? values.at(name).back() : ""; }
};

/// Throws UsageError for an option that is not there, or has a value too many or too few.
void check_words(const std::vector<std::string>& words);
/// Words accepted by check_words().
Words take_apart(std::vector<std::string> words);

} // namespace specklescope
