// Square buttons with drawn symbols, without an icon font.
#pragma once

#include <cstdint>
#include <string>

namespace specklescope {

enum class Icon : std::uint8_t {
    pause,
    play,
    step,
    step_back,
    loop,
    mark_in,
    mark_out,
    record,
    camera,
    traces,
    menu
};

/// True if it was clicked. `id` is its name for the probe, `text` its tooltip; `on` draws it as switched on.
bool icon_button(const char* id, Icon icon, const std::string& text, bool on = false);
float icon_button_width();

} // namespace specklescope
