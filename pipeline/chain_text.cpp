#include "pipeline/chain_text.hpp"

#include "base/error.hpp"

namespace specklescope {

namespace {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\n";
    const std::size_t first = text.find_first_not_of(kBlank);
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// End of the first stage of `text`: a '|' outside quotes, or the end.
std::size_t end_of_stage(std::string_view text) {
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (quoted && text[i] == '\\')
            ++i;
        else if (text[i] == '"' && (quoted || (i > 0 && text[i - 1] == '=')))
            quoted = !quoted;
        else if (text[i] == '|' && !quoted)
            return i;
    }
    return text.size();
}

} // namespace

std::vector<std::string_view> stage_texts(std::string_view text) {
    std::vector<std::string_view> texts;
    std::string_view rest = trimmed(text);
    if (rest.empty() || rest == "none")
        return texts;
    while (true) {
        const std::size_t end = end_of_stage(rest);
        const std::string_view stage = trimmed(rest.substr(0, end));
        if (stage.empty())
            throw UsageError(
                "The chain '" + std::string(text) +
                "' has nothing between two '|' or at an end; give a stage there, or leave out one '|'.");
        texts.push_back(stage);
        if (end == rest.size())
            return texts;
        rest.remove_prefix(end + 1);
    }
}

Chain chain_from_text(std::string_view text) {
    Chain chain;
    for (const std::string_view stage : stage_texts(text))
        chain.add(stage);
    return chain;
}

} // namespace specklescope
