// The record formats, with functions that use their table: names, snapshots. A new format is a row here.
#include "base/error.hpp"
#include "base/system.hpp"
#include "files/whole_file.hpp"
#include "recording/record_file.hpp"
#include "recording/report/report.hpp"
#include "recording/stream/pipe_end.hpp"
#include "recording/video/video.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace specklescope {

namespace {

bool holds_all(const Shape&) { return true; }
bool holds_nothing(const Shape&) { return false; }
bool holds_light(const Shape& shape) { return shape.type == PixelType::f32; }
bool holds_integers(const Shape& shape) { return shape.type != PixelType::f32; }
bool holds_grey(const Shape& shape) { return shape.channels == 1; }
bool holds_grey8(const Shape& shape) { return shape.channels == 1 && shape.type == PixelType::u8; }
bool holds_video(const Shape& shape) {
    return shape.type == PixelType::u8 || (shape.type == PixelType::u16 && shape.channels == 1);
}

} // namespace

const std::vector<RecordFormat>& record_formats() {
    static const std::vector<RecordFormat> formats{
        {.ending = ".tiff",
         .raw = "TIFF stack, uncompressed, BigTIFF beyond 4 GB: 8/16-bit grey or RGB, float",
         .processed =
             "TIFF stack, uncompressed, BigTIFF beyond 4 GB: the numbers of the result, float or integer",
         .holds = holds_all,
         .make = make_tiff_writer,
         .snapshot = write_tiff_picture},
        {.ending = ".raw",
         .raw = "Headerless 8/16-bit grey or RGB, float, with FILE.raw.jsonl",
         .processed = "The numbers of the result, likewise",
         .beside = ".jsonl",
         .holds = holds_all,
         .make = make_raw_writer},
        {.ending = ".h5",
         .raw = "HDF5, readable while it grows: 8/16-bit grey or float, with times, events and settings",
         .processed = "HDF5, likewise: the numbers of the result, grey, and means of the regions",
         .holds = holds_grey,
         .held = "grey",
         .check = check_h5,
         .make = make_h5_writer},
        {.ending = ".mkv",
         .raw = "FFV1, lossless: 8/16-bit grey, 8-bit RGB",
         .processed = "H.264 of the colour-mapped image",
         .colors = true,
         .holds = holds_video,
         .held = "8/16-bit grey and 8-bit RGB",
         .check = check_video_encoder,
         .refuses = mkv_refuses,
         .make = make_video_writer},
        {.ending = ".mp4",
         .raw = "Not available: H.264 does not keep exact values",
         .processed = "H.264 of the colour-mapped image",
         .colors = true,
         .holds = holds_nothing,
         .held = "no raw frames",
         .check = check_mp4_encoder,
         .refuses = mp4_refuses,
         .make = make_video_writer},
        {.ending = ".png",
         .raw = "The last frame: 8/16-bit grey or RGB",
         .processed = "The last image, colour-mapped",
         .stream = false,
         .colors = true,
         .holds = holds_integers,
         .held = "8/16-bit grey and RGB",
         .make = make_last_frame_writer,
         .snapshot = write_picture},
        {.ending = ".hdr",
         .raw = "The last frame as Radiance image, within 1 %: float",
         .processed = "The numbers of the last result, likewise",
         .stream = false,
         .holds = holds_light,
         .held = "float, within 1 %",
         .make = make_last_frame_writer,
         .snapshot = write_hdr_picture},
        {.ending = ".exr",
         .raw = "The last frame as OpenEXR: float",
         .processed = "The numbers of the last result, likewise",
         .stream = false,
         .holds = holds_light,
         .held = "float",
         .check = check_exr,
         .make = make_last_frame_writer,
         .snapshot = write_exr_picture},
        {.ending = ".pdf",
         .raw = "Not available: a report needs results",
         .processed = "A report: image, regions, traces, events, settings and methods, with .png and .csv",
         .same_stem = {".png", ".csv"},
         .stream = false,
         .colors = true,
         .holds = holds_all,
         .check = check_report_of,
         .make = make_report_writer,
         .snapshot = write_report_picture},
    };
    return formats;
}

