// What keys, characters and dropped files do.
#include "ui/app.hpp"

#include "ui/panels/controls.hpp"
#include "ui/ui.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>
#include <cctype>

namespace specklescope {

namespace {
constexpr double kStopStep = 0.5;
constexpr int kJump = 10; ///< frames
} // namespace

void App::handle_input() {
    // A dialog takes all keys; only leaving works everywhere.
    const bool busy = ImGui::GetIO().WantTextInput ||
                      (ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup) && !state_.keys_open);
    state_.confirm = state_.dismiss = false;
    const std::vector<KeyPress> keys = window_.take_keys();
    for (auto at = keys.begin(); at != keys.end(); ++at) {
        const KeyPress& key = *at;
        state_.confirm = state_.confirm || key.key == GLFW_KEY_ENTER || key.key == GLFW_KEY_KP_ENTER;
        state_.dismiss = state_.dismiss || key.key == GLFW_KEY_ESCAPE;
        if (key.key == GLFW_KEY_Q && (key.modifiers & GLFW_MOD_CONTROL))
            window_.request_close();
        else if (!busy && key.key != 0)
            handle_key(key);
        else if (!busy)
            handle_character(key.character);
        if (state_.open_dialog || state_.regions.asks_for_field()) { // what follows is meant for its field
            window_.put_back({at + 1, keys.end()});
            break;
        }
    }
    const std::vector<std::string> drops = window_.take_drops();
    if (!drops.empty())
        offer_drop(drops.front()); // to the field under the mouse; what no field takes is a source
}

void App::handle_key(const KeyPress& key) {
    using Shown = ViewSettings::Layout;
    ViewSettings& view = session_.view();
    if (!state_.keys_open && state_.regions.key(key, session_))
        return;
    switch (key.key) {
    case GLFW_KEY_F1:
        view.overlay = !view.overlay;
        break;
    case GLFW_KEY_F11:
        window_.toggle_full_screen();
        break;
    case GLFW_KEY_SPACE:
        toggle_pause(session_, state_.film);
        break;
    case GLFW_KEY_RIGHT:
        if (key.modifiers & GLFW_MOD_SHIFT)
            jump_by(session_, state_.film, kJump);
        else
            step_once(session_, state_.film);
        break;
    case GLFW_KEY_LEFT:
        if (key.modifiers & GLFW_MOD_SHIFT)
            jump_by(session_, state_.film, -kJump);
        else
            step_back(session_, state_.film);
        break;
    case GLFW_KEY_UP:
    case GLFW_KEY_DOWN:
        if (key.modifiers & GLFW_MOD_CONTROL)
            change_speed(session_, key.key == GLFW_KEY_UP ? 1 : -1);
        break;
    case GLFW_KEY_TAB:
        view.layout = static_cast<Shown>((static_cast<int>(view.layout) + 1) % 3);
        break;
    case GLFW_KEY_END:
        if (key.modifiers & GLFW_MOD_CONTROL)
            seek_to_end(session_, state_.film);
        else
            traces_.follow();
        break;
    case GLFW_KEY_HOME:
        if (key.modifiers & GLFW_MOD_CONTROL)
            seek_to_begin(session_, state_.film);
        else
            traces_.show_whole();
        break;
    case GLFW_KEY_ESCAPE:
    case GLFW_KEY_ENTER:
    case GLFW_KEY_KP_ENTER:
        state_.keys_open = false;
        break;
    case GLFW_KEY_O:
        if (key.modifiers & GLFW_MOD_CONTROL)
            state_.open_dialog = true;
        break;
    default:
        if (key.key >= GLFW_KEY_1 && key.key <= GLFW_KEY_9 && (key.modifiers & GLFW_MOD_CONTROL))
            traces_.mark_remembered(session_, static_cast<std::size_t>(key.key - GLFW_KEY_1));
        break;
    }
}

void App::handle_character(unsigned character) {
    using Shown = ViewSettings::Layout;
    ViewSettings& view = session_.view();
    if (!state_.keys_open && state_.regions.character(character, session_))
        return;
    const auto zoom = [&](double factor) {
        const Rect& area = layout_.shows_processed ? layout_.processed : layout_.raw;
        if (display_.has_result())
            state_.camera.zoom(area, placed_shape(!layout_.shows_processed), area.x + area.width / 2,
                               area.y + area.height / 2, factor);
    };
    const auto expose = [&](double stops) {
        const ParamDecl& decl = view_table().at("exposure_stops");
        view.mapping.exposure_stops = std::clamp(view.mapping.exposure_stops + stops, decl.min, decl.max);
    };
    const auto widen = [&](int step) { // the window of the first stage that has one
        const std::vector<ChainStage>& stages = session_.chain().stages();
        for (std::size_t i = 0; i < stages.size(); ++i)
            if (const ParamDecl* decl = stages[i].params.table().find("radius");
                decl && decl->kind == ParamKind::integer && stages[i].params.visible(*decl)) {
                const auto now = static_cast<double>(std::get<std::int64_t>(stages[i].params.get("radius")));
                const double next = std::clamp(now + step, decl->min, decl->max);
                if (next != now)
                    session_.edit(i, "radius", static_cast<std::int64_t>(next));
                return;
            }
    };
    switch (character < 128 ? std::tolower(static_cast<int>(character)) : 0) {
    case '1':
        view.layout = Shown::processed;
        break;
    case '2':
        view.layout = Shown::raw;
        break;
    case '3':
        view.layout = Shown::side_by_side;
        break;
    case '.':
        step_once(session_, state_.film);
        break;
    case ',':
        step_back(session_, state_.film);
        break;
    case 'i':
        mark_in(session_, state_.film);
        break;
    case 'u':
        mark_out(session_, state_.film);
        break;
    case 'j':
        toggle_loop(session_, state_.film);
        break;
    case '+':
        zoom(kZoomStep);
        break;
    case '-':
        zoom(1 / kZoomStep);
        break;
    case 'f':
        state_.camera.fit();
        break;
    case '0': // a pixel of the picture is one of the screen
        if (display_.has_result())
            state_.camera.set_scale(layout_.shows_processed ? layout_.processed : layout_.raw,
                                    placed_shape(!layout_.shows_processed), 1 / window_.ratio());
        break;
    case 'm':
        view.mapping.colormap =
            static_cast<ColorMap>((static_cast<int>(view.mapping.colormap) + 1) %
                                  static_cast<int>(view_table().at("colormap").choices.size()));
        break;
    case 'a':
        view.mapping.automatic = !view.mapping.automatic;
        break;
    case '[':
        expose(-kStopStep);
        break;
    case ']':
        expose(kStopStep);
        break;
    case '<':
        widen(-1);
        break;
    case '>':
        widen(1);
        break;
    case 'x':
        state_.mark_saturated = !state_.mark_saturated;
        break;
    case 'r':
        session_.toggle_record(RecordWhat::processed);
        break;
    case 'w':
        session_.toggle_record(RecordWhat::raw);
        break;
    case 's':
        state_.snapshot = true;
        break;
    case 'o':
        state_.open_dialog = true;
        break;
    case 't':
        toggle_traces();
        break;
    case 'z': // zero
        traces_.take_baseline(session_);
        break;
    case '%':
        traces_.toggle_relative(session_);
        break;
    case 'e':
        session_.mark_event();
        break;
    case 'p':
        view.panel = !view.panel;
        break;
    case '?':
        state_.keys_open = !state_.keys_open;
        break;
    default:
        break;
    }
}

} // namespace specklescope
