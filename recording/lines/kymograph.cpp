#include "base/error.hpp"
#include "base/system.hpp"
#include "files/whole_file.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "recording/lines/line_sink.hpp"
#include "recording/lines/lines.hpp"
#include "recording/record_file.hpp"
#include "recording/table.hpp"
#include "recording/tiff.hpp"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <climits>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

namespace specklescope {

namespace {

std::size_t numbers(const LineFrame& frame) {
    std::size_t count = 16; // the frame itself
    for (const MeasuredLine& line : frame.lines)
        count += line.averages.size() + 4;
    return count;
}

} // namespace

LineSink::LineSink(std::string path, int band, const std::string& shown)
    : BatchSink(std::size_t{1} << 22, std::size_t{1} << 17), // numbers: 32 MB at most
      path_(std::move(path)), shown_(shown.empty() ? path_ : shown), band_(band) {}

void LineSink::open(const StreamInfo& stream) {
    close();
    SinkStatus status;
    status.path = shown_;
    status.bytes = begin(stream);
    placed_.reset();
    profiles_.clear();
    start(std::move(status));
}

LineFrame LineSink::measured(const Result& result) {
    LineFrame frame{.info = result.info,
                    .chain = result.chain,
                    .quantity = result.quantity,
                    .exposure = result.exposure,
                    .placed = nullptr,
                    .lines = {}};
    if (!result.regions || !result.image)
        return frame;
    frame.mean = result.regions->mean;
    frame.placed = result.regions->placed;
    if (placed_ != frame.placed) {
        placed_ = frame.placed;
        profiles_.clear();
        for (std::size_t i = 0; i < placed_->regions.size(); ++i)
            if (const auto& line = placed_->regions[i].line)
                profiles_.emplace_back(i, LineProfile(*line, band_));
    }
    const ProfileInput input{result.image.host(), result.chain ? result.chain->channel() : GreyChannel::luma,
                             frame.mean};
    frame.lines.reserve(profiles_.size());
    for (const auto& [region, profile] : profiles_) {
        MeasuredLine& line = frame.lines.emplace_back();
        line.region = region;
        line.spacing = profile.spacing();
        profile.measure(input, line.averages);
    }
    return frame;
}

void LineSink::push(const Result& result, bool may_wait) {
    if (result.repeated || !has_room(may_wait))
        return;
    LineFrame frame = measured(result);
    const std::size_t size = numbers(frame);
    add(std::move(frame), size, true);
}

namespace {

constexpr std::string_view kWriter = "Specklescope " SPECKLESCOPE_VERSION;
constexpr std::uint64_t kPageEntries = 15;
/// Position of the description: there is room for the directory of a BigTIFF, which is the longer one.
constexpr std::uint64_t kText = kTiffHeaderBytes + tiff_next_at(TiffKind::big, kPageEntries) + 8;
constexpr std::size_t kChangingChars = 416; ///< fixed length, so that they are replaced in place

template <class T> void put(std::string& bytes, T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void check_named(const File& file, const std::string& path) {
    if (!file.has_name())
        throw RunError(removed_text(path));
}

} // namespace

KymographFile::KymographFile(const std::string& wanted, const LineFrame& frame, const MeasuredLine& line,
                             int band, const StreamInfo& stream)
    : line_(*frame.placed->regions[line.region].line), quantity_(frame.quantity),
      columns_(line.averages.size()), spacing_(line.spacing), um_of_raw_(stream.um_per_source_px),
      um_per_px_(um_per_px(stream, frame.chain.get())),
      nominal_s_(stream.source.rate > 0 ? 1 / stream.source.rate : 0) {
    nlohmann::ordered_json json;
    json["program"] = kWriter;
    json["content"] = "kymograph";
    json["region"] = frame.placed->regions[line.region].name;
    json["line"] = {{line_.x0, line_.y0}, {line_.x1, line_.y1}};
    json["spacing_px"] = spacing_;
    if (um_per_px_ > 0)
        json["um_per_px"] = um_per_px_;
    json["band_px"] = band;
    json["mean"] = mean_text(frame.mean);
    json["quantity"] = quantity_.name;
    json["symbol"] = quantity_.symbol;
    json["unit"] = quantity_.unit;
    json["parameters"] = frame.chain ? to_string(*frame.chain) : "none";
    json["version"] = frame.info.version;
    json["exposure_used_ms"] = frame.exposure.ms; // NaN (unknown) becomes null
    json["exposure_origin"] = to_string(frame.exposure.origin);
    json["source"] = stream.source_text;
    json["source_name"] = stream.source.name;
    json["backend"] = stream.backend;
    describe_dates(json, frame.info, stream);
    // File names are bytes: invalid UTF-8 becomes U+FFFD.
    fixed_ = json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace).substr(1);
    FilePair made = create_pair(wanted, ".csv");
    file_ = std::move(made.file);
    table_ = std::move(made.beside);
    path_ = made.path;
    table_path_ = made.beside_path;
    json["table"] = std::filesystem::path(table_path_).filename().string();
    fixed_ = json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace).substr(1);
    constexpr std::uint64_t kAlign = 16;
    const std::uint64_t head = kText + kChangingChars + fixed_.size() + 1 + kWriter.size() + 1;
    pixels_ = (head + kAlign - 1) / kAlign * kAlign;
}

