// Multi-page TIFF, uncompressed, one strip per page. The file is valid after every page.
//
// A file begins as a classic TIFF, since ImageJ cannot open BigTIFF, and becomes a BigTIFF when it grows
// beyond 4 GB. For this each page is written with the BigTIFF directory of the previous page. These
// directories form a second chain, which readers do not see until a new header replaces the first chain.
//
// Why not libtiff: it links a new directory into the chain before writing it, so a killed process leaves a
// chain that points beyond the end of the file. It requires contiguous pages, while rows here have padding.
// It needs 8 system calls per page. Here pages are written in groups, whose directories point to
// each other already; 8 bytes link a group.
#include "base/error.hpp"
#include "base/log.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "recording/block_file.hpp"
#include "recording/record_file.hpp"
#include "recording/tiff.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace specklescope {

static_assert(std::endian::native == std::endian::little,
              "TIFF is written in the machine's order, marked II");

namespace {

void append(std::string& bytes, std::uint64_t value, std::uint64_t size) {
    bytes.append(reinterpret_cast<const char*>(&value), size);
}

std::uint64_t size_of(TiffField type) {
    switch (type) {
    case TiffField::u16:
        return 2;
    case TiffField::u32:
        return 4;
    case TiffField::ascii:
        return 1;
    default:
        return 8;
    }
}

} // namespace

std::string tiff_header(TiffKind kind, std::uint64_t first) {
    std::string bytes =
        kind == TiffKind::big ? std::string("II\x2b\0\x08\0\0\0", 8) : std::string("II\x2a\0", 4);
    append(bytes, first, tiff_offset_bytes(kind));
    bytes.resize(kTiffHeaderBytes);
    return bytes;
}

std::string tiff_directory(TiffKind kind, std::uint64_t at, std::span<const TiffEntry> entries,
                           std::uint64_t next) {
    const bool big = kind == TiffKind::big;
    const std::uint64_t word = tiff_offset_bytes(kind);
    const std::uint64_t values_at = at + tiff_next_at(kind, entries.size()) + word;
    std::string bytes, values;
    append(bytes, entries.size(), big ? 8 : 2);
    for (const TiffEntry& entry : entries) {
        const TiffField type = !big && entry.type == TiffField::u64 ? TiffField::u32 : entry.type;
        const std::uint64_t size = size_of(type) * entry.count;
        append(bytes, entry.tag, 2);
        append(bytes, static_cast<std::uint64_t>(type), 2);
        append(bytes, entry.count, word);
        if (type == TiffField::ascii || size <= word) {
            append(bytes, entry.value, word);
        } else {
            append(bytes, values_at + values.size(), word);
            append(values, entry.value, size);
        }
    }
    append(bytes, next, word);
    return bytes + values;
}

namespace {

std::string format(const char* pattern, auto... values) {
    std::array<char, 256> text{};
    std::snprintf(text.data(), text.size(), pattern, values...);
    return text.data();
}

/// Attribute text without a brace: the first brace of the file's text must begin the JSON.
std::string attribute(const std::string& text) {
    std::string safe;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || std::string_view("<>&\"'{").find(c) != std::string_view::npos)
            safe += format("&#%d;", byte < 0x20 ? 0x20 : byte);
        else
            safe += c;
    }
    return safe;
}

const char* ome_type(PixelType type) {
    return type == PixelType::u8 ? "uint8" : type == PixelType::u16 ? "uint16" : "float";
}

/// The unit in UTF-8: Bio-Formats does not resolve a character reference there and refuses the file.
std::string physical(char axis, double um) {
    return format(" PhysicalSize%c=\"%.9g\" PhysicalSize%cUnit=\"\xC2\xB5m\"", axis, um, axis);
}

} // namespace

std::uint64_t tiff_ratio(double value) {
    constexpr double kMost = 4294967295.0;
    if (!(value >= 1 / kMost && value <= kMost))
        return std::uint64_t{1} << 32 | 1U;
    double above = 1, below = 0, above_before = 0, below_before = 1; // of the convergents
    double rest = value;
    while (true) {
        const double whole = std::floor(rest);
        const double next_above = whole * above + above_before, next_below = whole * below + below_before;
        if (next_above > kMost || next_below > kMost)
            break;
        above_before = std::exchange(above, next_above);
        below_before = std::exchange(below, next_below);
        if (std::abs(above / below - value) <= 1e-15 * value || rest == whole)
            break;
        rest = 1 / (rest - whole);
    }
    return static_cast<std::uint64_t>(below) << 32 | static_cast<std::uint64_t>(above);
}

