// Writes frames in sequence into a pipe: pixels as in .raw files, or YUV4MPEG2.
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "recording/record_file.hpp"
#include "recording/stream/pipe_end.hpp"
#include "recording/video/planes.hpp"
#include "recording/video/video.hpp"

#include <gst/gst.h>
#include <spdlog/spdlog.h>

namespace specklescope {

namespace {

class StreamWriter : public FileWriter {
public:
    explicit StreamWriter(const RecordOptions& options) : options_(options), pipe_(*options_.pipe) {}
    void write(const RecordedFrame& frame) final {
        parts_.clear();
        gather(frame, parts_);
        pipe_.write(parts_);
        ++frames_;
    }
    /// Called once a second: notices a reader that has exited, also without a frame.
    void update(const FileTotals&) final { pipe_.check(); }
    void finish(const FileTotals&) final {}
    std::uint64_t written() const final { return frames_; }
    std::uint64_t bytes() const final { return pipe_.bytes(); }
    const std::string& path() const final { return options_.path; }
    bool present() const final { return true; }
    bool named() const final { return false; }

protected:
    virtual void gather(const RecordedFrame& frame, std::vector<iovec>& parts) = 0;

    const RecordOptions options_;
    PipeEnd& pipe_;

private:
    std::vector<iovec> parts_;
    std::uint64_t frames_ = 0;
};

class RawStream final : public StreamWriter {
public:
    RawStream(const RecordedFrame& first, const RecordOptions& options) : StreamWriter(options) {
        const Shape& shape = first.pixels.shape();
        run_log().info(
            "{} gets frames of {} bytes, one after another: {}, {} × {} pixels, little-endian, row by "
            "row without gaps.",
            one_line(options.path), shape.bytes(), raw_format_name(shape), shape.width, shape.height);
    }

private:
    void gather(const RecordedFrame& frame, std::vector<iovec>& parts) override {
        gather_rows(frame.pixels.host(), parts);
    }
};

/// YUV4MPEG2: a header line for the video and one for each frame.
class Y4mStream final : public StreamWriter {
public:
    Y4mStream(const RecordedFrame& first, const RecordOptions& options, const StreamInfo& stream)
        : StreamWriter(options), colors_(shows_colors(options.what)), shape_(first.pixels.shape()) {
        const double known = options.rate > 0 ? options.rate : stream.source.rate;
        constexpr int kUnknown = 25;
        if (!(known > 0))
            run_log().info("{} states {} frames/s because the rate is unknown and YUV4MPEG2 needs one.",
                           one_line(options.path), kUnknown);
        int num = 0, den = 1;
        gst_util_double_to_fraction(known > 0 ? known : kUnknown, &num, &den);
        pipe_.write("YUV4MPEG2 W" + std::to_string(shape_.width) + " H" + std::to_string(shape_.height) +
                    " F" + std::to_string(num) + ":" + std::to_string(den) + " Ip A1:1 " +
                    (colors_ ? "C444 XCOLORRANGE=LIMITED\n" : "Cmono XCOLORRANGE=FULL\n"));
        if (!colors_)
            return;
        rgb_.resize(shape_.pixels() * 3);
        planes_.resize(rgb_.size());
    }

private:
    void gather(const RecordedFrame& frame, std::vector<iovec>& parts) override {
        parts.push_back({const_cast<char*>(kFrame.data()), kFrame.size()}); // NOLINT: iovec serves both ways
        if (!colors_)
            return gather_rows(frame.pixels.host(), parts);
        ConstHostView rgb = frame.pixels.host();
        if (options_.what == RecordWhat::processed) {
            const HostView made(rgb_.data(), {shape_.width, shape_.height, 3, PixelType::u8});
            color_picture(frame, options_.mapping, made);
            rgb = made;
        }
        VideoPlanes planes;
        for (std::size_t i = 0; i < 3; ++i) {
            planes.data[i] = planes_.data() + i * shape_.pixels();
            planes.pitch[i] = static_cast<std::size_t>(shape_.width);
        }
        to_video_planes(rgb, planes, VideoColors::bt601_limited);
        parts.push_back({planes_.data(), planes_.size()});
    }

    static constexpr std::string_view kFrame = "FRAME\n";
    const bool colors_;
    const Shape shape_;
    std::vector<std::byte> rgb_, planes_;
};

} // namespace

std::unique_ptr<FileWriter> make_raw_stream(const RecordedFrame& first, const RecordOptions& options,
                                            const StreamInfo&) {
    return std::make_unique<RawStream>(first, options);
}

std::unique_ptr<FileWriter> make_y4m_stream(const RecordedFrame& first, const RecordOptions& options,
                                            const StreamInfo& stream) {
    return std::make_unique<Y4mStream>(first, options, stream);
}

} // namespace specklescope
