// Headerless frames one after another, and what is known of them in lines of JSON beside them.
#include "base/error.hpp"
#include "recording/record_file.hpp"
#include "recording/storage_barrier.hpp"
#include "recording/write_behind.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
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
        barrier_.emplace(pixels_, lines_, path_, StorageBarrier::Kind::text);
    }

    /// The pixels first: a line is there only for a whole frame that the storage has.
    void write(const RecordedFrame& frame) override {
        const ConstHostView pixels = frame.pixels.host();
        const std::string line = describe_frame(frame) + "\n";
        reserve_line(line.size());
        parts_.clear();
        gather_rows(pixels, parts_);
        if (const int error = pixels_.write_at(end_, parts_); error != 0)
            fail(path_, error);
        if (const int error = barrier_->name(lines_end_, line, frame.taken); error != 0)
            fail(lines_path_, error);
        lines_end_ += line.size();
        end_ += pixels.shape.bytes();
        ++frames_;
        if (const int error = behind_.advance(pixels_.fd(), end_); error != 0)
            fail(path_, error);
        if (const int error = barrier_->error(); error != 0)
            fail(lines_path_, error);
    }

    void update(const FileTotals& totals) override {
        FileTotals reached = totals; // without those that still wait for the storage
        reached.written = std::min(totals.written, barrier_->named());
        const std::string text = totals_text(reached);
        if (const int error = lines_.write_at(1, text.data(), text.size()); error != 0)
            fail(lines_path_, error);
    }

    void finish(const FileTotals& totals) override {
        const int behind = behind_.stop();
        const int unnamed = barrier_->stop();
        const int late = behind != 0 ? behind : unnamed;
        const bool unlined = frames_ > barrier_->named(); // the lines of the last could not be written
        if (unlined) {
            end_ = end_ / frames_ * barrier_->named();
            frames_ = barrier_->named();
        }
        if (frames_ == 0) // the recorder removes the other
            ::unlink(lines_path_.c_str());
        // Cuts off what a failed frame left behind, frames without a line, and room that no line took.
        if (((failed_ || unlined) && ::ftruncate(pixels_.fd(), static_cast<off_t>(end_)) != 0) ||
            ::ftruncate(lines_.fd(), static_cast<off_t>(std::min(lines_end_, lines_.bytes()))) != 0)
            throw RunError(write_error(path_, errno));
        FileTotals known = totals;
        known.finished = totals.finished && late == 0;
        known.dropped += totals.written - std::min(totals.written, frames_);
        update(known);
        if (!pixels_.close() || !lines_.close())
            throw RunError(write_error(path_, errno));
        if (late != 0 && !failed_)
            throw RunError(write_error(path_, late));
    }

    std::uint64_t written() const override { return frames_; }
    std::uint64_t unstored() const override { return barrier_->unstored(); }
    std::uint64_t bytes() const override { return end_; }
    const std::string& path() const override { return path_; }
    bool present() const override { return pixels_.has_name() && lines_.has_name(); }

private:
    /// Room for the line before its pixels take it: lines wait for the storage, and on a full disk those of
    /// whole frames would find none. File systems that cannot are left to themselves.
    void reserve_line(std::size_t bytes) {
        constexpr std::uint64_t kMuch = std::uint64_t{64} << 10, kPage = 4096;
        if (lines_end_ + bytes <= reserved_)
            return;
        for (const std::uint64_t ahead : {kMuch, kPage}) {
            const std::uint64_t end = (lines_end_ + bytes + ahead - 1) / ahead * ahead;
            if (::fallocate(lines_.fd(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(lines_end_),
                            static_cast<off_t>(end - lines_end_)) == 0 ||
                (errno != ENOSPC && errno != EFBIG)) {
                reserved_ = end;
                return;
            }
        }
        fail(lines_path_, errno);
    }
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
    std::uint64_t end_ = 0, lines_end_ = 0; ///< of what is whole
    std::uint64_t reserved_ = 0;            ///< bytes of the lines' file
    std::uint64_t frames_ = 0;
    bool failed_ = false;
    // Last: they stop before the files are closed.
    WriteBehind behind_;
    std::optional<StorageBarrier> barrier_;
};
} // namespace

std::unique_ptr<FileWriter> make_raw_writer(const RecordedFrame& first, const RecordOptions& options,
                                            const StreamInfo& stream) {
    return std::make_unique<RawWriter>(first, options, stream);
}

} // namespace specklescope
