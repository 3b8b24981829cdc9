// The scripts with which shells ask the program for words. All they know is how their shell takes a line
// apart.
#include "config/complete.hpp"

#include "base/error.hpp"
#include "config/text.hpp"

namespace specklescope {

namespace {

// Bash takes a word apart at ':' and '=', inside of quotes it does not; what it put aside is left out of
// answers.
constexpr const char* kBash =
    R"bash(# bash completion of specklescope; written by specklescope --completion bash
_specklescope() {
    local line=${COMP_LINE:0:COMP_POINT} word words=() i
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $line == [[:blank:]]* ]] || ((i == 0)); then
            line=${line#"${line%%[![:blank:]]*}"}
            words+=("")
        fi
        [[ $line == "$word"* ]] || word=$line
        words[-1]+=$word
        line=${line#"$word"}
    done
    local program=${words[0]/#\~/$HOME} current=${words[-1]} aside='' before='' answer=()
    if [[ $current == [\'\"]* ]]; then
        current=${current:1}
    elif [[ $current == *[:=]* && $COMP_WORDBREAKS == *:* && $COMP_WORDBREAKS == *=* ]]; then
        aside=${current%"${current##*[:=]}"}
    fi
    mapfile -t answer < <("$program" --complete "${words[@]:1:${#words[@]}-2}" "$current" 2>/dev/null)
    COMPREPLY=()
    for word in "${answer[@]:2}"; do
        word=${word%%$'\t'*}
        COMPREPLY+=("${word#"$aside"}")
    done
    [[ ${answer[0]} == nospace ]] && compopt -o nospace
    if [[ ${answer[1]} == files* ]]; then
        before=${answer[1]#files }
        ((${#COMPREPLY[@]})) || compopt -o filenames
        while IFS= read -r word; do
            word=$before$word
            COMPREPLY+=("${word#"$aside"}")
        done < <(compgen -f -- "${current#"$before"}")
    fi
}
complete -o nosort -F _specklescope specklescope
)bash";

constexpr const char* kZsh = R"zsh(#compdef specklescope
# zsh completion of specklescope; written by specklescope --completion zsh
_specklescope() {
    local -a answer described space
    local line before
    answer=("${(@f)$("${words[1]/#\~/$HOME}" --complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    [[ $answer[1] == nospace ]] && space=(-S '')
    for line in "${(@)answer[3,-1]}"; do
        described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    (($#described)) && _describe -V -t words word described "${space[@]}"
    if [[ $answer[2] == files* ]]; then
        before=${answer[2]#files}
        before=${before# }
        [[ -n $before ]] && compset -P "${(b)before}"
        _files
    fi
}
if [[ $funcstack[1] == _specklescope ]]; then
    _specklescope "$@"
else
    compdef _specklescope specklescope
fi
)zsh";

constexpr const char* kFish =
    R"fish(# fish completion of specklescope; written by specklescope --completion fish
function __specklescope_words
    set -l words (commandline -opc)
    set -l current (commandline -ct | string replace -r '^[\'"]' '')
    set -l program (string replace -r '^~' $HOME -- $words[1])
    set -l answer ($program --complete $words[2..-1] "$current" 2>/dev/null)
    printf '%s\n' $answer[3..-1]
    if string match -q 'files*' -- $answer[2]
        set -l before (string replace -r '^files ?' '' -- $answer[2])
        set -l start (math (string length -- "$before") + 1)
        for file in (__fish_complete_path (string sub -s $start -- "$current"))
            echo -- "$before$file"
        end
    end
end
complete -c specklescope -f -a '(__specklescope_words)'
)fish";

} // namespace

std::string completion_script(const std::string& shell) {
    if (shell == "bash")
        return kBash;
    if (shell == "zsh")
        return kZsh;
    if (shell == "fish")
        return kFish;
    throw UsageError("There is no completion for '" + one_line(shell) + "'; allowed: bash, zsh, fish.");
}

} // namespace specklescope
