// What every record format shares: one interface for the recorder's thread, names that are never overwritten,
// and the text that says what is in a file.
#pragma once

#include "analysis/made_with.hpp"
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

/// One frame on its way to a file: the handle of the pixels and what belongs to them.
struct RecordedFrame {
    Frame pixels;
    FrameInfo info;
    std::shared_ptr<const Chain> chain; ///< null for a raw frame
    /// For a raw frame: the chain that runs over it; it has made none of the numbers.
    std::shared_ptr<const Chain> beside{};
    Quantity quantity;
    Exposure exposure;          ///< that the numbers rest on; unknown for a raw frame without one
    PixelCounts counts;         ///< of a raw frame those of the raw samples
    Warmup warmup;              ///< of the result; of a raw frame done()
    std::string channel;        ///< grey_channel_of() the result
    std::uint64_t dropped = 0;  ///< frames that the recorder had dropped in all before it accepted this one
    std::uint64_t lost = 0;     ///< gaps in the sequence numbers up to it that the recorder did not make
    std::uint64_t left_out = 0; ///< and such as were not to be recorded
    /// The same since the last frame in the file; none if each frame is to be recorded.
    std::optional<std::uint64_t> left_out_between;
    SteadyClock::time_point taken{}; ///< when the recorder accepted it
    std::vector<EventMark> events;   ///< marked, renamed or removed since the frame before
    /// Measured over when it was made; null: none, and for a raw frame.
    std::shared_ptr<const RegionOutlines> regions{};
    std::shared_ptr<const RegionValues> values{}; ///< what was measured over them; null as above
    /// Result::warming_up(); of a raw frame whether what it was played back from was.
    bool in_warmup = false;
    /// For a report: what the result was made of, where the recorder need not copy. Of the screen: the raw
    /// picture, where it is seen.
    Frame raw{};
    std::shared_ptr<const ScreenLook> look{}; ///< only for the screen
    /// For a frame from before the recording began: the number of the first frame after it.
    std::optional<std::uint64_t> trigger{};
};
MadeWith made_with(const RecordedFrame& result);
/// Part of a result that is written to a file.
RecordedFrame recorded_frame(const Result& result, RecordWhat what);

/// The balance of one file; brought up to date in the file about once a second and when it is finished.
struct FileTotals {
    std::uint64_t written = 0;
    std::uint64_t dropped = 0;     ///< offered to the recorder and not written
    std::uint64_t lost_before = 0; ///< gaps in the sequence numbers that the recorder did not make
    std::uint64_t in_warmup =
        0;                 ///< of those written, made while a stage filled its history or took a capture
    bool finished = false; ///< false in a file whose recording was cut off
    std::optional<ClockReport> clock{}; ///< of the source's clock against ours, over the frames of the file
};

/// One file of one shape, written by one thread. The constructor of each creates the file under a name that
/// was free.
class FileWriter {
public:
    virtual ~FileWriter() = default;
    /// Throws RunError when the frame could not be written; what was written before stays readable.
    virtual void write(const RecordedFrame& frame) = 0;
    virtual void update(const FileTotals& totals) = 0; ///< may throw RunError
    /// Makes the file complete; called once, also after write() threw. Throws RunError.
    virtual void finish(const FileTotals& totals) = 0;
    virtual std::uint64_t written() const = 0; ///< frames in the file
    virtual std::uint64_t bytes() const = 0;
    virtual const std::string& path() const = 0;
    /// False once the file, or its folder, was removed; asked before finish() only.
    virtual bool present() const = 0;
    /// False while path() is not created: a file of that name is not this one.
    virtual bool named() const { return true; }
};

