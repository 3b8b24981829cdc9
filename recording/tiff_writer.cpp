#include "recording/tiff_writer.hpp"

#include "base/error.hpp"
#include "pipeline/scale/pixel_size.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace specklescope {

namespace {
constexpr std::uint64_t kAlign = 16; ///< of pages and pixels
constexpr std::size_t kEntries = 15;
constexpr std::string_view kSoftware = "Specklescope " SPECKLESCOPE_VERSION;

constexpr std::uint64_t aligned(std::uint64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }
} // namespace

TiffWriter::TiffWriter(File file, std::string path, const RecordedFrame& first, const RecordOptions& options,
                       const StreamInfo& stream)
    : file_(std::move(file)), path_(std::move(path)), shape_(first.pixels.shape()),
      ome_(is_ome_name(options.path)), axes_{.shape = shape_,
                                             .quantity = first.quantity,
                                             .um_per_px = um_per_px(stream, first.chain.get())},
      file_description_(describe_file(first, options, stream, {})),
      classic_bytes_(options.classic_tiff_bytes) {
    if (const double rate = options.rate > 0 ? options.rate : stream.source.rate; rate > 0)
        nominal_s_ = 1 / rate;
    axes_.timed = first.info.has_time() || nominal_s_ > 0;
    const std::string header = tiff_header(kind_, 0); // no page yet
    write_at(0, header.data(), header.size());
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
    const std::uint64_t resolution = tiff_ratio(axes_.um_per_px > 0 ? 1 / axes_.um_per_px : 1); // pixels a µm
    const TiffEntry entries[kEntries] = {
        {256, TiffField::u32, 1, static_cast<std::uint64_t>(shape_.width)},
        {257, TiffField::u32, 1, static_cast<std::uint64_t>(shape_.height)},
        {258, TiffField::u16, channels, each_channel * (8 * pixel_bytes(shape_.type))}, // bits per sample
        {259, TiffField::u16, 1, 1},                                                    // not compressed
        {262, TiffField::u16, 1, channels == 3 ? 2U : 1U},                              // RGB, or 0 is black
        {270, TiffField::ascii, page.text_bytes, page.text},                            // image description
        {273, TiffField::u64, 1, page.pixels},                                          // the one strip
        {277, TiffField::u16, 1, channels},
        {278, TiffField::u32, 1, static_cast<std::uint64_t>(shape_.height)}, // rows per strip
        {279, TiffField::u64, 1, shape_.bytes()},
        {282, TiffField::rational, 1, resolution},
        {283, TiffField::rational, 1, resolution},
        {296, TiffField::u16, 1, 1}, // no unit of TIFF's own: ImageJ names it in the description
        {305, TiffField::ascii, kSoftware.size() + 1, page.text + page.text_bytes},
        {339, TiffField::u16, channels,
         each_channel * (shape_.type == PixelType::f32 ? 3U : 1U)}, // IEEE float, or unsigned
    };
    return tiff_directory(kind, page.directory, entries, next);
}

/// Sets head_, placed_ and grows_ for the next page.
void TiffWriter::build_head(const std::string& description) {
    const std::uint64_t spare = pages_ > 0 ? aligned(directory(TiffKind::big, {}, 0).size()) : 0;
    const auto place = [&](TiffKind kind, std::uint64_t before) {
        Placed page{.directory = end_ + before, .text_bytes = description.size() + 1};
        page.text = page.directory + directory(kind, {}, 0).size();
        page.pixels = aligned(page.text + page.text_bytes + kSoftware.size() + 1);
        return page;
    };
    Placed page = place(kind_, kind_ == TiffKind::classic ? spare : 0);
    grows_ = kind_ == TiffKind::classic && aligned(page.pixels + shape_.bytes()) > classic_bytes_;
    head_.clear();
    if (grows_)
        page = place(TiffKind::big, spare);
    if (kind_ == TiffKind::classic && pages_ > 0) {
        // The BigTIFF directory of the next page will be at the begin of the page after it, or is that of
        // `page`.
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
    head_ += directory(kind_, page, 0); // the last page so far
    head_.append(description).push_back('\0');
    head_.append(kSoftware).push_back('\0');
    head_.resize(page.pixels - end_);
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
    // The page is complete in the file and joins the chain only now: a killed process leaves no broken link.
    link_page();
    if (pages_ == 0)
        text_offset_ = placed_.text;
    if (frame.info.has_time())
        last_ns_ = frame.info.capture_ns;
    link_ = placed_.directory + tiff_next_at(kind_, kEntries);
    end_ = aligned(end_ + head_.size() + shape_.bytes());
    ++pages_;
    // The link in the last directory is still to be written.
    if (const int error = sync_ ? sync_->advance(link_) : 0; error != 0)
        fail(error);
}

void TiffWriter::link_page() {
    if (!grows_)
        return write_at(link_, &placed_.directory, tiff_offset_bytes(kind_));
    // One write makes all pages those of a BigTIFF.
    const std::string header = tiff_header(TiffKind::big, pages_ > 0 ? first_big_ : placed_.directory);
    write_at(0, header.data(), header.size());
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
    const std::string text = totals_text(totals);
    write_at(text_offset_ + wrapping(0, 0).before.size() + 1, text.data(), text.size());
    if (ome_) // readers need the number of pages
        write_axes(totals.written);
}

/// Writes the mean interval of the frames; the nominal interval if capture times do not advance.
void TiffWriter::write_axes(std::uint64_t frames) {
    if (text_offset_ == 0)
        return;
    const double span_s = 1e-9 * static_cast<double>(last_ns_ - first_ns_);
    const bool known = pages_ > 1 && span_s > 0;
    const std::string text =
        wrapping(frames, known ? span_s / static_cast<double>(pages_ - 1) : nominal_s_).before;
    write_at(text_offset_, text.data(), text.size());
}

void TiffWriter::finish(const FileTotals& totals) {
    const int late = sync_ ? sync_->stop() : 0;
    // Remove what a failed page left; the last page needs no padding.
    if (failed_ && ::ftruncate(file_.fd(), static_cast<off_t>(end_)) != 0)
        throw RunError(write_error(path_, errno));
    FileTotals known = totals;
    known.finished = totals.finished && late == 0;
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
        writer->store_pages();
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
