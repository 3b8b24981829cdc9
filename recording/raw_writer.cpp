// Headerless frames one after another, and a line of JSON for each in a second file.
#include "base/error.hpp"
#include "recording/block_file.hpp"
#include "recording/record_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <optional>
#include <utility>

namespace specklescope {

static_assert(std::endian::native == std::endian::little, "16-bit and float pixels are written as they are");

const char* raw_format_name(const Shape& shape) {
    static constexpr std::array<std::array<const char*, 2>, 3> kNames{
        {{"gray8", "rgb8"}, {"gray16le", "rgb16le"}, {"gray32f", "rgb32f"}}};
    return kNames.at(static_cast<std::size_t>(shape.type)).at(shape.channels == 3 ? 1 : 0);
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
        lines_begin_ = lines_end_ = text.size();
        blocks_.emplace(pixels_, true, lines_.fd());
    }

    bool has_room() const override { return blocks_->has_room(frames_ > 0 ? end_ / frames_ : 0); }

    void write(const RecordedFrame& frame) override {
        const ConstHostView pixels = frame.pixels.host();
        parts_.clear();
        gather_rows(pixels, parts_);
        const int error = blocks_->append(parts_);
        (new_lines_ += describe_frame(frame)) += '\n';
        end_ += pixels.shape.bytes();
        ++frames_;
        check(error);
        if (blocks_->is_due())
            write_lines();
    }

    void update(const FileTotals& totals) override {
        write_lines();
        check(blocks_->then(lines_, 1, totals_text(totals)));
    }

    void finish(const FileTotals& totals) override {
        if (!failed_)
            write_lines();
        const int error = blocks_->stop();
        FileTotals known = totals;
        known.finished = totals.finished && error == 0;
        if (error != 0) { // remove what is not complete
            lose();
            known.written = frames_;
            known.dropped += totals.written - frames_;
        }
        if (frames_ == 0) // the recorder removes the other file
            ::unlink(lines_path_.c_str());
        const std::string text = totals_text(known);
        if (error != 0 && (::ftruncate(pixels_.fd(), static_cast<off_t>(end_)) != 0 ||
                           ::ftruncate(lines_.fd(), static_cast<off_t>(lines_end_)) != 0))
            throw RunError(write_error(path_, errno));
        if (const int late = lines_.write_at(1, text.data(), text.size()); late != 0)
            throw RunError(write_error(lines_path_, late));
        if (!pixels_.close() || !lines_.close())
            throw RunError(write_error(path_, errno));
        if (error != 0 && !failed_)
            throw RunError(write_error(path_, error));
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
    /// After the pixels of their frames: a frame with a line is complete.
    void write_lines() {
        if (new_lines_.empty())
            return;
        const std::uint64_t begin = lines_end_;
        lines_end_ += new_lines_.size();
        check(blocks_->then(lines_, begin, std::exchange(new_lines_, {}),
                            BlockFile::Kept{frames_, end_, lines_end_}));
    }
    void check(int error) {
        if (error == 0)
            return;
        blocks_->stop();
        lose();
        failed_ = true;
        throw RunError(write_error(path_, error));
    }
    /// After an error: only these frames are in the file.
    void lose() {
        const BlockFile::Kept kept = blocks_->kept();
        frames_ = kept.frames;
        end_ = kept.bytes;
        lines_end_ = std::max(kept.index_bytes, lines_begin_);
    }

    File pixels_, lines_;
    std::string path_, lines_path_;
    std::vector<iovec> parts_;
    std::string new_lines_;
    std::uint64_t end_ = 0, lines_begin_ = 0, lines_end_ = 0; ///< of the last complete frame
    std::uint64_t frames_ = 0;
    bool failed_ = false;
    std::optional<BlockFile> blocks_; ///< declared last: it stops before the files are closed
};
} // namespace

std::unique_ptr<FileWriter> make_raw_writer(const RecordedFrame& first, const RecordOptions& options,
                                            const StreamInfo& stream) {
    return std::make_unique<RawWriter>(first, options, stream);
}

} // namespace specklescope
