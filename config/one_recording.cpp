#include "config/one_recording.hpp"

#include "recording/stream/pipe_end.hpp"
#include "recording/traces.hpp"

namespace specklescope {

std::shared_ptr<Sink> make_one_recording(std::optional<RecordWhat> what, const std::string& path,
                                         const Settings& settings, std::shared_ptr<const LiveLook> look,
                                         const std::shared_ptr<PreTrigger>& before) {
    if (!what)
        return make_new_traces(path);
    const auto& program = settings.program.as<ProgramSettings>();
    RecordOptions options;
    options.path = path;
    options.what = *what;
    options.mapping = settings.view.as<ViewSettings>().mapping;
    options.limits = program.recording;
    options.marks = program.marks;
    check_limits(options.limits, "Recording");
    if (what == RecordWhat::screen)
        check_marks(options.marks, "Recording");
    if (const auto target = stream_target(path)) {
        options.pipe = std::make_shared<PipeEnd>(*target);
        options.pipe->open(PipeEnd::Reader::is_there);
    }
    options.look = std::move(look);
    if (what == RecordWhat::raw)
        options.before = before;
    return make_recorder(options);
}

} // namespace specklescope
