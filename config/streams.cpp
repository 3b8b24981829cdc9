// Doors for pictures and frames while the program runs: pipes, looked at before anything else is said or
// opened, and what shows elsewhere what the window shows.
#include "config/settings.hpp"
#include "recording/outlet/outlet.hpp"
#include "recording/stream/pipe_end.hpp"

#include <map>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace specklescope {

bool is_stream(const std::string& path) { return stream_target(path).has_value(); }

void prepare_streams(const Settings& settings) {
    std::map<std::pair<dev_t, ino_t>, std::string> owners; ///< of what streams lead to
    for (const auto* paths :
         {&settings.record, &settings.record_raw, &settings.record_mask, &settings.record_screen})
        for (const std::string& path : *paths) {
            const auto target = stream_target(path);
            if (!target)
                continue;
            struct stat found {};
            const int status = target->descriptor >= 0 ? ::fstat(target->descriptor, &found)
                                                       : ::stat(target->path.c_str(), &found);
            if (status != 0 || S_ISCHR(found.st_mode))
                continue; // refused when it is opened, or one that takes all there is
            const auto [owner, first] = owners.try_emplace({found.st_dev, found.st_ino}, path);
            if (!first)
                throw UsageError("'" + owner->second + "' and '" + path +
                                 "' are one stream, which holds one recording; name another for the second.");
        }
    for (const auto* paths :
         {&settings.record, &settings.record_raw, &settings.record_mask, &settings.record_screen})
        for (const std::string& path : *paths)
            if (const auto target = stream_target(path); target && target->descriptor == STDOUT_FILENO)
                keep_output_for_streams();
}

std::vector<std::shared_ptr<Outlet>> make_outlets(const Settings& settings,
                                                  const std::shared_ptr<const LiveLook>& look) {
    const auto& program = settings.program.as<ProgramSettings>();
    std::vector<std::shared_ptr<Outlet>> outlets;
    const auto add = [&](std::unique_ptr<OutletEnd> end) {
        outlets.push_back(std::make_shared<Outlet>(std::move(end), look, program.marks));
    };
    if (!program.serve.empty()) {
        ask_for_secrets(program.serve);
        add(make_rtsp_end(program.serve, program.serve_mbit_s, program.serve_chroma));
    }
    if (!program.output.empty())
        add(make_camera_end(program.output));
    return outlets;
}

} // namespace specklescope
