// Dialog that measures a camera from recordings and saves its profile (config/calibration.hpp).
#pragma once

#include "config/calibration.hpp"
#include "ui/sources/later.hpp"
#include "ui/sources/open_dialog.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace specklescope {

class CalibrateDialog {
public:
    bool ask = false; ///< open the dialog in this frame
    /// Draws the dialog while it is open; closing it cancels the work. The recordings that were chosen stay.
    void draw(Session& session, ViewState& state);

private:
    struct Measured {
        MeasuredCamera found;
        std::string error; ///< why nothing was measured; empty: it was
    };
    void begin(const Session& session);
    void inputs();
    void list(std::size_t which);
    void add(std::size_t which, const SourceArgument& source);
    void add_file(std::size_t which, const std::string& path);
    void results() const;
    void buttons(bool confirm);
    void measure();
    void save();
    bool measured() const { return work_.result() && work_.result()->error.empty(); }

    std::string name_, camera_; ///< as typed
    static constexpr std::size_t kLists = 3;
    std::array<std::vector<SourceArgument>, kLists> files_; ///< lit, dark, static
    Later<Measured> work_;
    std::string said_; ///< after Save
    bool failed_ = false;
    std::unique_ptr<OpenDialog> open_; ///< chooses a recording
};

} // namespace specklescope