/// Formats of one image: keeps a copy of the newest frame, and writes it when the recording ends.
class LastFrameWriter : public FileWriter {
public:
    LastFrameWriter(RecordOptions options, const StreamInfo& stream)
        : options_(std::move(options)), stream_(stream), path_(options_.path) {}
    void write(const RecordedFrame& frame) override;
    void update(const FileTotals&) final {}
    void finish(const FileTotals& totals) final;
    std::uint64_t written() const final { return bytes_ > 0 ? 1 : 0; }
    std::uint64_t bytes() const final { return bytes_; }
    const std::string& path() const final { return path_; }
    bool present() const final { return true; } // there is none before the end
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
/// "No space left on device; free some space…": the reason of a failed write in words for the user.
std::string write_error(const std::string& path, int error);
/// The end of that sentence where there is no room: "; what was written stays readable; …". Empty for other
/// errors.
std::string advice_for_full(int error);

/// Adds the rows of a picture, or the whole where they are not padded.
void gather_rows(ConstHostView pixels, std::vector<iovec>& parts);

/// On one line. File names are bytes, not always UTF-8: what is none becomes U+FFFD.
std::string to_ascii(const nlohmann::ordered_json& json);
/// "2026-11-22T23:04:05Z".
std::string utc_now();
/// Machine-readable description of a file (JSON, ASCII): program, source, what the numbers are, parameters,
/// clock. The totals come first, in `totals_text`'s fixed width, so that they can be brought up to date in
/// place.
std::string describe_file(const RecordedFrame& first, const RecordOptions& options, const StreamInfo& stream,
                          const FileTotals& totals);
/// Regions of more points, or with more text, are left out of it: "regions_left_out" has their number.
inline constexpr std::size_t kMaxDescribedPoints = 1000;
inline constexpr std::size_t kMaxDescribedRegions = 32768; ///< bytes; a line of a Radiance header has 65536
/// The members of the JSON object that change: always kTotalsChars long.
std::string totals_text(const FileTotals& totals);
inline constexpr std::size_t kTotalsChars = 640;
/// One frame's own JSON object: sequence, times, exposure, parameter version and parameters, events where
/// there are some.
std::string describe_frame(const RecordedFrame& frame);

/// Writers of the formats. They throw RunError if an encoder is not installed or the shape cannot be held.
using MakeWriter = std::unique_ptr<FileWriter>(const RecordedFrame& first, const RecordOptions& options,
                                               const StreamInfo& stream);
MakeWriter
    make_raw_writer; ///< headerless pixels, and NAME.raw.jsonl: a line about the file, one for each frame
MakeWriter make_raw_stream; ///< pixels into options.pipe
MakeWriter make_y4m_stream; ///< a video of 8-bit pixels into options.pipe (YUV4MPEG2)
MakeWriter make_tiff_writer, make_video_writer;
MakeWriter make_last_frame_writer; ///< the last frame of a recording, as its format's snapshot
/// The name of headerless pixels among the options of raw: sources.
const char* raw_format_name(const Shape& shape);

/// One image, completely or not at all, to options.path or a numbered name if that is taken. They return the
/// name and throw RunError.
using WritePicture = std::string(const RecordedFrame& frame, const FileTotals& totals,
                                 const RecordOptions& options, const StreamInfo& stream);
WritePicture write_tiff_picture;
WritePicture write_picture; ///< PNG: raw grey or RGB exactly as it came, or a result in colours
/// Radiance .hdr: RGB with a shared exponent, within 1 % of the largest channel; grey becomes three equal
/// channels, negative values and NaN become 0.
WritePicture write_hdr_picture;
WritePicture write_exr_picture; ///< OpenEXR .exr: R, G, B or Y in 32-bit float, exactly, zip-compressed

// RecordFormat::check: throw RunError if something is not installed.
void check_video_encoder(RecordWhat what);
void check_mp4_encoder(RecordWhat what);
void check_exr(RecordWhat what);

/// Why a file of this kind cannot hold pixels of this shape; empty if it can.
std::string cannot_hold(const RecordOptions& options, const Shape& shape);
/// By the ending of the name, in any case (".tif" counts as ".tiff"), or that of the stream that it names
/// (stream_target()); throws UsageError for any other.
const RecordFormat& record_format(const std::string& path);
const RecordFormat* find_record_format(const std::string& path); ///< null for any other

/// Colours of a processed image by range, tone curve and colour map of `mapping`.
void color_picture(const RecordedFrame& frame, const Mapping& mapping, HostView rgb);

} // namespace specklescope
