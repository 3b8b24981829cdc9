// Presets in the window: load, save, delete, compare.
#pragma once

#include "config/presets/preset_file.hpp"
#include "session/session.hpp"

namespace specklescope {

/// Applies the chain, range and colours of a preset, but not the channel of colour images. Reports settings
/// that take effect only when a source is opened.
void take_preset(Session& session, const std::string& name);

/// Popup with the list of presets and the typed name.
class PresetMenu {
public:
    /// Draws the button over the chain, with the last loaded preset and the number of changes since.
    void button(Session& session, bool asked);

private:
    void list(Session& session);
    void chosen(Session& session);
    void save_row(Session& session);
    void compare(Session& session, bool open);

    std::string loaded_;             ///< the last preset loaded or saved
    std::string selected_;           ///< in the list
    std::string name_;               ///< typed
    std::string said_;               ///< reason why the last action failed
    std::string deletes_, replaces_; ///< preset that the next press of the same button deletes or replaces
    std::vector<std::string> differences_; ///< of the selected preset
    SteadyClock::time_point compared_{};
    std::optional<Settings> compared_with_;
    std::size_t changed_ = 0; ///< since loaded_
    float height_ = 0;        ///< of the popup in the last frame
};

} // namespace specklescope
