#include "config/keys/keys_toml.hpp"

#include "base/error.hpp"
#include "config/data_folder.hpp"
#include "config/text.hpp"

#include <filesystem>
#include <map>

namespace specklescope {

namespace {

using Fail = std::function<void(const toml::source_region&, const std::string&)>;

std::vector<KeyChord> chords_of(const ActionInfo& action, const toml::node& node, const Fail& fail) {
    std::vector<KeyChord> chords;
    const auto add = [&](const toml::node& item) {
        const auto* words = item.as_string();
        if (!words)
            return fail(item.source(), "keys: " + std::string(action.name) +
                                           " must be a key in quotation marks, or a list of them.");
        if (words->get().empty())
            return;
        try {
            chords.push_back(parse_chord(words->get()));
        } catch (const UsageError& error) {
            fail(item.source(), "keys: " + std::string(action.name) + ": " + error.what());
        }
    };
    if (const toml::array* list = node.as_array())
        for (const toml::node& item : *list)
            add(item);
    else
        add(node);
    return chords;
}

std::string quoted(const std::string& text) {
    return (text == "\"" || text.ends_with("+\"") || text.ends_with('\\')) ? "'" + text + "'"
                                                                           : '"' + text + '"';
}

} // namespace

void read_keys(const toml::table& table, KeyBindings& bindings, std::vector<std::string>& remarks,
               const Fail& fail) {
    KeyBindings changed = bindings;
    std::map<Action, toml::source_region> given;
    for (auto&& [key, node] : table) {
        const ActionInfo* action = find_action(key.str());
        if (!action) {
            const std::string near = suggestion(key.str(), action_names());
            fail(key.source(), "keys: there is no action '" + one_line(key.str()) + "'" +
                                   (near.empty() ? ". See specklescope help keys." : near));
            continue;
        }
        changed.set(action->action, chords_of(*action, node, fail));
        given[action->action] = key.source();
    }
    while (const auto twice = changed.conflict()) {
        const bool second = given.contains(twice->second);
        const Action said = second ? twice->second : twice->first;
        const Action other = second ? twice->first : twice->second;
        const std::string chord = to_string(twice->chord);
        const std::string name(info(said).name), other_name(info(other).name);
        if (given.contains(other))
            fail(given[said], "keys: " + chord + " is already the key of " + name + " and of " + other_name +
                                  ". Give one of them another, or none (\"\").");
        std::vector<KeyChord> left = changed.keys(other);
        std::erase(left, twice->chord);
        changed.set(other, std::move(left));
        remarks.push_back("keys: " + chord + " is now the key of " + name + ", no longer of " + other_name +
                          ".");
    }
    bindings = std::move(changed);
}

std::string keys_toml(const KeyBindings& bindings) {
    const KeyBindings before;
    std::string out;
    for (const ActionInfo& action : actions()) {
        const std::vector<KeyChord>& keys = bindings.keys(action.action);
        if (keys == before.keys(action.action))
            continue;
        std::string list;
        for (const KeyChord& chord : keys)
            list += (list.empty() ? "" : ", ") + quoted(to_string(chord));
        out += std::string(action.name) + " = [" + list + "]\n";
    }
    return out.empty() ? out : "\n[keys]\n" + out;
}

std::string keys_path() {
    const std::string folder = user_folder();
    return folder.empty() ? "" : folder + "/keys.toml";
}

void load_keys(const std::string& path, KeyBindings& bindings, std::vector<std::string>& remarks) {
    std::error_code ignored;
    if (path.empty() || !std::filesystem::is_regular_file(path, ignored))
        return;
    const auto fail = [&](const toml::source_region& where, const std::string& sentence) {
        throw UsageError(path + ", line " + std::to_string(where.begin.line) + ": " + sentence);
    };
    try {
        const toml::table root = toml::parse_file(path);
        for (auto&& [key, node] : root) {
            if (key.str() != "keys")
                fail(key.source(),
                     "there is no key '" + one_line(key.str()) + "' in this file; allowed: a table [keys].");
            const toml::table* table = node.as_table();
            if (!table)
                fail(node.source(), "keys must be a table, [keys].");
            else
                read_keys(*table, bindings, remarks, fail);
        }
    } catch (const toml::parse_error& error) {
        fail(error.source(), one_line(error.description()) + ".");
    }
}

} // namespace specklescope
