#include "base/error.hpp"
#include "recording/record_file.hpp"

namespace specklescope {

namespace {

const RecordFormat& snapshot_format(const std::string& path) {
    const RecordFormat* format = find_record_format(path);
    if (!format || !format->snapshot)
        throw UsageError(
            "The snapshot " + path + " must end in " +
            record_endings_text([](const RecordFormat& row) { return row.snapshot != nullptr; }) + ".");
    return *format;
}

} // namespace

void check_snapshot(const std::string& path) {
    const RecordFormat& format = snapshot_format(path);
    if (format.check)
        format.check(RecordWhat::processed);
}

std::string write_snapshot(const Result& result, const RecordOptions& options, const StreamInfo& stream) {
    const RecordFormat& format = snapshot_format(options.path);
    const RecordedFrame frame = recorded_frame(result, options.what);
    if (!frame.pixels)
        throw RunError("There is no image yet to save as " + options.path + "; wait for the first frame.");
    if (const std::string reason = cannot_hold(options, frame.pixels.shape()); !reason.empty())
        throw RunError(reason);
    check_folder(options.path);
    const FileTotals totals{.written = 1, .finished = true};
    return format.snapshot(frame, totals, options, stream);
}

} // namespace specklescope
