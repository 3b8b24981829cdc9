// Headerless frames one after another, and a line of JSON for each in a second file.
#include "base/error.hpp"
#include "recording/disk_sync.hpp"
#include "recording/record_file.hpp"

#include <unistd.h>

#include <bit>
#include <cerrno>
#include <optional>

namespace specklescope {

static_assert(std::endian::native == std::endian::little, "16-bit and float pixels are written as they are");

const char* raw_format_name(const Shape& shape) {
    if (shape.channels == 3)
        return "rgb8";
    return shape.type == PixelType::u8 ? "gray8" : shape.type == PixelType::u16 ? "gray16le" : "gray32f";
}

namespace {

class RawWriter final : public FileWriter {
public:
    RawWriter(const RecordedFrame& first, const RecordOptions& options, const StreamInfo& stream) {
        FilePair made = create_pair(options.path, ".jsonl", options.first_number);
        pixels_ = std::move(made.file);
        lines_ = std::move(made.beside);
        path_ = made.path;
        lines_path_ = made.beside_path;
        std::string text = describe_file(first, options, stream, {});
        text.back() = ',';
        text += std::string(" \"format\": \"") + raw_format_name(first.pixels.shape()) + "\"}\n";
        if (const int error = lines_.write_at(0, text.data(), text.size()); error != 0) {
            leave_nothing();
            throw RunError(write_error(lines_path_, error));
        }
        lines_end_ = text.size();
        sync_.emplace(pixels_.fd(), lines_.fd());
    }

    /// Writes the pixels first: a frame with a line is complete.
    void write(const RecordedFrame& frame) override {
        const ConstHostView pixels = frame.pixels.host();
        const std::string line = describe_frame(frame) + "\n";
        parts_.clear();
        gather_rows(pixels, parts_);
        if (const int error = pixels_.write_at(end_, parts_); error != 0)
            fail(path_, error);
        if (const int error = lines_.write_at(lines_end_, line.data(), line.size()); error != 0)
            fail(lines_path_, error);
        lines_end_ += line.size();
        end_ += pixels.shape.bytes();
        ++frames_;
        if (const int error = sync_->advance(end_); error != 0)
            fail(path_, error);
    }

    void update(const FileTotals& totals) override {
        const std::string text = totals_text(totals);
        if (const int error = lines_.write_at(1, text.data(), text.size()); error != 0)
            fail(lines_path_, error);
    }

    void finish(const FileTotals& totals) override {
        const int late = sync_->stop();
        if (frames_ == 0) // the recorder removes the other file
            ::unlink(lines_path_.c_str());
        // Remove a partial frame.
        if (failed_ && (::ftruncate(pixels_.fd(), static_cast<off_t>(end_)) != 0 ||
                        ::ftruncate(lines_.fd(), static_cast<off_t>(lines_end_)) != 0))
            throw RunError(write_error(path_, errno));
        FileTotals known = totals;
        known.finished = totals.finished && late == 0;
        update(known);
        if (!pixels_.close() || !lines_.close())
            throw RunError(write_error(path_, errno));
        if (late != 0 && !failed_)
            throw RunError(write_error(path_, late));
    }

    std::uint64_t written() const override { return frames_; }
    std::uint64_t bytes() const override { return end_; }
    const std::string& path() const override { return path_; }
    bool present() const override { return pixels_.has_name() && lines_.has_name(); }

private:
    void leave_nothing() const {
        ::unlink(path_.c_str());
        ::unlink(lines_path_.c_str());
    }
    [[noreturn]] void fail(const std::string& path, int error) {
        failed_ = true;
        throw RunError(write_error(path, error));
    }

    File pixels_, lines_;
    std::string path_, lines_path_;
    std::vector<iovec> parts_;
    std::uint64_t end_ = 0, lines_end_ = 0; ///< of the last complete frame
    std::uint64_t frames_ = 0;
    bool failed_ = false;
    std::optional<DiskSync> sync_; ///< declared last: it stops before the files are closed
};
} // namespace

std::unique_ptr<FileWriter> make_raw_writer(const RecordedFrame& first, const RecordOptions& options,
                                            const StreamInfo& stream) {
    return std::make_unique<RawWriter>(first, options, stream);
}

} // namespace specklescope
