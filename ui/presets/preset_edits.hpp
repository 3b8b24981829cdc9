// Presets in the window: taken, saved, deleted, compared.
#pragma once

#include "config/presets/preset_file.hpp"
#include "ui/session.hpp"

namespace specklescope {

/// What is set now, as files of settings hold it.
Settings settings_now(Session& session);
/// Its chain, range and colours; the channel of colour stays. What cannot take effect while a source runs is
/// said.
void take_preset(Session& session, const std::string& name);
/// Its chain, range and colours alone. Returns the version that results made with it have; 0: nothing was
/// sent.
std::uint64_t take_preset(Session& session, const PresetTaken& taken);

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
