// Shared parts of all record formats: the interface for the recorder's thread, names that never overwrite a
// file, and the description of a file.
#pragma once

#include "analysis/made_with.hpp"
#include "base/error.hpp"
#include "files/whole_file.hpp"
#include "pipeline/clock/clock_fit.hpp"
#include "recording/recorder.hpp"

#include <nlohmann/json_fwd.hpp>

#include <sys/uio.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace specklescope {

/// One frame for a file: the handle of the pixels and its facts.
struct RecordedFrame {
    Frame pixels;
    FrameInfo info;
    std::shared_ptr<const Chain> chain; ///< null for a raw frame
    /// For a raw frame: the chain that processes it; its values are not results of this chain.
    std::shared_ptr<const Chain> beside{};
    Quantity quantity;
    Exposure exposure;          ///< exposure used for the values; unknown for a raw frame without one
    PixelCounts counts;         ///< for a raw frame, of the raw samples
    Warmup warmup;              ///< of the result; done() for a raw frame
    std::string channel;        ///< grey_channel_of() the result
    std::uint64_t dropped = 0;  ///< total frames dropped by the recorder before it accepted this one
    std::uint64_t lost = 0;     ///< gaps in the sequence numbers before it that the recorder did not cause
    std::uint64_t left_out = 0; ///< gaps due to thinning
    /// The same since the last frame in the file; none if every frame is recorded.
    std::optional<std::uint64_t> left_out_between;
    SteadyClock::time_point taken{}; ///< when the recorder accepted it
    std::vector<EventMark> events;   ///< marked, renamed or removed since the frame before
    /// Regions measured on the result; null: none, or a raw frame.
    std::shared_ptr<const RegionOutlines> regions{};
    std::shared_ptr<const RegionValues> values{}; ///< their statistics; null as above
    /// Result::warming_up(); for a raw frame, the state of its original recording.
    bool in_warmup = false;
    /// For a report: raw frame of the result, if it need not be copied. For the screen: the raw image, if it
    /// is shown.
    Frame raw{};
    std::shared_ptr<const ScreenLook> look{}; ///< only for the screen
    /// For a frame from before the trigger: the number of the first frame after the trigger.
    std::optional<std::uint64_t> trigger{};
};
MadeWith made_with(const RecordedFrame& result);
/// Part of a result that is written to a file.
RecordedFrame recorded_frame(const Result& result, RecordWhat what);

/// Totals of one file; updated in the file about once a second and when it is finished.
/// "Recording into a.csv stopped: the file, or its folder, was removed. …"
std::string removed_text(const std::string& path);
/// Nothing of the recording is left.
struct FileRemoved : RunError {
    explicit FileRemoved(const std::string& path) : RunError(removed_text(path)) {}
};

struct FileTotals {
    std::uint64_t written = 0;
    std::uint64_t dropped = 0;     ///< offered to the recorder and not written
    std::uint64_t lost_before = 0; ///< gaps in the sequence numbers that the recorder did not cause
    std::uint64_t in_warmup = 0;   ///< written frames made while a stage filled its history or took a capture
    bool finished = false;         ///< false in an interrupted file
    std::optional<ClockReport> clock{}; ///< source clock against ours, over the frames of the file
};

/// One file of one shape, written by one thread. The constructor creates the file under a free name.
class FileWriter {
public:
    virtual ~FileWriter() = default;
    /// Throws RunError if the frame could not be written; the written part stays readable.
    virtual void write(const RecordedFrame& frame) = 0;
    /// False if write() would wait for the disk.
    virtual bool has_room() const { return true; }
    virtual void update(const FileTotals& totals) = 0; ///< may throw RunError
    /// Completes the file; called once, also after write() has thrown. Throws RunError.
    virtual void finish(const FileTotals& totals) = 0;
    virtual std::uint64_t written() const = 0; ///< frames in the file
    virtual std::uint64_t bytes() const = 0;
    virtual const std::string& path() const = 0;
    /// False once the file or its folder was removed; used only before finish().
    virtual bool present() const = 0;
    /// False while path() does not exist: a file with that name is another one.
    virtual bool named() const { return true; }
};

/// Formats of one image: holds the newest frame with its slots, and writes it when the recording ends.
class LastFrameWriter : public FileWriter {
public:
    LastFrameWriter(RecordOptions options, const StreamInfo& stream)
        : options_(std::move(options)), stream_(stream), path_(options_.path) {}
    void write(const RecordedFrame& frame) override { last_ = frame; }
    void update(const FileTotals&) final {}
    void finish(const FileTotals& totals) final;
    std::uint64_t written() const final { return bytes_ > 0 ? 1 : 0; }
    std::uint64_t bytes() const final { return bytes_; }
    const std::string& path() const final { return path_; }
    bool present() const final { return true; } // there is no file before the end
    bool named() const final { return written() > 0; }

protected:
    /// Writes the file and returns its name; by default as the format's snapshot.
    virtual std::string save(const RecordedFrame& last, const FileTotals& totals);

