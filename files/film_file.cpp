#include "files/film_file.hpp"

#include "base/error.hpp"
#include "base/memory_budget.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <utility>

namespace specklescope {

FilmBytes::FilmBytes(const std::string& path)
    : path_(path), file_(open_input(path)), size_(input_size(path)) {}

void FilmBytes::read(std::uint64_t offset, std::span<std::byte> to) const {
    const int fd = ::fileno(file_.get());
    for (std::size_t done = 0; done < to.size();) {
        const std::uint64_t at = offset + done;
        const bool beyond = at < offset || at > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
        const ssize_t got =
            beyond ? 0 : ::pread(fd, to.data() + done, to.size() - done, static_cast<off_t>(at));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            throw RunError("'" + path_ + "' cannot be read: " + std::strerror(errno) +
                           "."); // NOLINT(concurrency-mt-unsafe)
        if (got == 0)
            throw RunError("'" + path_ + "' is damaged or cut short: it has " + std::to_string(size_) +
                           " bytes, and " + std::to_string(to.size()) + " at byte " + std::to_string(offset) +
                           " are needed.");
        done += static_cast<std::size_t>(got);
    }
}

std::string FilmBytes::text(std::uint64_t offset, std::size_t bytes) const {
    std::string text(bytes, '\0');
    read(offset, std::as_writable_bytes(std::span(text)));
    return text;
}

void FilmBytes::refuse(const std::string& kind, const std::string& why) const {
    throw RunError("'" + path_ + "' is not a readable " + kind + " file: " + why + ".");
}

std::function<std::int64_t(std::uint64_t)> steady_times(double rate) {
    if (!(rate > 0) || !std::isfinite(rate))
        return {};
    return [rate](std::uint64_t frame) {
        return std::llround(std::min(static_cast<double>(frame) / rate * 1e9, 4e18));
    };
}

void take_times(FilmLayout& film, const std::vector<double>& seconds, const std::string& what) {
    std::vector<std::int64_t> times;
    for (const double time : seconds) {
        const bool rises = times.empty() || seconds[times.size() - 1] <= time;
        if (!rises || !(std::abs(time) < 4e9))
            break;
        times.push_back(std::llround(time * 1e9));
    }
    if (times.size() != film.frames || (film.frames > 1 && times.front() == times.back()))
        film.remarks.push_back("has " + what + " whose times do not rise for each frame, which are ignored");
    else
        film.time_ns = [times = std::move(times)](std::uint64_t frame) { return times[frame]; };
}

namespace {

class FilmReader final : public ImageReader {
public:
    FilmReader(std::shared_ptr<const FilmBytes> bytes, FilmLayout layout)
        : ImageReader(bytes->path()), file_(std::move(bytes)), layout_(std::move(layout)) {
        constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
        const int width = static_cast<int>(std::min(layout_.width, kMost));
        const int height = static_cast<int>(std::min(layout_.height, kMost));
        check_shape(layout_.pixels.shape(width, height), "'" + path_ + "'");
        if (layout_.frames == 0)
            file_->refuse(layout_.kind, "it has no frames");
        if (!layout_.fetch && layout_.frames > file_->size())
            file_->refuse(layout_.kind,
                          "it claims " + std::to_string(layout_.frames) + " frames, more than it has bytes");
        stored_frame_ =
            layout_.by_columns ? layout_.pixels.shape(height, width) : layout_.pixels.shape(width, height);
        bytes_each_ = stored_bytes(layout_.pixels, width, height);
        remarks_ = layout_.remarks;
        if (layout_.text)
            recorded_.begin(layout_.text(0));
    }

