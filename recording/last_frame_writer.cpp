// Formats that hold one picture: the last frame of a recording, written when it ends.
#include "recording/record_file.hpp"

#include <filesystem>

namespace specklescope {

namespace {

/// Keeps a copy of the newest frame.
class LastFrameWriter final : public FileWriter {
public:
    LastFrameWriter(const RecordedFrame& first, RecordOptions options, const StreamInfo& stream)
        : options_(std::move(options)), stream_(stream), path_(options_.path), shape_(first.pixels.shape()),
          ring_(shape_, 1, host_memory()), last_(first) {
        last_.pixels = ring_.try_acquire(); // a copy: the recorder's frames go home
    }
    void write(const RecordedFrame& frame) override {
        const Frame own = last_.pixels;
        copy_pixels(frame.pixels.host(), own.host());
        last_ = frame;
        last_.pixels = own;
    }
    void update(const FileTotals&) override {}
    void finish(const FileTotals& totals) override {
        FileTotals picture = totals;
        picture.written = 1;
        path_ = record_format(options_.path).snapshot(last_, picture, options_, stream_);
        written_ = 1;
        std::error_code ignored;
        bytes_ = std::filesystem::file_size(path_, ignored);
    }
    std::uint64_t written() const override { return written_; }
    std::uint64_t bytes() const override { return bytes_; }
    const std::string& path() const override { return path_; }
    bool present() const override { return true; } // there is none before the end
    bool named() const override { return written() > 0; }

private:
    RecordOptions options_;
    StreamInfo stream_;
    std::string path_;
    Shape shape_;
    FrameRing ring_;
    RecordedFrame last_;
    std::uint64_t written_ = 0, bytes_ = 0;
};

} // namespace

std::unique_ptr<FileWriter> make_last_frame_writer(const RecordedFrame& first, const RecordOptions& options,
                                                   const StreamInfo& stream) {
    return std::make_unique<LastFrameWriter>(first, options, stream);
}

} // namespace specklescope