/// Before the first row, and again after a change.
void KymographFile::tell_settings(const LineFrame& frame) {
    const std::string exposure = to_string(frame.exposure);
    const bool first = rows_.count == 0, edited = first || told_ != frame.info.version;
    if (!edited && exposure == exposure_)
        return;
    if (edited && frame.chain)
        table_text_ += setting_line(frame.info.version, "chain", to_string(*frame.chain));
    if (!first || frame.exposure.known())
        table_text_ += exposure_line(frame.info.version, frame.exposure);
    if (edited && frame.info.assumed.any())
        table_text_ += setting_line(frame.info.version, "assumed", to_string(frame.info.assumed));
    if (first)
        table_text_ += "row,sequence,capture_s,arrival_s,version\n";
    else
        ++rows_.changes;
    told_ = frame.info.version;
    exposure_ = exposure;
}

bool KymographFile::continues(const LineFrame& frame, const MeasuredLine& line) const {
    constexpr std::uint64_t kMostRows = 0xffffffffU; // limit of TIFF
    return rows_.count < kMostRows && frame.placed->regions[line.region].line == line_ &&
           frame.quantity == quantity_ &&
           um_of_raw_ * (frame.chain ? source_pixels_per_pixel(*frame.chain) : 1) == um_per_px_;
}

void KymographFile::add(const LineFrame& frame, const MeasuredLine& line) {
    tell_settings(frame);
    for (const double average : line.averages)
        put(pixels_text_, static_cast<float>(from_average(average, frame.mean)));
    add_whole(table_text_, rows_.count);
    table_text_ += ',';
    add_whole(table_text_, frame.info.sequence);
    table_text_ += ',';
    add_capture(table_text_, frame.info);
    table_text_ += ',';
    add_seconds(table_text_, ns_of(frame.info.arrival));
    table_text_ += ',';
    add_whole(table_text_, frame.info.version);
    table_text_ += '\n';
    if (frame.info.has_time() && rows_.count == 0)
        first_ns_ = frame.info.capture_ns;
    if (frame.info.has_time())
        rows_.last_ns = frame.info.capture_ns;
    ++rows_.count;
}

/// Distance between columns, in px or µm.
double KymographFile::spacing() const {
    return (spacing_ > 0 ? spacing_ : 1) * (um_per_px_ > 0 ? um_per_px_ : 1);
}

/// Mean time between rows; the nominal time if the clock does not advance. 0: unknown.
double KymographFile::period_s() const {
    const bool known = rows_.count > 1 && rows_.last_ns > first_ns_;
    return known
               ? 1e-9 * static_cast<double>(rows_.last_ns - first_ns_) / static_cast<double>(rows_.count - 1)
               : nominal_s_;
}

std::string KymographFile::directory() const {
    const std::uint64_t text = kChangingChars + fixed_.size() + 1;
    const double period = period_s();
    const TiffKind kind =
        pixels_ + rows_.count * columns_ * 4 > kClassicTiffBytes ? TiffKind::big : TiffKind::classic;
    const TiffEntry entries[kPageEntries] = {
        {256, TiffField::u32, 1, columns_},
        {257, TiffField::u32, 1, rows_.count},
        {258, TiffField::u16, 1, 32},                                           // bits per sample
        {259, TiffField::u16, 1, 1},                                            // not compressed
        {262, TiffField::u16, 1, 1},                                            // 0 is black
        {270, TiffField::ascii, text, kText},                                   // image description
        {273, TiffField::u64, 1, pixels_},                                      // offset of the only strip
        {277, TiffField::u16, 1, 1},                                            // samples per pixel
        {278, TiffField::u32, 1, 0xffffffffU},                                  // rows per strip: all
        {279, TiffField::u64, 1, rows_.count * columns_ * 4},                   // bytes of the strip
        {282, TiffField::rational, 1, tiff_ratio(1 / spacing())},               // columns per px or µm
        {283, TiffField::rational, 1, tiff_ratio(period > 0 ? 1 / period : 1)}, // rows per second
        {296, TiffField::u16, 1, 1},                                            // no unit
        {305, TiffField::ascii, kWriter.size() + 1, kText + text},
        {339, TiffField::u16, 1, 3}, // IEEE float
    };
    std::string bytes =
        tiff_header(kind, kTiffHeaderBytes) + tiff_directory(kind, kTiffHeaderBytes, entries, 0);
    bytes.resize(kText);
    return bytes;
}

