#include "pipeline/error.hpp"
#include "recording/png_writer.hpp"
#include "recording/tiff_writer.hpp"

#include <unistd.h>

namespace specklescope {

std::string write_snapshot(const Result& result, const RecordOptions& options, const StreamInfo& stream) {
    const std::string ending = record_ending(options.path);
    if (ending == ".mkv")
        throw UsageError("A snapshot is one picture: " + options.path + " must end in .png or .tiff.");
    const RecordedFrame frame = recorded_frame(result, options.what);
    if (!frame.pixels)
        throw RunError("There is no picture yet to save as " + options.path + "; wait for the first frame.");
    if (const std::string reason = cannot_hold(options, frame.pixels.shape()); !reason.empty())
        throw RunError(reason);
    check_folder(options.path);
    const FileTotals totals{.written = 1, .finished = true};
    if (ending == ".png")
        return write_picture(frame, totals, options, stream);
    std::string hidden;
    File file = create_hidden(options.path, hidden);
    try {
        TiffWriter writer(std::move(file), hidden, frame, options, stream);
        writer.write(frame);
        writer.finish(totals);
    } catch (...) {
        ::unlink(hidden.c_str());
        throw;
    }
    return publish(hidden, options.path);
}

} // namespace specklescope
