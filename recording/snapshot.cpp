#include "pipeline/error.hpp"
#include "recording/record_file.hpp"

namespace specklescope {

std::string write_snapshot(const Result& result, const RecordOptions& options, const StreamInfo& stream) {
    const RecordFormat& format = record_format(options.path);
    if (!format.snapshot)
        throw UsageError("A snapshot is one picture: " + options.path + " must end in .png or .tiff.");
    const RecordedFrame frame = recorded_frame(result, options.what);
    if (!frame.pixels)
        throw RunError("There is no picture yet to save as " + options.path + "; wait for the first frame.");
    if (const std::string reason = cannot_hold(options, frame.pixels.shape()); !reason.empty())
        throw RunError(reason);
    check_folder(options.path);
    const FileTotals totals{.written = 1, .finished = true};
    return format.snapshot(frame, totals, options, stream);
}

} // namespace specklescope
