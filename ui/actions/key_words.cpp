#include "ui/actions/key_words.hpp"

#include <algorithm>

namespace specklescope {

std::string key_of(const KeyBindings& keys, Action action, bool selected_region) {
    const auto& all = keys.keys(action);
    const auto at = std::find_if(all.begin(), all.end(), [&](const KeyChord& chord) {
        const std::vector<Action> means = keys.find(chord);
        return info(action).place == KeyPlace::drawing || !selected_region ||
               std::none_of(means.begin(), means.end(),
                            [](Action other) { return info(other).place == KeyPlace::selected_region; });
    });
    return at == all.end() ? "" : shown(*at);
}

std::string key_words(const std::string& before, const std::string& key, const std::string& after) {
    return key.empty() ? "" : before + key + after;
}

} // namespace specklescope
