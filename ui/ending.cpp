#include "ui/ending.hpp"

#include "config/atomic_file.hpp"
#include "ui/canvas/window.hpp"

#include <spdlog/spdlog.h>

#include <cstdlib>
#include <utility>

namespace specklescope {

Ending* Ending::at_exit = nullptr;

Ending::Ending(Session& session, WindowFiles& window_files) : session_(session), window_files_(window_files) {
    at_exit = this;
    static const bool registered = std::atexit(&Ending::without_display) == 0; // once per process
    if (!registered)
        spdlog::warn(
            "If the display goes away, what was recorded is not finished: too many ends are registered.");
}

Ending::~Ending() {
    at_exit = nullptr;
    finish();
}

bool Ending::finish() noexcept {
    if (std::exchange(done_, true))
        return well_;
    keep(false); // immediately, in case the recordings are not waited for
    const bool shown = window_files_.finish();
    session_.close();
    well_ = keep(true) && shown && !session_.notices().recording_failed(); // with frames dropped at the end
    return well_;
}

bool Ending::keep(bool at_last) const noexcept {
    const std::string path = output_of(session_.settings(), "stats");
    if (path.empty())
        return true;
    try {
        const std::optional<StatsSnapshot> stats = session_.stats();
        if (at_last)
            return !stats || keep_statistics(path, to_json(*stats));
        if (stats)
            write_atomically(path, to_json(*stats));
        return true;
    } catch (const std::exception& error) {
        if (at_last)
            spdlog::error("{}", error.what());
        return false;
    }
}

void Ending::without_display() {
    if (!at_exit)
        return;
    display_gone();
    spdlog::error("The display has disappeared. The files are being finished.");
    std::exchange(at_exit, nullptr)->finish();
}

} // namespace specklescope