bool is_ome_name(const std::string& path) {
    std::string name = path;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return name.ends_with(".ome.tiff") || name.ends_with(".ome.tif");
}

Wrapping imagej_text(const StackAxes& axes) {
    const auto frames = static_cast<unsigned long long>(axes.frames);
    // While the number of frames is 0, readers count the pages. ImageJ's version is omitted: with it ImageJ
    // would assume that the pixels of all pages are contiguous, without directories between them.
    return {.before = format("ImageJ=\nimages=%010llu\nframes=%010llu\nhyperstack=true\n", frames, frames) +
                      (axes.timed ? format("finterval=%.9e\ntunit=s\n", axes.interval_s) : "") +
                      // Bio-Formats does not accept a unit for µm.
                      (axes.um_per_px > 0 ? "unit=micron\n" : "unit=pixel\n"),
            .after = ""};
}

std::string ome_plane(std::uint64_t frame, double seconds, double exposure_s) {
    if (std::isnan(seconds) && std::isnan(exposure_s))
        return "";
    std::string text =
        format("<Plane TheZ=\"0\" TheC=\"0\" TheT=\"%llu\"", static_cast<unsigned long long>(frame));
    if (!std::isnan(seconds))
        text += format(" DeltaT=\"%.9f\"", seconds); // both units are s by default
    if (!std::isnan(exposure_s))
        text += format(" ExposureTime=\"%.9g\"", exposure_s);
    return text + "/>";
}

Wrapping ome_text(const StackAxes& axes) {
    const Shape& shape = axes.shape;
    const std::string& unit = axes.quantity.unit;
    const std::string name = axes.quantity.name + (unit == "1" ? "" : " (" + unit + ")");
    std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
                       "<OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\" "
                       "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
                       "xsi:schemaLocation=\"http://www.openmicroscopy.org/Schemas/OME/2016-06 "
                       "http://www.openmicroscopy.org/Schemas/OME/2016-06/ome.xsd\" "
                       "Creator=\"Specklescope " SPECKLESCOPE_VERSION "\">";
    if (!axes.camera.empty())
        text += "<Instrument ID=\"Instrument:0\"><Detector ID=\"Detector:0\" Model=\"" +
                attribute(axes.camera) + "\"/></Instrument>";
    text += "<Image ID=\"Image:0\" Name=\"" + attribute(axes.quantity.name) + "\">";
    if (!axes.date.empty())
        text += "<AcquisitionDate>" + attribute(axes.date) + "</AcquisitionDate>";
    if (!axes.camera.empty())
        text += "<InstrumentRef ID=\"Instrument:0\"/>";
    text += format("<Pixels ID=\"Pixels:0\" DimensionOrder=\"XYCZT\" Type=\"%s\" SizeX=\"%d\" SizeY=\"%d\" "
                   "SizeZ=\"1\" SizeC=\"%d\" SizeT=\"%010llu\"",
                   ome_type(shape.type), shape.width, shape.height, shape.channels,
                   static_cast<unsigned long long>(std::max<std::uint64_t>(axes.frames, 1)));
    if (axes.bits > 0)
        text += format(" SignificantBits=\"%d\"", axes.bits);
    if (axes.um_per_px > 0)
        text += physical('X', axes.um_per_px) + physical('Y', axes.um_per_px);
    if (axes.timed)
        text += format(" TimeIncrement=\"%.9e\" TimeIncrementUnit=\"s\"", axes.interval_s);
    text += '>';
    text += format("<Channel ID=\"Channel:0:0\" SamplesPerPixel=\"%d\" Name=\"", shape.channels) +
            attribute(name) +
            (axes.camera.empty() ? "\"/>" : "\"><DetectorSettings ID=\"Detector:0\"/></Channel>") +
            "<TiffData/>" + axes.planes + "</Pixels></Image>";
    text += "<StructuredAnnotations><CommentAnnotation ID=\"Annotation:0\" Namespace=\"specklescope\">"
            "<Value><![CDATA[";
    return {.before = std::move(text),
            .after = "]]></Value></CommentAnnotation></StructuredAnnotations></OME>"};
}