/// ImageJ's calibration and the members of the JSON object that change; constant length.
std::string KymographFile::changing(bool finished, std::uint64_t dropped) const {
    const double period = period_s();
    char text[kChangingChars + 1];
    std::snprintf(text, sizeof text,
                  "ImageJ=\nimages=1\nunit=%s\nyunit=%s\n"
                  "{\"finished\": %s, \"rows\": %llu, \"dropped\": %llu, \"row_period_s\": %.12g, "
                  "\"first_capture_ns\": %lld, \"last_capture_ns\": %lld, \"settings_changed\": %llu",
                  um_per_px_ > 0 ? "micron" : "pixel", period > 0 ? "s" : "row", finished ? "true" : "false",
                  static_cast<unsigned long long>(rows_.count), static_cast<unsigned long long>(dropped),
                  period, static_cast<long long>(first_ns_), static_cast<long long>(rows_.last_ns),
                  static_cast<unsigned long long>(rows_.changes));
    std::string padded(text);
    padded.resize(kChangingChars - 2, ' ');
    return padded + ", ";
}

void KymographFile::store(std::uint64_t offset, const std::string& bytes) const {
    check_named(file_, path_);
    if (const int error = file_.write_at(offset, bytes.data(), bytes.size()); error != 0)
        throw RunError(write_error(path_, error));
}

void KymographFile::write_head(bool finished, std::uint64_t dropped) {
    std::string text = changing(finished, dropped) + fixed_;
    text.push_back('\0');
    text.append(kWriter).push_back('\0');
    // The header and with it the number of rows is written in one page; the text may be torn.
    store(0, directory() + text);
}

std::uint64_t KymographFile::flush(std::uint64_t dropped) {
    if (rows_.count == in_file_.count)
        return 0;
    const std::uint64_t bytes = pixels_text_.size() + table_text_.size();
    store(pixels_ + in_file_.count * columns_ * 4, pixels_text_);
    check_named(table_, table_path_);
    if (const int error = table_.write_at(table_end_, table_text_.data(), table_text_.size()); error != 0)
        throw RunError(write_error(table_path_, error));
    write_head(false, dropped);
    if (const int error = sync_.sync({file_.fd(), table_.fd()}); error != 0)
        throw RunError(write_error(path_, error));
    table_end_ += table_text_.size();
    in_file_ = rows_;
    pixels_text_.clear();
    table_text_.clear();
    return bytes;
}

void KymographFile::finish(bool finished, std::uint64_t dropped) {
    if (in_file_.count == 0) { // no complete row: the file would be unreadable
        ::unlink(path_.c_str());
        ::unlink(table_path_.c_str());
        return;
    }
    rows_ = in_file_;
    int error = 0;
    const auto note = [&](bool well) { error = well || error != 0 ? error : errno; };
    if (!finished) { // not more than the file reports
        note(::ftruncate(file_.fd(), static_cast<off_t>(pixels_ + in_file_.count * columns_ * 4)) == 0);
        note(::ftruncate(table_.fd(), static_cast<off_t>(table_end_)) == 0);
    }
    std::exception_ptr head;
    try {
        write_head(finished, dropped); // in place: works on a full disk
    } catch (...) {
        head = std::current_exception();
    }
    note(file_.close());
    note(table_.close());
    if (head)
        std::rethrow_exception(head);
    if (error != 0)
        throw RunError(write_error(path_, error));
}

namespace {

namespace fs = std::filesystem;

/// Region name as a part of a file name: without separators, limited in length.
std::string in_name(std::string name) {
    constexpr std::size_t kMost = 160; // 255 less the rest of the name
    std::replace(name.begin(), name.end(), '/', '_');
    return utf8_prefix(std::move(name), kMost);
}

constexpr std::string_view kTable = ".csv"; ///< suffix of the table file

class Kymograph final : public LineSink {
public:
    using LineSink::LineSink;
    ~Kymograph() override { close(); }

protected:
    std::uint64_t begin(const StreamInfo& stream) override {
        check_kymograph(path());
        stream_ = stream;
        files_.clear();
        return 0;
    }

