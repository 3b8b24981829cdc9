// Presets in the window: taken, saved, deleted, compared.
#pragma once

#include "config/presets/preset_file.hpp"
#include "session/session.hpp"

namespace specklescope {

/// Takes chain, range and colours of a preset; the channel of colour images stays. Reports settings that take
/// effect only when a source is opened.
void take_preset(Session& session, const std::string& name);

/// The popup of presets, and what is typed in it.
class PresetMenu {
public:
    /// The button over the chain, with what was loaded last and how much has changed since.
    void button(Session& session, bool asked);

private:
    void list(Session& session);
    void chosen(Session& session);
    void save_row(Session& session);
    void compare(Session& session, bool open);

    std::string loaded_;                   ///< the last one that was loaded or saved
    std::string selected_;                 ///< in the list
    std::string name_;                     ///< typed
    std::string said_;                     ///< why something was not done
    std::string deletes_, replaces_;       ///< the same button once more does it
    std::vector<std::string> differences_; ///< of the selected one
    SteadyClock::time_point compared_{};
    std::optional<Settings> compared_with_;
    std::size_t changed_ = 0; ///< since loaded_
    float height_ = 0;        ///< of the popup when it was last drawn
};

} // namespace specklescope