std::string ome_safe(std::string json) {
    for (std::size_t at = json.find("]]>"); at != std::string::npos; at = json.find("]]>", at))
        json.replace(at + 2, 1, "\\u003e"); // it is within a string: JSON has no such syntax itself
    return json;
}

class TiffWriter final : public FileWriter {
public:
    /// Takes an empty file. `first` determines the shape of all pages.
    TiffWriter(File file, std::string path, const RecordedFrame& first, const RecordOptions& options,
               const StreamInfo& stream, bool sync);
    void write(const RecordedFrame& frame) override;
    bool has_room() const override { return blocks_->has_room(shape_.bytes()); }
    void update(const FileTotals& totals) override;
    void finish(const FileTotals& totals) override;
    std::uint64_t written() const override { return pages_; }
    std::uint64_t bytes() const override { return end_; }
    const std::string& path() const override { return path_; }
    bool present() const override { return file_.has_name(); }

private:
    /// Positions of a page in the file.
    struct Placed {
        std::uint64_t directory = 0, text = 0, text_bytes = 0, pixels = 0;
    };
    std::string directory(TiffKind kind, const Placed& page, std::uint64_t next) const;
    void build_head(const std::string& description);
    void link_group();
    void write_totals(const FileTotals& totals);
    void write_axes(std::uint64_t frames);
    double interval_s() const;
    int complete_ome(const FileTotals& totals);
    Wrapping wrapping(std::uint64_t frames, double interval_s) const;
    void put(std::uint64_t offset, std::string bytes, const std::optional<BlockFile::Kept>& kept = {});
    void check(int error);
    void lose();

    File file_;
    std::string path_;
    Shape shape_;
    bool ome_; ///< the name ends in .ome.tiff
    StackAxes axes_;
    double nominal_s_ = 0; ///< between frames; 0: unknown
    std::int64_t first_ns_ = 0, last_ns_ = 0;
    std::string file_description_; ///< from the first page on with the first frame
    struct Plane {
        double seconds, exposure_s; ///< from the first frame; NaN: unknown
    };
    std::vector<Plane> planes_; ///< for OME-XML, the first kMostPlanes
    std::string head_;          ///< directory, description and padding of the page being written
    std::vector<iovec> parts_;
    TiffKind kind_ = TiffKind::classic;
    std::uint64_t classic_bytes_;
    bool grows_ = false;          ///< the page being written is the first that needs a BigTIFF
    Placed placed_;               ///< the page being written, then the last one
    std::uint64_t first_big_ = 0; ///< BigTIFF directory of the first page
    std::uint64_t first_ = 0;     ///< directory of the first page that readers see
    std::uint64_t link_ = 0;      ///< position of the offset of the next page
    std::uint64_t timed_ = 0;     ///< pages until last_ns_, also those that an error lost
    std::uint64_t end_ = 0;       ///< end of the last complete page
    bool ends_group_ = false;     ///< the page being written
    bool points_on_ = false;      ///< the last page has the offset of the next one, which is not written yet
    std::uint64_t group_ = 0, group_link_ = 0; ///< first directory of a group, and where to link it; 0: none
    std::uint64_t text_offset_ = 0;            ///< of the first description; 0: no page yet
    std::uint64_t pages_ = 0;
    bool failed_ = false, stopped_ = false;
    std::optional<BlockFile> blocks_; ///< declared last: it stops before the file is closed
};

