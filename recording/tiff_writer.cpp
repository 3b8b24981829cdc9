#include "recording/tiff_writer.hpp"

#include "base/error.hpp"
#include "pipeline/scale/pixel_size.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>

namespace specklescope {

static_assert(std::endian::native == std::endian::little,
              "pages are written in the machine's order, marked II");

namespace {
constexpr std::uint64_t kHeaderBytes = 16;
constexpr std::uint64_t kAlign = 16; ///< of directories and pixels
constexpr std::string_view kSoftware = "Specklescope " SPECKLESCOPE_VERSION;

// Field types of TIFF 6.0 and of BigTIFF.
enum class Field : std::uint16_t { ascii = 2, u16 = 3, u32 = 4, rational = 5, u64 = 16 };

constexpr std::uint64_t aligned(std::uint64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

/// One entry of a directory whose value fits into its 8 bytes, or stands at `value` (an offset).
struct Entry {
    std::uint16_t tag;
    Field type;
    std::uint64_t count;
    std::uint64_t value;
};

template <class T> void put(std::string& bytes, T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
} // namespace

TiffWriter::TiffWriter(File file, std::string path, const RecordedFrame& first, const RecordOptions& options,
                       const StreamInfo& stream)
    : file_(std::move(file)), path_(std::move(path)), shape_(first.pixels.shape()),
      ome_(is_ome_name(options.path)), axes_{.shape = shape_,
                                             .quantity = first.quantity,
                                             .um_per_px = um_per_px(stream, first.chain.get())},
      file_description_(describe_file(first, options, stream, {})) {
    if (const double rate = options.rate > 0 ? options.rate : stream.source.rate; rate > 0)
        nominal_s_ = 1 / rate;
    axes_.timed = first.info.has_time() || nominal_s_ > 0;
    struct {
        char order[2] = {'I', 'I'};
        std::uint16_t version = 43, offset_bytes = 8, zero = 0;
        std::uint64_t first = 0; // no page yet
    } header;
    static_assert(sizeof header == kHeaderBytes);
    write_at(0, &header, sizeof header);
    link_ = offsetof(decltype(header), first);
    end_ = kHeaderBytes;
    reached_.push_back({end_, 0});
}

Wrapping TiffWriter::wrapping(std::uint64_t frames, double interval_s) const {
    StackAxes axes = axes_;
    axes.frames = frames;
    axes.interval_s = interval_s;
    return ome_ ? ome_text(axes) : imagej_text(axes);
}

void TiffWriter::build_head(const std::string& description) {
    constexpr std::uint64_t kEntries = 15, kEntryBytes = 20;
    const std::uint64_t text = end_ + 8 + kEntries * kEntryBytes + 8;
    const std::uint64_t software = text + description.size() + 1;
    const std::uint64_t pixels = aligned(software + kSoftware.size() + 1);
    const auto channels = static_cast<std::uint64_t>(shape_.channels);
    const std::uint64_t each_channel = channels == 3 ? 0x0000'0001'0001'0001U : 1U; // a u16 for each sample
    const std::uint64_t resolution = tiff_ratio(axes_.um_per_px > 0 ? 1 / axes_.um_per_px : 1); // pixels a µm
    const Entry entries[kEntries] = {
        {256, Field::u32, 1, static_cast<std::uint64_t>(shape_.width)},
        {257, Field::u32, 1, static_cast<std::uint64_t>(shape_.height)},
        {258, Field::u16, channels, each_channel * (8 * pixel_bytes(shape_.type))}, // bits per sample
        {259, Field::u16, 1, 1},                                                    // not compressed
        {262, Field::u16, 1, channels == 3 ? 2U : 1U},                              // RGB, or 0 is black
        {270, Field::ascii, description.size() + 1, text},                          // image description
        {273, Field::u64, 1, pixels},                                               // the one strip
        {277, Field::u16, 1, channels},
        {278, Field::u32, 1, static_cast<std::uint64_t>(shape_.height)}, // rows per strip
        {279, Field::u64, 1, shape_.bytes()},
        {282, Field::rational, 1, resolution},
        {283, Field::rational, 1, resolution},
        {296, Field::u16, 1, 1}, // no unit of TIFF's own: ImageJ names it in the description
        {305, Field::ascii, kSoftware.size() + 1, software},
        {339, Field::u16, channels,
         each_channel * (shape_.type == PixelType::f32 ? 3U : 1U)}, // IEEE float, or unsigned
    };
    head_.clear();
    put(head_, kEntries);
    for (const Entry& entry : entries) {
        put(head_, entry.tag);
        put(head_, entry.type);
        put(head_, entry.count);
        put(head_, entry.value);
    }
    next_in_head_ = head_.size();
    put(head_, std::uint64_t{0}); // the last page so far
    head_.append(description).push_back('\0');
    head_.append(kSoftware).push_back('\0');
    head_.resize(pixels - end_);
}

void TiffWriter::gather(ConstHostView pixels) {
    parts_.clear();
    parts_.push_back({head_.data(), head_.size()});
    gather_rows(pixels, parts_);
}

void TiffWriter::write(const RecordedFrame& frame) {
    const ConstHostView pixels = frame.pixels.host();
    std::string description = describe_frame(frame);
    if (pages_ == 0) {
        first_ns_ = last_ns_ = frame.info.has_time() ? frame.info.capture_ns : 0;
        std::string json =
            file_description_.substr(0, file_description_.size() - 1) + ", \"frame\": " + description + "}";
        const Wrapping around = wrapping(0, nominal_s_);
        description = around.before + (ome_ ? ome_safe(std::move(json)) : json) + around.behind;
    }
    build_head(description);
    gather(pixels);
    if (const int error = file_.write_at(end_, parts_); error != 0)
        fail(error);
    // The page is whole in the file: only now it becomes part of the chain.
    link_page(frame.taken);
    if (pages_ == 0)
        text_offset_ = end_ + next_in_head_ + 8;
    if (frame.info.has_time())
        last_ns_ = frame.info.capture_ns;
    link_ = end_ + next_in_head_;
    end_ = aligned(end_ + head_.size() + shape_.bytes());
    ++pages_;
    reached_.push_back({end_, last_ns_});
    for (const std::uint64_t linked = barrier_ ? barrier_->named() : pages_;
         reached_.size() > 1 && pages_ - (reached_.size() - 1) < linked;)
        reached_.pop_front();
    // The directory of the last page is still to be linked to the next one.
    if (const int error = behind_.advance(file_.fd(), link_); error != 0)
        fail(error);
    if (const int error = barrier_ ? barrier_->error() : 0; error != 0)
        fail(error);
}

void TiffWriter::link_page(SteadyClock::time_point taken) {
    if (!barrier_)
        return write_at(link_, &end_, sizeof end_);
    const std::string_view bytes(reinterpret_cast<const char*>(&end_), sizeof end_);
    if (const int error = barrier_->name(link_, bytes, taken); error != 0)
        fail(error);
}

void TiffWriter::write_at(std::uint64_t offset, const void* data, std::size_t bytes) {
    if (const int error = file_.write_at(offset, data, bytes); error != 0)
        fail(error);
}

void TiffWriter::fail(int error) {
    failed_ = true;
    throw RunError(write_error(path_, error));
}

void TiffWriter::update(const FileTotals& totals) {
    if (text_offset_ == 0)
        return;
    FileTotals reached = totals;
    if (barrier_) // without those that still wait for the storage
        reached.written = std::min(totals.written, barrier_->named());
    const std::string text = totals_text(reached);
    write_at(text_offset_ + wrapping(0, 0).before.size() + 1, text.data(), text.size());
    if (ome_) // a reader counts on it
        write_axes(reached.written);
}

/// The mean distance of the frames, now that it is known; a clock that stands still leaves the nominal one.
void TiffWriter::write_axes(std::uint64_t frames) {
    if (text_offset_ == 0)
        return;
    const double span_s = 1e-9 * static_cast<double>(last_ns_ - first_ns_);
    const bool known = pages_ > 1 && span_s > 0;
    const std::string text =
        wrapping(frames, known ? span_s / static_cast<double>(pages_ - 1) : nominal_s_).before;
    write_at(text_offset_, text.data(), text.size());
}

/// The links of the last pages could not be written: whether there are such.
bool TiffWriter::drop_unlinked() {
    const std::uint64_t linked = barrier_ ? barrier_->named() : pages_;
    if (pages_ <= linked)
        return false;
    for (; pages_ > linked && reached_.size() > 1; --pages_)
        reached_.pop_back();
    end_ = reached_.back().end;
    last_ns_ = reached_.back().capture_ns;
    if (pages_ == 0)
        text_offset_ = 0;
    return true;
}

void TiffWriter::finish(const FileTotals& totals) {
    const int behind = behind_.stop();
    const int unlinked = barrier_ ? barrier_->stop() : 0;
    const int late = behind != 0 ? behind : unlinked;
    const bool unlinked_pages = drop_unlinked();
    // Cuts off what a failed page left behind, and pages without a link; the last page needs no padding.
    if ((failed_ || unlinked_pages) && ::ftruncate(file_.fd(), static_cast<off_t>(end_)) != 0)
        throw RunError(write_error(path_, errno));
    FileTotals known = totals;
    known.finished = totals.finished && late == 0;
    known.dropped += totals.written - std::min(totals.written, pages_);
    update(known);
    write_axes(pages_);
    if (!file_.close())
        throw RunError(write_error(path_, errno));
    if (late != 0 && !failed_)
        throw RunError(write_error(path_, late));
}

std::unique_ptr<FileWriter> make_tiff_writer(const RecordedFrame& first, const RecordOptions& options,
                                             const StreamInfo& stream) {
    std::string path;
    File file = create_new(options.path, path, options.first_number);
    try {
        auto writer = std::make_unique<TiffWriter>(std::move(file), path, first, options, stream);
        writer->link_when_stored();
        return writer;
    } catch (...) {
        ::unlink(path.c_str()); // not even the header could be written
        throw;
    }
}

std::string write_tiff_picture(const RecordedFrame& frame, const FileTotals& totals,
                               const RecordOptions& options, const StreamInfo& stream) {
    UnnamedFile file(options.path);
    check_made(file, options.path);
    TiffWriter writer(file.again(), options.path, frame, options, stream);
    writer.write(frame);
    writer.finish(totals);
    return file.publish();
}

} // namespace specklescope
