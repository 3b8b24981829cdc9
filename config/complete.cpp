#include "config/complete.hpp"
#include "config/presets/preset_file.hpp"

#include "config/options.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"
#include "sources/registry.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

namespace specklescope {

namespace {

/// Collects what begins with the word being typed.
class TypedWords {
public:
    explicit TypedWords(std::string typed) : typed_(std::move(typed)) {}
    const std::string& typed() const { return typed_; }
    void add(const std::string& text, std::string_view doc = "") {
        if (!text.starts_with(typed_))
            return;
        out_.words.push_back({text, std::string(doc)});
        if (text.ends_with('='))
            out_.ends = false;
    }
    void may_go_on() { out_.ends = false; }
    void files(std::string before) { out_.files = std::move(before); }
    Completion take() { return std::move(out_); }

private:
    std::string typed_;
    Completion out_;
};

bool takes_value(const CliOption& option) { return !option.argument.empty() && option.argument[0] != '['; }

/// The words that a declaration allows; for numbers the default and the ends of the range.
void add_values(TypedWords& words, const std::string& before, const ParamDecl& decl,
                const std::any& defaults) {
    const std::string standard = to_string(decl.get(defaults));
    const auto add = [&](const std::string& value, const char* what) {
        words.add(before + value, value == standard ? "default" : what);
    };
    for (const std::string& value :
         decl.kind == ParamKind::boolean ? std::vector<std::string>{"true", "false"} : decl.choices)
        add(value, "");
    if (decl.kind == ParamKind::path)
        words.files(before);
    if (decl.kind != ParamKind::integer && decl.kind != ParamKind::real)
        return;
    add(standard, "");
    for (const auto& [limit, what] : {std::pair{decl.min, "smallest"}, {decl.max, "largest"}}) {
        if (std::abs(limit) == std::numeric_limits<double>::max())
            continue;
        const std::string text =
            decl.kind == ParamKind::integer ? to_string(static_cast<std::int64_t>(limit)) : to_string(limit);
        if (text != standard)
            add(text, what);
    }
}

/// "key=value,key=value" after `before`; a key is offered once.
void add_pairs(TypedWords& words, std::string before, const ParamTable& table, char separator) {
    std::string rest = words.typed().substr(before.size());
    std::vector<std::string> named;
    for (std::size_t end; (end = rest.find(separator)) != std::string::npos; rest.erase(0, end + 1)) {
        named.push_back(rest.substr(0, rest.find('=')));
        before += rest.substr(0, end + 1);
    }
    if (const std::size_t equal = rest.find('='); equal != std::string::npos) {
        if (const ParamDecl* decl = table.find(rest.substr(0, equal)))
            add_values(words, before + rest.substr(0, equal + 1), *decl, table.defaults());
        words.may_go_on();
        return;
    }
    for (const ParamDecl& decl : table.decls())
        if (decl.kind != ParamKind::action && std::find(named.begin(), named.end(), decl.name) == named.end())
            words.add(before + decl.name + "=", decl.doc + "; " + allowed_text(decl));
}

void add_stages(TypedWords& words, const std::string& before) {
    const std::string text = words.typed().substr(before.size());
    for (const StageType& stage : stage_types()) {
        words.add(before + std::string(stage.name), stage.doc);
        if (text.starts_with(std::string(stage.name) + ":"))
            add_pairs(words, before + std::string(stage.name) + ":", *stage.table, ',');
    }
    words.add(before + "none", "the raw image, nothing computed");
    words.may_go_on();
}

/// "bash|zsh|fish" of an option's argument.
void add_listed(TypedWords& words, const std::string& before, std::string_view argument) {
    for (std::size_t begin = 0; begin < argument.size();) {
        const std::size_t end = std::min(argument.find_first_of("|[]", begin), argument.size());
        if (end > begin)
            words.add(before + std::string(argument.substr(begin, end - begin)));
        begin = end + 1;
    }
}

void add_source_options(TypedWords& words, std::size_t mark) {
    try {
        const std::string kind = parse_source_text(words.typed().substr(0, mark)).kind;
        add_pairs(words, words.typed().substr(0, mark + 1), *source_type(kind)->table, '&');
    } catch (const UsageError&) {
        return; // not a kind of source: its options are unknown
    }
}

void add_sources(TypedWords& words) {
    if (const std::size_t mark = words.typed().rfind('?'); mark != std::string::npos)
        add_source_options(words, mark);
    for (const SourceType& source : source_types()) {
        const std::string kind(source.kind);
        const std::string_view rest =
            source.syntax.starts_with(kind) ? source.syntax.substr(kind.size()) : "";
        if (rest.starts_with("://"))
            words.add(kind + "://", source.doc);
        else if (rest.starts_with(':'))
            words.add(kind + ":", source.doc);
        else if (rest.starts_with('['))
            words.add(kind, source.doc);
        if (rest.starts_with("[:") && std::islower(static_cast<unsigned char>(rest[2])) != 0 &&
            words.typed().starts_with(kind + ":")) // "[:vessels|static]" lists words, "[:NAME]" does not
            add_listed(words, kind + ":", rest.substr(2, rest.find(']') - 2));
        const std::string files = source.alias.empty() ? kind + ":" : std::string(source.alias) + ":";
        if (!source.alias.empty())
            words.add(files, source.doc);
        if ((kind == "raw" || kind == "v4l2" || !source.alias.empty()) && words.typed().starts_with(files) &&
            words.typed().find('?') == std::string::npos)
            words.files(files);
    }
    if (words.typed().find_first_of(":?") == std::string::npos)
        words.files("");
    words.may_go_on();
}

void add_presets(TypedWords& words, const std::string& before) {
    for (const Preset& preset : presets())
        words.add(before + preset.name, preset.doc);
}

void add_settings_files(TypedWords& words, const std::string& before) {
    const std::string from = before + "from:";
    words.add(from, "the settings that made a recording");
    if (from.starts_with(words.typed()))
        words.may_go_on();
    words.files(words.typed().starts_with(from) ? from : before);
}

void add_option_value(TypedWords& words, const CliOption& option, const std::string& before) {
    if (option.decl)
        add_values(words, before, *option.decl, program_table().defaults());
    else if (option.name == "stage")
        add_stages(words, before);
    else if (option.name == "view")
        add_pairs(words, before, view_table(), '\0');
    else if (option.name == "colormap")
        add_values(words, before, view_table().at("colormap"), view_table().defaults());
    else if (option.name == "preset")
        add_presets(words, before);
    else if (option.name == "help")
        for (const std::string& topic : help_topics())
            words.add(before + topic);
    else if (option.name == "config")
        add_settings_files(words, before);
    else if (option.argument == "FILE")
        words.files(before);
    else if (option.argument.find('|') != std::string::npos)
        add_listed(words, before, option.argument);
}

/// Typed words before the cursor, without options and their values.
std::vector<std::string> plain_words(const std::vector<std::string>& before) {
    std::vector<std::string> plain;
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (!before[i].starts_with('-')) {
            plain.push_back(before[i]);
            continue;
        }
        const CliOption* option = before[i].starts_with("--") ? find_option(before[i].substr(2)) : nullptr;
        if (option && takes_value(*option))
            ++i;
    }
    return plain;
}

void add_plain(TypedWords& words, const std::vector<std::string>& plain) {
    if (plain.empty()) {
        for (const CliCommand& command : cli_commands())
            words.add(command.name, command.doc);
        add_sources(words);
    } else if (plain[0] == "batch" || plain[0] == "bench" || plain[0] == "convert" || plain[0] == "pulse" ||
               plain[0] == "trials") {
        words.files("");
    } else if (plain.size() > 1) {
        return;
    } else if (plain[0] == "view" || plain[0] == "run" || plain[0] == "check") {
        add_sources(words);
    } else if (plain[0] == "list") {
        for (const std::string& word : list_words())
            words.add(word);
    } else if (plain[0] == "help") {
        add_option_value(words, *find_option("help"), "");
    }
}

} // namespace