const std::vector<RecordFormat>& stream_formats() {
    static const std::vector<RecordFormat> formats{
        {.ending = "raw:",
         .raw = "Pixels of one frame after another: 8/16-bit grey or RGB, float",
         .processed = "The numbers of the result, likewise",
         .holds = holds_all,
         .make = make_raw_stream},
        {.ending = "y4m:",
         .raw = "YUV4MPEG2: 8-bit grey",
         .processed = "YUV4MPEG2 of the colour-mapped image, 4:4:4",
         .colors = true,
         .holds = holds_grey8,
         .held = "8-bit grey",
         .make = make_y4m_stream},
    };
    return formats;
}

const RecordFormat* find_record_format(const std::string& path) {
    if (const std::optional<StreamTarget> target = stream_target(path))
        return &stream_formats()[static_cast<std::size_t>(target->kind)];
    const std::string ending = lower_ending(path);
    for (const RecordFormat& format : record_formats())
        if (format.ending == (ending == ".tif" ? ".tiff" : ending))
            return &format;
    return nullptr;
}

const RecordFormat& record_format(const std::string& path) {
    if (const RecordFormat* format = find_record_format(path))
        return *format;
    throw UsageError("'" + path + "' cannot be recorded to: the name must end in " +
                     record_endings_text([](const RecordFormat&) { return true; }) +
                     " (or .tif), or be - or a FIFO.");
}

std::vector<std::string> record_endings(bool (*passes)(const RecordFormat&)) {
    std::vector<std::string> endings;
    for (const RecordFormat& format : record_formats())
        if (passes(format))
            endings.emplace_back(format.ending);
    return endings;
}

std::string record_endings_text(bool (*passes)(const RecordFormat&)) {
    const std::vector<std::string> endings = record_endings(passes);
    std::string text;
    for (std::size_t i = 0; i < endings.size(); ++i)
        text += (i == 0 ? "" : i + 1 < endings.size() ? ", " : " or ") + endings[i];
    return text;
}

std::string cannot_hold(const RecordOptions& options, const Shape& shape) {
    const RecordFormat& format = record_format(options.path);
    const bool mapped =
        (options.what == RecordWhat::processed || options.what == RecordWhat::screen) && format.colors;
    const std::string size = format.refuses ? format.refuses(options.what, shape) : "";
    if ((mapped || format.holds(shape)) && !size.empty())
        return options.path + " cannot hold " + to_string(shape) + " frames (" + size +
               "). Record them as .tiff.";
    if (mapped || format.holds(shape))
        return "";
    return options.path + " cannot hold " + to_string(shape) + " frames exactly (" +
           std::string(format.ending) + " takes " + std::string(format.held) + "). Record them as " +
           (options.pipe ? "raw:." : ".tiff.");
}

void LastFrameWriter::finish(const FileTotals& totals) {
    if (!last_.pixels)
        return;
    path_ = save(last_, totals);
    std::error_code ignored;
    bytes_ = std::filesystem::file_size(path_, ignored);
}

std::string LastFrameWriter::save(const RecordedFrame& last, const FileTotals& totals) {
    FileTotals picture = totals;
    picture.written = 1;
    return record_format(options_.path).snapshot(last, picture, options_, stream_);
}

std::unique_ptr<FileWriter> make_last_frame_writer(const RecordedFrame&, const RecordOptions& options,
                                                   const StreamInfo& stream) {
    return std::make_unique<LastFrameWriter>(options, stream);
}

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

namespace {

namespace fs = std::filesystem;

bool is_free(const std::string& path) {
    std::error_code ignored;
    return !fs::exists(fs::symlink_status(path, ignored)); // a broken link also takes the name
}

} // namespace

std::vector<std::string> files_of_recording(const std::string& path) {
    std::vector<std::string> files = {path};
    const RecordFormat* format = find_record_format(path);
    if (format && !format->beside.empty())
        files.push_back(path + std::string(format->beside));
    if (format)
        for (const char* ending : format->same_stem)
            files.push_back(fs::path(path).replace_extension(ending).string());
    return files;
}

std::string free_recording_name(const std::string& wanted, const std::vector<std::string>& promised) {
    if (stream_target(wanted))
        return wanted;
    constexpr int kMost = 100000;
    const RecordFormat* format = find_record_format(wanted);
    const std::size_t beside = format ? format->beside.size() : 0;
    for (int number = 0; number < kMost; ++number) {
        std::string path = numbered(wanted, number, beside);
        const std::vector<std::string> files = files_of_recording(path);
        if (std::find(promised.begin(), promised.end(), path) == promised.end() &&
            std::all_of(files.begin(), files.end(), is_free))
            return path;
    }
    throw RunError("All names from " + wanted + " on are taken. Choose another name.");
}

} // namespace specklescope