    const RecordOptions options_;
    const StreamInfo stream_;

private:
    std::string path_;
    RecordedFrame last_;
    std::uint64_t bytes_ = 0;
};

/// Throws RunError if the folder of `path` is missing or may not be written.
void check_folder(const std::string& path);
/// Writes the whole of a file. Throws RunError; `what`: "report", for the error.
void write_whole(const UnnamedFile& file, const std::string& path, std::string_view text,
                 const std::string& what);
/// Writes files that differ in their endings: `path` with each of them, or the first numbered name that is
/// free for all. Returns the names. Throws RunError; then none of them exists.
std::vector<std::string> write_together(const std::string& path, const std::vector<std::string>& endings,
                                        const std::vector<std::string>& contents, const std::string& what);
/// "No space left on device; free some space…": reason of a failed write for the user.
std::string write_error(const std::string& path, int error);
/// Advice for a full disk: "; what was written stays readable; …". Empty for other errors.
std::string advice_for_full(int error);

/// Adds the rows of an image, or the whole image if they have no padding.
void gather_rows(ConstHostView pixels, std::vector<iovec>& parts);

/// One line of ASCII. File names are bytes: invalid UTF-8 becomes U+FFFD.
std::string to_ascii(const nlohmann::ordered_json& json);
/// "2026-11-22T23:04:05Z".
std::string utc_now();
/// Date of a frame, UTC: of its arrival; in a playback the date of its file and the time of the frame in it.
/// Empty: unknown.
std::string date_of(const FrameInfo& frame, const StreamInfo& stream);
/// Adds `started`, the date of the first frame, and the steady clock at that moment; in a playback the clock
/// at `processed`, the date of this recording, since arrival times are those of this recording.
void describe_dates(nlohmann::ordered_json& json, const FrameInfo& first, const StreamInfo& stream);
/// Machine-readable description of a file (JSON, ASCII): program, source, quantity, parameters, clock. The
/// totals come first, in the fixed width of `totals_text`, so that they can be updated in place.
std::string describe_file(const RecordedFrame& first, const RecordOptions& options, const StreamInfo& stream,
                          const FileTotals& totals);
/// Regions with more points or text are omitted: "regions_left_out" has their number.
inline constexpr std::size_t kMaxDescribedPoints = 1000;
inline constexpr std::size_t kMaxDescribedRegions = 32768; ///< bytes; a line of a Radiance header has 65536
/// The members of the JSON object that change: always kTotalsChars long.
std::string totals_text(const FileTotals& totals);
inline constexpr std::size_t kTotalsChars = 640;
/// JSON object of one frame: sequence, times, exposure, parameter version and parameters, and events if
/// there are any.
std::string describe_frame(const RecordedFrame& frame);

/// Writers of the formats. They throw RunError if an encoder is not installed or the shape cannot be held.
using MakeWriter = std::unique_ptr<FileWriter>(const RecordedFrame& first, const RecordOptions& options,
                                               const StreamInfo& stream);
MakeWriter
    make_raw_writer; ///< headerless pixels, and NAME.raw.jsonl: a line for the file and a line for each frame
MakeWriter make_raw_stream; ///< pixels into options.pipe
MakeWriter make_y4m_stream; ///< a video of 8-bit pixels into options.pipe (YUV4MPEG2)
MakeWriter make_tiff_writer, make_h5_writer, make_video_writer;
MakeWriter make_last_frame_writer; ///< the last frame of a recording, as its format's snapshot
/// Name of headerless pixels in the options of raw: sources.
const char* raw_format_name(const Shape& shape);

/// Writes one image, completely or not at all, to options.path or to a numbered name if that exists. Returns
/// the name. Throws RunError.
using WritePicture = std::string(const RecordedFrame& frame, const FileTotals& totals,
                                 const RecordOptions& options, const StreamInfo& stream);
WritePicture write_tiff_picture;
WritePicture write_picture; ///< PNG: raw grey or RGB unchanged, or a result in colours
/// Radiance .hdr: RGB with a shared exponent, within 1 % of the largest channel; grey becomes three equal
/// channels, negative values and NaN become 0.
WritePicture write_hdr_picture;
WritePicture write_exr_picture; ///< OpenEXR .exr: R, G, B or Y in 32-bit float, lossless, zip-compressed

// RecordFormat::check: throws RunError if something is not installed.
void check_video_encoder(RecordWhat what);
void check_mp4_encoder(RecordWhat what);
void check_exr(RecordWhat what);
void check_h5(RecordWhat what);

/// Reason why a file of this kind cannot contain pixels of this shape; empty if it can.
std::string cannot_hold(const RecordOptions& options, const Shape& shape);
/// Format by the extension of the name, in any case (".tif" equals ".tiff"), or of its stream_target().
/// Throws UsageError for other names.
const RecordFormat& record_format(const std::string& path);
const RecordFormat* find_record_format(const std::string& path); ///< null for other names

/// Colours of a processed image by range, tone curve and colour map of `mapping`.
void color_picture(const RecordedFrame& frame, const Mapping& mapping, HostView rgb);

} // namespace specklescope