Completion complete(const std::vector<std::string>& typed) {
    TypedWords words(typed.empty() ? "" : typed.back());
    const std::vector<std::string> before(typed.begin(), typed.end() - (typed.empty() ? 0 : 1));
    const std::string& word = words.typed();
    const CliOption* option =
        !before.empty() && before.back().starts_with("--") ? find_option(before.back().substr(2)) : nullptr;
    if (option && takes_value(*option)) {
        add_option_value(words, *option, "");
        return words.take();
    }
    if (const std::size_t equal = word.find('='); word.starts_with("--") && equal != std::string::npos) {
        option = find_option(word.substr(2, equal - 2));
        if (option)
            add_option_value(words, *option, word.substr(0, equal + 1));
        return words.take();
    }
    if (word.starts_with('-')) {
        for (const CliOption& each : cli_options())
            words.add("--" + each.name, each.doc);
        return words.take();
    }
    if (option && !option->argument.empty()) // its value may be left out
        add_option_value(words, *option, "");
    else
        add_plain(words, plain_words(before));
    return words.take();
}

std::string to_lines(const Completion& completion) {
    std::string out = completion.ends ? "space\n" : "nospace\n";
    out += completion.files ? "files " + *completion.files + "\n" : "none\n";
    for (const Candidate& word : completion.words)
        out += word.text + "\t" + word.doc + "\n";
    return out;
}

namespace {

// Bash splits a word at ':' and '=', but not inside quotes; the part before is omitted from answers.
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
