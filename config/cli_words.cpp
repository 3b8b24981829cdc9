#include "config/cli_words.hpp"

#include "config/options.hpp"
#include "config/text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace specklescope {

namespace {

const std::vector<std::string>& dashed_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const CliOption& option : cli_options())
            all.push_back("--" + option.name);
        return all;
    }();
    return names;
}

} // namespace

/// CLI11's messages contain neither the remedy nor the nearest word, so mistakes are found before CLI11
/// parses.
void check_words(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "--")
            return;
        if (word.size() < 2 || word[0] != '-')
            continue;
        const std::size_t equal = word.find('=');
        const std::string dashed = word.substr(0, equal);
        const CliOption* option = dashed.starts_with("--") ? find_option(dashed.substr(2)) : nullptr;
        if (!option)
            throw UsageError("There is no option '" + one_line(dashed) + "'" +
                             (suggestion(dashed, dashed_names()).empty()
                                  ? std::string(". See specklescope --help.")
                                  : suggestion(dashed, dashed_names())));
        if (option->argument.empty() && equal != std::string::npos && !option->decl)
            throw UsageError(dashed + " takes no value. Leave the value out.");
        if (option->argument.empty() || option->argument[0] == '[' || equal != std::string::npos)
            continue;
        if (i + 1 == words.size() || words[i + 1].starts_with("--"))
            throw UsageError(dashed + " needs a value: " + dashed + " " + option->argument + ".");
        ++i; // the value, whatever its form (-5 is out of range, not an option)
    }
}

Words take_apart(std::vector<std::string> words) {
    CLI::App app;
    app.set_help_flag();
    Words result;
    std::map<std::string, std::vector<std::string>> values;
    std::vector<std::pair<const CliOption*, CLI::Option*>> options;
    for (const CliOption& option : cli_options()) {
        CLI::Option* added = option.argument.empty() && option.decl
                                 ? app.add_flag("--" + option.name + "{true}", values[option.name])
                             : option.argument.empty()
                                 ? app.add_flag("--" + option.name)
                                 : app.add_option("--" + option.name, values[option.name]);
        if (!option.argument.empty())
            added->expected(option.argument[0] == '[' ? 0 : 1, 1)
                ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
                ->allow_extra_args(false);
        options.emplace_back(&option, added);
    }
    app.add_option("words", result.plain)->expected(0, -1);
    std::reverse(words.begin(), words.end()); // CLI11 takes a vector from its back
    try {
        app.parse(words);
    } catch (const CLI::ParseError& error) {
        throw UsageError("The command line cannot be understood (" + one_line(error.what()) +
                         "). See specklescope --help.");
    }
    for (const auto& [option, added] : options)
        if (added->count() > 0)
            result.values[option->name] = added->results();
    return result;
}

} // namespace specklescope