    void write(const Items& frames, Written& written) override {
        for (auto& [name, open] : files_) {
            open.rows_of.clear();
            open.stored = 0;
        }
        std::size_t frame = 0;
        try {
            for (; frame < frames.size(); ++frame)
                for (const MeasuredLine& line : frames[frame].lines)
                    add(frames[frame], line, frame, written.bytes);
            for (auto& [name, open] : files_)
                flush(open, written.bytes);
        } catch (...) {
            written.frames = whole_frames(frame);
            throw;
        }
        written.frames = frames.size();
    }

    void finish_file(bool well) override {
        std::exception_ptr first;
        for (auto& [name, open] : files_)
            try {
                open.file->finish(well, dropped() - open.beyond);
            } catch (...) {
                first = first ? first : std::current_exception();
            }
        files_.clear();
        if (first)
            std::rethrow_exception(first);
    }

private:
    struct OpenFile {
        std::unique_ptr<KymographFile> file;
        std::vector<std::size_t> rows_of{}; ///< frames of this batch that it has rows of
        std::size_t stored = 0;             ///< rows of these frames in the file
        std::uint64_t beyond = 0;           ///< rows in the file whose frames count as dropped
    };

    void add(const LineFrame& frame, const MeasuredLine& line, std::size_t number, std::uint64_t& bytes) {
        const std::string& name = frame.placed->regions[line.region].name;
        auto found = files_.find(name);
        if (found != files_.end() && !found->second.file->continues(frame, line)) {
            flush(found->second, bytes);
            OpenFile ended = std::move(found->second);
            files_.erase(found);
            found = files_.end();
            ended.file->finish(true, dropped());
        }
        if (found == files_.end()) {
            if (files_.size() >= kMostKymographs)
                throw RunError("There are more than " + std::to_string(kMostKymographs) +
                               " lines, which is the limit for kymographs. Measure fewer.");
            auto file =
                std::make_unique<KymographFile>(kymograph_path(path(), name), frame, line, band(), stream_);
            found = files_.emplace(name, OpenFile{.file = std::move(file)}).first;
        }
        OpenFile& open = found->second;
        open.file->add(frame, line);
        open.rows_of.push_back(number);
        if (open.file->waiting() >= kMostWaiting) // limits the loss on a full disk
            flush(open, bytes);
    }

    void flush(OpenFile& open, std::uint64_t& bytes) {
        bytes += open.file->flush(dropped());
        open.stored = open.rows_of.size();
    }

    /// Number of frames among the first `begun` of the batch (plus a partial one) whose rows are all in
    /// their files.
    std::uint64_t whole_frames(std::size_t begun) {
        std::size_t whole = begun;
        for (const auto& [name, open] : files_)
            if (open.stored < open.rows_of.size())
                whole = std::min(whole, open.rows_of[open.stored]);
        for (auto& [name, open] : files_)
            open.beyond = static_cast<std::uint64_t>(std::count_if(
                open.rows_of.begin(), open.rows_of.begin() + static_cast<std::ptrdiff_t>(open.stored),
                [&](std::size_t frame) { return frame >= whole; }));
        return whole;
    }

    static constexpr std::size_t kMostWaiting = 16384; ///< bytes

    StreamInfo stream_;
    std::map<std::string, OpenFile> files_; ///< by the region's name
};

} // namespace

std::string kymograph_path(const std::string& path, const std::string& region) {
    const fs::path whole(path);
    const std::string end = "-" + in_name(region) + whole.extension().string();
    const std::size_t rest = std::min<std::size_t>(NAME_MAX, end.size() + kTable.size());
    return (whole.parent_path() / (utf8_prefix(whole.stem().string(), NAME_MAX - rest) + end)).string();
}

void check_kymograph(const std::string& path) {
    const std::string ending = lower_ending(path);
    if (ending != ".tiff" && ending != ".tif")
        throw UsageError("'" + path + "' cannot be a kymograph: the name must end in .tiff or .tif.");
    check_folder(path);
    check_length(path, kTable.size());
}

std::shared_ptr<Sink> make_kymograph(const std::string& path, int band) {
    return std::make_shared<Kymograph>(path, band, kymograph_path(path, "*"));
}

} // namespace specklescope
