// Keys and dropped files: finds the action of a key.
#include "ui/app.hpp"

#include "ui/actions/key_words.hpp"
#include "ui/panels/controls.hpp"

#include <algorithm>
#include <utility>

namespace specklescope {

void App::handle_input() {
    // A dialog takes all keys except the one that quits. Keyboard access to controls takes the keys that
    // Dear ImGui handles, but not the letters.
    const bool busy = ImGui::GetIO().WantTextInput || menu_.is_open() ||
                      (ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup) && !page_open());
    state_.confirm = state_.dismiss = state_.confirm_all = false;
    const std::vector<KeyPress> keys = window_.take_keys();
    for (auto at = keys.begin(); at != keys.end(); ++at) {
        const std::optional<KeyChord> chord = chord_of(*at);
        if (!chord)
            continue;
        const bool plain = !chord->ctrl && !chord->alt && !chord->shift;
        const bool enter = plain && chord->key == "Enter", escape = plain && chord->key == "Escape";
        state_.confirm = state_.confirm || enter;
        state_.dismiss = state_.dismiss || escape;
        if (chord->key == "Enter" && chord->ctrl && !chord->alt && !chord->shift)
            state_.confirm_all = true;
        if (has_key(Action::quit, *chord) && (!busy || chord->ctrl || chord->alt))
            run(Action::quit);
        else if (menu_.is_open() && has_key(Action::menu, *chord))
            menu_.close();
        else if (!busy && page_open() && (enter || escape))
            state_.keys_open = state_.messages_open = false;
        else if (!busy && escape && session_.waiting() && !walk_.on())
            run(Action::open);
        else if (!busy && !walk_.takes(*chord))
            press(*chord);
        if (asks_for_field()) {
            window_.put_back({at + 1, keys.end()}); // the following keys belong to the field
            break;
        }
    }
    if (asks_for_field() || state_.presets_asked || session_.open_error())
        state_.keys_open = state_.messages_open = false; // two open dialogs would conflict
    const std::vector<std::string> drops = window_.take_drops();
    if (drops.size() > 1)
        session_.say(Message::Level::warning,
                     "Of the " + std::to_string(drops.size()) +
                         " files that were dropped only the first is taken; drop one at a time, or the "
                         "folder that holds them.");
    if (!drops.empty() && monitor_.locked())
        monitor_.refuse();
    else if (!drops.empty())
        offer_drop(drops.front()); // to the field under the mouse; a file that no field takes is a source
}

bool App::has_key(Action action, const KeyChord& chord) const {
    const std::vector<KeyChord>& keys = session_.settings().keys.keys(action);
    return std::find(keys.begin(), keys.end(), chord) != keys.end();
}

bool App::page_open() const { return state_.keys_open || state_.messages_open; }

bool App::asks_for_field() const {
    return state_.open_dialog || palette_.asked() || state_.scale.ask || state_.report.ask ||
           calibrate_.ask || state_.folder.asked() || state_.regions.asks_for_field();
}

/// Runs the most specific action of this key that is possible now.
void App::press(const KeyChord& chord) {
    if (std::exchange(pressed_, chord) != chord) // a key that repeats is one edit
        session_.record_edits();
    std::string reason;
    for (const Action action : session_.settings().keys.find(chord)) {
        if (monitor_.locked() && !Monitor::allows(action)) {
            monitor_.refuse();
            continue;
        }
        if (page_open() && info(action).place != KeyPlace::anywhere)
            continue;
        std::string why = why_not(action);
        if (why.empty())
            return run(action);
        if (info(action).place != KeyPlace::drawing)
            reason = std::move(why);
    }
    if (!reason.empty())
        state_.regions.say(std::move(reason));
}

} // namespace specklescope
