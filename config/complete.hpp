// What may follow on a command line, from the same declarations as help and manual. The shells' scripts ask
// the program (--complete) and hold no words of their own.
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

/// `words` without the program's name; the last one is being typed and may be empty. Never throws for what
/// was typed: where nothing is known nothing is offered.
Completion complete(const std::vector<std::string>& words);

/// As the scripts read it: "space" or "nospace"; "files BEGINNING" or "none"; then a line "word<tab>doc"
/// each.
std::string to_lines(const Completion& completion);

/// The script for "bash", "zsh" or "fish"; UsageError for another shell.
std::string completion_script(const std::string& shell);

} // namespace specklescope