    std::optional<Shape> next_page() override { return seek_page(next_); }
    std::optional<Shape> seek_page(std::uint64_t page) override {
        if (page >= layout_.frames)
            return std::nullopt;
        frame_ = page;
        next_ = page + 1;
        row_ = 0;
        loaded_ = false;
        if (!layout_.fetch)
            check_whole(page);
        const Shape upright = begin_oriented(stored_frame_,
                                             layout_.by_columns ? 5
                                             : layout_.upwards  ? 4
                                                                : 1,
                                             false);
        if (layout_.text)
            describe(page);
        else
            state(page, upright);
        return upright;
    }
    std::uint64_t pages() override { return layout_.frames; }
    Coding coding() const override { return recorded_.ours() ? recorded_coding() : assumed_linear(); }
    StatedFullScale full_scale() const override { return layout_.full_scale; }
    FileScale scale() const override { return recorded_.ours() ? ImageReader::scale() : layout_.scale; }

private:
    void describe(std::uint64_t page) {
        description_ = layout_.text(page);
        if (page == 0)
            recorded_.begin(description_);
        else
            recorded_.next(description_);
    }

    void state(std::uint64_t page, const Shape& upright) {
        Recorded stated = layout_.facts;
        if (layout_.time_ns)
            stated.capture_ns = layout_.time_ns(page);
        if (layout_.exposure_ms)
            stated.exposure_ms = layout_.exposure_ms(page);
        if (stated.exposure_ms == stated.exposure_ms)
            stated.exposure_origin = ExposureOrigin::file;
        stated.shape = upright;
        recorded_.state(std::move(stated));
    }

    std::uint64_t place(std::uint64_t frame) const {
        if (layout_.place)
            return layout_.place(frame);
        return layout_.offset + frame * (layout_.stride > 0 ? layout_.stride : bytes_each_);
    }

    void check_whole(std::uint64_t frame) const {
        const std::uint64_t begin = place(frame), size = file_->size();
        if (begin > size || size - begin < bytes_each_)
            throw RunError("'" + path_ + "' is damaged or cut short: it claims " +
                           std::to_string(layout_.frames) + " frames, and its " + std::to_string(size) +
                           " bytes end before or within frame " + std::to_string(frame) +
                           ", counted from 0.");
    }

    void load() {
        check_memory(bytes_each_, "A frame of '" + path_ + "'", "use a machine with more memory");
        bytes_.resize(bytes_each_);
        if (layout_.fetch)
            layout_.fetch(frame_, bytes_);
        else
            file_->read(place(frame_), bytes_);
        loaded_ = true;
    }

    void take_rows(HostView to) override {
        if (!loaded_)
            load();
        const auto width = static_cast<std::size_t>(to.shape.width);
        const auto first = static_cast<std::size_t>(row_) * width;
        row_ += to.shape.height;
        const StoredPixels& pixels = layout_.pixels;
        if (pixels.layout == StoredPixels::Layout::packed)
            for (int y = 0; y < to.shape.height; ++y)
                unpack_samples(pixels.packing, pixels.bits, bytes_,
                               first + static_cast<std::size_t>(y) * width, width,
                               to.as<std::uint16_t>().row(y));
        else
            unpack_frame(pixels, std::span<const std::byte>(bytes_).subspan(pixels.bytes(first)), 0, to);
        if (!layout_.curve.empty())
            for (int y = 0; y < to.shape.height; ++y)
                for (std::uint16_t& sample : std::span(to.as<std::uint16_t>().row(y), width))
                    sample = layout_.curve[std::min<std::size_t>(sample, layout_.curve.size() - 1)];
    }

    std::shared_ptr<const FilmBytes> file_;
    FilmLayout layout_;
    Shape stored_frame_; ///< rows as they lie in the file
    std::size_t bytes_each_ = 0;
    std::vector<std::byte> bytes_; ///< the current frame, if loaded_
    std::uint64_t next_ = 0, frame_ = 0;
    int row_ = 0; ///< next one of the stored frame
    bool loaded_ = false;
};

} // namespace

std::unique_ptr<ImageReader> open_film(std::shared_ptr<const FilmBytes> bytes, FilmLayout layout) {
    return std::make_unique<FilmReader>(std::move(bytes), std::move(layout));
}

std::unique_ptr<ImageReader> open_film(const std::string& path, const FilmFormat& format,
                                       const StackChoice& choice) {
    const auto bytes = std::make_shared<const FilmBytes>(path);
    return open_film(bytes, format.layout(bytes, choice));
}

} // namespace specklescope