namespace {
constexpr std::uint64_t kAlign = 16; ///< of pages and pixels
constexpr std::size_t kEntries = 15;
constexpr std::size_t kDescription = 5; ///< index of the description's entry
/// Programs load the whole OME-XML: 8 MB for as many frames.
constexpr std::size_t kMostPlanes = 100'000;
constexpr std::string_view kSoftware = "Specklescope " SPECKLESCOPE_VERSION;

constexpr std::uint64_t aligned(std::uint64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

int bits_of(const RecordedFrame& raw) {
    const auto most = static_cast<std::uint64_t>(raw.info.full_scale);
    const bool whole = raw.pixels.shape().type != PixelType::f32 && std::has_single_bit(most + 1);
    return whole ? static_cast<int>(std::bit_width(most)) : 0;
}
} // namespace

TiffWriter::TiffWriter(File file, std::string path, const RecordedFrame& first, const RecordOptions& options,
                       const StreamInfo& stream, bool sync)
    : file_(std::move(file)), path_(std::move(path)), shape_(first.pixels.shape()),
      ome_(is_ome_name(options.path)), axes_{.shape = shape_,
                                             .quantity = first.quantity,
                                             .um_per_px = um_per_px(stream, first.chain.get())},
      file_description_(describe_file(first, options, stream, {})),
      classic_bytes_(options.classic_tiff_bytes) {
    if (const double rate = options.rate > 0 ? options.rate : stream.source.rate; rate > 0)
        nominal_s_ = 1 / rate;
    axes_.timed = first.info.has_time() || nominal_s_ > 0;
    if (ome_) {
        axes_.date = date_of(first.info, stream);
        axes_.camera = stream.source.live ? stream.source.name : stream.source.camera;
        axes_.bits = options.what == RecordWhat::raw ? bits_of(first) : 0;
    }
    const std::string header = tiff_header(kind_, 0); // no page yet
    blocks_.emplace(file_, sync);
    blocks_->append(header);
    link_ = tiff_first_at(kind_);
    end_ = header.size();
}

Wrapping TiffWriter::wrapping(std::uint64_t frames, double interval_s) const {
    StackAxes axes = axes_;
    axes.frames = frames;
    axes.interval_s = interval_s;
    return ome_ ? ome_text(axes) : imagej_text(axes);
}

std::string TiffWriter::directory(TiffKind kind, const Placed& page, std::uint64_t next) const {
    const auto channels = static_cast<std::uint64_t>(shape_.channels);
    const std::uint64_t each_channel = channels == 3 ? 0x0000'0001'0001'0001U : 1U; // a u16 for each sample
    const std::uint64_t resolution = tiff_ratio(axes_.um_per_px > 0 ? 1 / axes_.um_per_px : 1); // px/µm
    const TiffEntry entries[kEntries] = {
        {256, TiffField::u32, 1, static_cast<std::uint64_t>(shape_.width)},
        {257, TiffField::u32, 1, static_cast<std::uint64_t>(shape_.height)},
        {258, TiffField::u16, channels, each_channel * (8 * pixel_bytes(shape_.type))}, // bits per sample
        {259, TiffField::u16, 1, 1},                                                    // not compressed
        {262, TiffField::u16, 1, channels == 3 ? 2U : 1U},   // RGB, or grey with black = 0
        {270, TiffField::ascii, page.text_bytes, page.text}, // image description
        {273, TiffField::u64, 1, page.pixels},               // offset of the only strip
        {277, TiffField::u16, 1, channels},
        {278, TiffField::u32, 1, static_cast<std::uint64_t>(shape_.height)}, // rows per strip
        {279, TiffField::u64, 1, shape_.bytes()},
        {282, TiffField::rational, 1, resolution},
        {283, TiffField::rational, 1, resolution},
        {296, TiffField::u16, 1, 1}, // no TIFF unit: the description has ImageJ's
        {305, TiffField::ascii, kSoftware.size() + 1, page.text + page.text_bytes},
        {339, TiffField::u16, channels,
         each_channel * (shape_.type == PixelType::f32 ? 3U : 1U)}, // IEEE float, or unsigned
    };
    return tiff_directory(kind, page.directory, entries, next);
}

/// Sets head_, placed_, grows_ and ends_group_ for the next page.
void TiffWriter::build_head(const std::string& description) {
    const std::uint64_t big_bytes = aligned(directory(TiffKind::big, {}, 0).size());
    const std::uint64_t spare = pages_ > 0 ? big_bytes : 0;
    const auto place = [&](TiffKind kind, std::uint64_t before) {
        Placed page{.directory = end_ + before, .text_bytes = description.size() + 1};
        page.text = page.directory + directory(kind, {}, 0).size();
        page.pixels = aligned(page.text + page.text_bytes + kSoftware.size() + 1);
        return page;
    };
    Placed page = place(kind_, kind_ == TiffKind::classic ? spare : 0);
    const std::uint64_t text_at_close = // of complete_ome()
        ome_ ? 2 * file_description_.size() + (planes_.size() + 1) * kOmePlaneChars : 0;
    grows_ =
        kind_ == TiffKind::classic && aligned(page.pixels + shape_.bytes()) + text_at_close > classic_bytes_;
    head_.clear();
    if (grows_)
        page = place(TiffKind::big, spare);
    if (kind_ == TiffKind::classic && pages_ > 0) {
        // The BigTIFF directory of the next page will be at the start of the page after it, or it is
        // `page`'s own.
        Placed last = placed_;
        last.directory = end_;
        head_ =
            directory(TiffKind::big, last, grows_ ? page.directory : aligned(page.pixels + shape_.bytes()));
        head_.resize(spare);
        if (pages_ == 1)
            first_big_ = end_;
    }
    if (grows_)
        kind_ = TiffKind::big;
    placed_ = page;
    ends_group_ = grows_ || blocks_->is_due();
    const std::uint64_t next =
        aligned(page.pixels + shape_.bytes()) + (kind_ == TiffKind::classic ? big_bytes : 0);
    head_ += directory(kind_, page, ends_group_ ? 0 : next);
    head_.append(description).push_back('\0');
    head_.append(kSoftware).push_back('\0');
    head_.resize(page.pixels - end_);
}

void TiffWriter::write(const RecordedFrame& frame) {
    const ConstHostView pixels = frame.pixels.host();
    std::string description = describe_frame(frame);
    if (pages_ == 0) {
        first_ns_ = last_ns_ = frame.info.has_time() ? frame.info.capture_ns : 0;
        file_description_.back() = ',';
        file_description_ += " \"frame\": " + description + "}";
        if (ome_)
            file_description_ = ome_safe(std::move(file_description_));
        const Wrapping around = wrapping(0, nominal_s_);
        description = around.before + file_description_ + around.after;
    }
    build_head(description);
    parts_.clear();
    parts_.push_back({head_.data(), head_.size()});
    gather_rows(pixels, parts_);
    const std::uint64_t end = end_ + head_.size() + shape_.bytes();
    std::array<char, kAlign> padding{};
    parts_.push_back({padding.data(), aligned(end) - end});
    const int error = blocks_->append(parts_);
    if (pages_ == 0) {
        text_offset_ = placed_.text;
        first_ = placed_.directory;
    } else if (grows_) {
        first_ = first_big_;
    }
    if (frame.info.has_time()) {
        last_ns_ = frame.info.capture_ns;
        timed_ = pages_ + 1;
    }
    if (ome_ && planes_.size() < kMostPlanes) {
        constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
        const bool given = frame.exposure.origin != ExposureOrigin::assumed;
        planes_.push_back(
            {frame.info.has_time() ? 1e-9 * static_cast<double>(last_ns_ - first_ns_) : kUnknown,
             given ? 1e-3 * frame.exposure.ms : kUnknown});
    }
    end_ = aligned(end);
    ++pages_;
    points_on_ = !ends_group_;
    if (group_ == 0) {
        group_ = placed_.directory;
        group_link_ = link_;
    }
    link_ = placed_.directory + tiff_next_at(kind_, kEntries);
    check(error);
    if (ends_group_)
        link_group();
}

/// After the pages of the group: a killed process leaves no broken link.
void TiffWriter::link_group() {
    if (group_ == 0)
        return;
    const auto number = [this](std::uint64_t value) {
        std::string bytes;
        append(bytes, value, tiff_offset_bytes(kind_));
        return bytes;
    };
    if (std::exchange(points_on_, false))
        put(link_, number(0));
    const BlockFile::Kept kept{.frames = pages_, .bytes = end_};
    if (grows_) // one write turns all pages into BigTIFF pages
        put(0, tiff_header(TiffKind::big, pages_ > 1 ? first_big_ : placed_.directory), kept);
    else
        put(group_link_, number(group_), kept);
    grows_ = false;
    group_ = 0;
}

void TiffWriter::put(std::uint64_t offset, std::string bytes, const std::optional<BlockFile::Kept>& kept) {
    check(stopped_ ? file_.write_at(offset, bytes.data(), bytes.size())
                   : blocks_->then(file_, offset, std::move(bytes), kept));
}

void TiffWriter::check(int error) {
    if (error == 0)
        return;
    blocks_->stop();
    lose();
    failed_ = true;
    throw RunError(write_error(path_, error));
}

/// After an error: only these pages are in the file.
void TiffWriter::lose() {
    if (stopped_)
        return;
    pages_ = blocks_->kept().frames;
    end_ = std::max<std::uint64_t>(blocks_->kept().bytes, kTiffHeaderBytes);
    if (pages_ == 0)
        text_offset_ = 0;
}

void TiffWriter::update(const FileTotals& totals) {
    link_group();
    write_totals(totals);
}

void TiffWriter::write_totals(const FileTotals& totals) {
    if (text_offset_ == 0)
        return;
    put(text_offset_ + wrapping(0, 0).before.size() + 1, totals_text(totals));
    if (ome_) // readers need the number of pages
        write_axes(totals.written);
}

/// Mean interval of the frames; the nominal interval if capture times do not advance.
double TiffWriter::interval_s() const {
    const double span_s = 1e-9 * static_cast<double>(last_ns_ - first_ns_);
    return timed_ > 1 && span_s > 0 ? span_s / static_cast<double>(timed_ - 1) : nominal_s_;
}

void TiffWriter::write_axes(std::uint64_t frames) {
    if (text_offset_ == 0)
        return;
    put(text_offset_, wrapping(frames, interval_s()).before);
}

/// Writes the OME-XML again with the time of each frame, after the last page. Then the first page refers to
/// it. Returns an error number; the first page then keeps its description.
int TiffWriter::complete_ome(const FileTotals& totals) {
    if (pages_ > planes_.size()) {
        run_log().info("{} has more than {} frames: its OME-XML states their mean interval.", path_,
                       kMostPlanes);
        return 0;
    }
    bool regular = true; // within a tenth of an interval
    for (std::size_t i = 0; i < planes_.size(); ++i) {
        const Plane& plane = planes_[i];
        axes_.planes += ome_plane(i, plane.seconds, plane.exposure_s);
        regular =
            regular && !(std::abs(plane.seconds - interval_s() * static_cast<double>(i)) > interval_s() / 10);
    }
    axes_.timed = axes_.timed && regular;
    file_description_.replace(1, kTotalsChars, totals_text(totals));
    const Wrapping around = wrapping(pages_, interval_s());
    const std::string text = around.before + file_description_ + around.after;
    const std::uint64_t bytes = text.size() + 1; // with the final 0
    if (const int error = file_.write_at(end_, text.c_str(), bytes); error != 0)
        return ::ftruncate(file_.fd(), static_cast<off_t>(end_)) == 0 ? error : errno;
    ::sync_file_range(file_.fd(), static_cast<off64_t>(end_), static_cast<off64_t>(bytes),
                      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    std::string entry;
    append(entry, bytes, tiff_offset_bytes(kind_));
    append(entry, end_, tiff_offset_bytes(kind_));
    put(first_ + tiff_count_at(kind_, kDescription), entry);
    end_ += bytes;
    return 0;
}

void TiffWriter::finish(const FileTotals& totals) {
    if (!failed_)
        link_group();
    const int error = blocks_->stop();
    FileTotals known = totals;
    known.finished = totals.finished && error == 0;
    if (error != 0) { // remove what is not complete
        lose();
        known.written = pages_;
        known.dropped += totals.written - pages_;
        if (::ftruncate(file_.fd(), static_cast<off_t>(end_)) != 0)
            throw RunError(write_error(path_, errno));
    }
    const bool failed = failed_;
    stopped_ = true;
    write_totals(known);
    write_axes(pages_);
    const int full = error == 0 && ome_ && pages_ > 0 ? complete_ome(known) : 0;
    if (!file_.close())
        throw RunError(write_error(path_, errno));
    if (const int last = error != 0 ? error : full; last != 0 && !failed)
        throw RunError(write_error(path_, last));
}

std::unique_ptr<FileWriter> make_tiff_writer(const RecordedFrame& first, const RecordOptions& options,
                                             const StreamInfo& stream) {
    std::string path;
    File file = create_new(options.path, path, options.first_number);
    try {
        return std::make_unique<TiffWriter>(std::move(file), path, first, options, stream, true);
    } catch (...) {
        ::unlink(path.c_str()); // not even the header could be written
        throw;
    }
}

std::string write_tiff_picture(const RecordedFrame& frame, const FileTotals& totals,
                               const RecordOptions& options, const StreamInfo& stream) {
    UnnamedFile file(options.path);
    check_made(file, options.path);
    TiffWriter writer(file.again(), options.path, frame, options, stream, false);
    writer.write(frame);
    writer.finish(totals);
    return file.publish();
}

} // namespace specklescope
