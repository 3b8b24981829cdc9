// Command line completion from the declarations of help and manual. The shell scripts call the program
// (--complete) and contain no words of their own.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace specklescope {

struct Candidate {
    std::string text; ///< the whole word
    std::string doc;
};

struct Completion {
    std::vector<Candidate> words;     ///< that begin as the word being typed does
    bool ends = true;                 ///< the word is whole: a space may follow
    std::optional<std::string> files; ///< names of files fit too, after this beginning of the word
};

/// `words`: without the program's name; the last word is incomplete and may be empty. Never throws because
/// of the input: unknown words get no suggestions.
Completion complete(const std::vector<std::string>& words);

/// Format for the scripts: "space" or "nospace"; "files BEGINNING" or "none"; then a line "word<tab>doc" for
/// each.
std::string to_lines(const Completion& completion);

/// The script for "bash", "zsh" or "fish"; UsageError for another shell.
std::string completion_script(const std::string& shell);

} // namespace specklescope
