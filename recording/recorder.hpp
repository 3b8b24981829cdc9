// Records raw or processed frames into one file, on a separate thread. The extension of the name is the
// format.
#pragma once

#include "pipeline/mapping.hpp"
#include "pipeline/sink.hpp"
#include "recording/limits/record_limits.hpp"
#include "recording/look.hpp"

#include <memory>
#include <string>
#include <vector>

namespace specklescope {

enum class RecordWhat : std::uint8_t {
    processed,
    raw,
    mask,  ///< of saturated samples of the raw frame
    screen ///< the displayed image in colours, with marks
};
const char* to_string(RecordWhat what);

class PreTrigger;
class PipeEnd;

struct RecordOptions {
    std::string path; ///< .tiff/.tif, .raw, .h5, .mkv, .mp4, .png, .hdr, .exr; a taken name gets a number:
                      ///< flow.tiff, flow-1.tiff, …; or a stream_target()
    RecordWhat what = RecordWhat::processed;
    Mapping mapping{}; ///< colours of .mkv and .png of processed frames
    double rate = 0;   ///< frames/s written into .mkv; 0: from the source
    RecordLimits limits{};
    /// For the screen: display of each frame when it arrives; null: only the result, with `mapping`.
    std::shared_ptr<const LiveLook> look{};
    ScreenMarks marks{};
    std::string form{}; ///< of a report: parse_form()
    /// F₀; null: none. A report contains the change of the regions. With `change` results are recorded as
    /// the change against it, in %.
    std::shared_ptr<const BaselineImage> baseline{};
    bool change = false;
    /// For raw frames: frames from before the first one, with which the recording begins; null: none.
    std::shared_ptr<PreTrigger> before{};
    /// For a stream: the open pipe that `path` names.
    std::shared_ptr<PipeEnd> pipe{};
    /// Number of the first name to try; the next file of a recording continues after the previous number.
    int first_number = 0;
    /// A TIFF that grows beyond this becomes a BigTIFF; smaller in tests.
    std::uint64_t classic_tiff_bytes = 0xffffffff;
};

/// Throws UsageError for an unknown extension, a format that cannot contain `what`, or a stream without
/// options.pipe.
std::shared_ptr<Sink> make_recorder(const RecordOptions& options);

/// Writes one image: .png (colour-mapped result, or raw grey 8/16 bit), .tiff, .hdr or .exr (the values).
/// Returns the path. Throws RunError.
std::string write_snapshot(const Result& result, const RecordOptions& options, const StreamInfo& stream);
/// Throws UsageError for an extension that no image format has.
void check_snapshot(const std::string& path);

/// All files that a recording or a report with this name writes, `path` first.
std::vector<std::string> files_of_recording(const std::string& path);
/// Returns `wanted`, or the first free numbered name, also compared with the other files of this format and
/// with `promised`. Returns a stream_target() unchanged. Throws RunError if all names are taken.
std::string free_recording_name(const std::string& wanted, const std::vector<std::string>& promised);

struct RecordedFrame;
struct FileTotals;
class FileWriter;

/// Differences between the formats.
struct RecordFormat {
    std::string_view ending;              ///< lower case
    std::string_view raw, processed;      ///< contents, for the manual and the window
    std::string_view beside{};            ///< suffix for the name of a second file; "": none
    std::vector<const char*> same_stem{}; ///< extensions of further files with the same stem
    bool stream = true;                   ///< contains every frame, not only the last one
    bool colors = false;                  ///< contains results as colour-mapped images, not as values
    /// True if raw frames of this shape are stored exactly; and a description of these shapes.
    bool (*holds)(const Shape&);
    std::string_view held{};
    /// Throws RunError if a component of the format is not installed; null: it has none.
    void (*check)(RecordWhat) = nullptr;
    /// Image sizes that the encoder supports, in a few words, if this size is unsupported; else empty. Null:
    /// supports all.
    std::string (*refuses)(RecordWhat, const Shape&) = nullptr;
    std::unique_ptr<FileWriter> (*make)(const RecordedFrame& first, const RecordOptions&, const StreamInfo&);
    /// Writes one image and returns the name of its file; null: not possible.
    std::string (*snapshot)(const RecordedFrame&, const FileTotals&, const RecordOptions&,
                            const StreamInfo&) = nullptr;
};
/// Formats in the order of menus and help.
const std::vector<RecordFormat>& record_formats();
/// Extensions of the formats for which `passes` returns true: ".mkv", ".mp4"; as one text: ".mkv or .mp4".
std::vector<std::string> record_endings(bool (*passes)(const RecordFormat&));
std::string record_endings_text(bool (*passes)(const RecordFormat&));
/// Formats of streams, in the order of StreamTarget::Kind; `ending` is the prefix.
const std::vector<RecordFormat>& stream_formats();

} // namespace specklescope
